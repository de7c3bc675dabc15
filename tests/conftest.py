import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)  # tests are many and small: more threads only wait for each other
# A busy machine must not fail a property, and the same properties are tried every time.
settings.register_profile("calm", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")
