"""Profiles of clusters: what each plans is what a run without one plans; no job runs here."""

import re
import subprocess
import sys

import pytest
from snakemake_executor_plugin_slurm.partitions import read_partition_file

from support.workflow import ROOT, SMOKE


def planned(*arguments: str) -> list[str]:
    """Rules and numbers of jobs in a dry run of the small config."""
    command = [sys.executable, "-m", "snakemake", "-n", "--forceall", "--configfile", SMOKE, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(set(re.findall(r"^(\w+ +\d+)$", done.stdout + done.stderr, re.M)))


@pytest.mark.parametrize("name", ["slurm", "lsf"])
def test_a_profile_plans_the_same_jobs(name):
    jobs = planned("--profile", f"profiles/{name}")
    assert len(jobs) > 50 and jobs == planned("--cores", "1")


def test_the_example_of_partitions_can_be_read():
    partitions = read_partition_file(ROOT / "profiles/slurm/partitions.example.yaml")
    assert {each.name: each.limits.max_gpu for each in partitions}["gpu"] == 4
