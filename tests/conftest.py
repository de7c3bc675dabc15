import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported; two workers share two cores

import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)  # tests are many and small: more threads only wait for each other
# A busy machine must not fail a property, and the same properties are tried every time.
settings.register_profile("calm", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")

for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of `make test`: a make that a test calls would say where it is
    os.environ.pop(name, None)

pytest_plugins = ["support.hub_fixtures"]

# The longest first: two workers then end together.
FIRST = ("test_runs.py", "test_faults.py", "test_studies.py", "test_own_model.py")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))
