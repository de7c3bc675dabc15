"""One cluster, one run on it and one without it, for all tests."""

import pytest

from support.cluster import GPUS, TARGETS, Folder
from support.slurm import Cluster, Job, install, missing
from support.workflow import clone


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    lacking = missing()
    if lacking:
        pytest.skip(f"make cluster-test {lacking}")
    install()
    cluster = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def undisturbed(cluster, tmp_path_factory) -> Folder:
    """The same targets without a cluster, each layer in one job."""
    folder = Folder(clone(tmp_path_factory.mktemp("undisturbed")), cluster)
    folder.configure("compute_limits", parts=1)
    folder.configure("measure_errors", groups_per_job=5)
    folder.snakemake(*TARGETS, "--cores", "2")
    return folder


@pytest.fixture(scope="session")
def first(cluster, tmp_path_factory) -> tuple[Folder, list[Job]]:
    """A folder in which the targets were made on the cluster, and the jobs that did."""
    folder = Folder(clone(tmp_path_factory.mktemp("finished")), cluster)
    return folder, folder.submit(*TARGETS, *GPUS, status="sacct").finish()


@pytest.fixture
def finished(first) -> Folder:
    """That folder, to do harm in; a failed test must not harm the next one."""
    folder, _ = first
    yield folder
    if any((folder.path / ".snakemake/locks").glob("*")):
        folder.clear()
