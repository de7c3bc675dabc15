import torch

torch.set_num_threads(1)  # tests are many and small: more threads only wait for each other
