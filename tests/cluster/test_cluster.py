"""The same DAG on Slurm: as a local run to the byte, and nothing lost or done twice when things die."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from support.cluster import GPUS, HERE, ON_GPU, TARGETS, Folder, release
from support.pages import program
from support.slurm import Job, wait
from support.workflow import ROOT

SUBMITTED = Counter(
    tokenize_corpus=1,
    extract_embeddings=2,
    measure_geometry=1,
    compute_limits=5,
    merge_limits=1,
    measure_first_order=1,
    measure_errors=5,
    merge_errors=1,
    simulate_sphere=1,
)  # and not what is local: fetching, fits, figures
LAYER = "results/errors/layer_5.zarr.zip"
# Lost in most tests, and the jobs that make it again.
ERRORS = ("errors/layer_5.zarr.zip", "errors/parts/layer_5_part_0.zarr.zip", "errors/parts/layer_5_part_1.zarr.zip")
AGAIN = Counter(measure_errors=2, merge_errors=1)


class Made(NamedTuple):
    """A file that a job made."""

    sha256: str
    date: int


def made(folder: Folder) -> dict[str, Made]:
    """All that jobs made, but logs and timings."""
    results = folder.path / "results"
    files = {str(path.relative_to(results)): path for path in results.rglob("*") if path.is_file()}
    return {
        name: Made(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for name, path in files.items()
        if not name.startswith(("logs/", "benchmarks/"))
    }


def merged(folder: Folder) -> dict[str, str]:
    """Contents of all but the parts that jobs were cut into."""
    return {name: file.sha256 for name, file in made(folder).items() if "/parts/" not in name}


class Loss:
    """Results deleted from a folder; afterwards they must be there again, and the others be left alone."""

    def __init__(self, folder: Folder, names: tuple[str, ...]):
        self.folder, self.before, self.names = folder, made(folder), names
        for name in names:
            (folder.path / "results" / name).unlink()

    def check_made_good(self) -> None:
        now = made(self.folder)
        assert {name: file.sha256 for name, file in now.items()} == {n: f.sha256 for n, f in self.before.items()}
        assert {name for name in now if now[name].date != self.before[name].date} == set(self.names)


def rules(jobs: Iterable[Job]) -> Counter:
    return Counter(job.rule for job in jobs)


def kept_logs(folder: Folder) -> set[int]:
    """Numbers of the jobs whose words Slurm's log folder still has."""
    return {int(path.stem) for path in (folder.path / "results/logs/slurm").rglob("*.log")}


def written() -> dict[str, str]:
    """Text of each rule."""
    texts = [text for path in (ROOT / "rules").glob("*.smk") for text in path.read_text().split("\nrule ")[1:]]
    return {text.split(":")[0]: text for text in texts}


def asking(device: str, *overlay: str) -> set[str]:
    """Rules whose jobs ask for a GPU, as a dry run prints."""
    command = [sys.executable, "-m", "snakemake", "-n", "-F", "--cores", "1", "--config", f"device={device}"]
    command += ["--configfile", *overlay] if overlay else []
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    jobs = re.findall(r"^rule (\w+):(?:\n    .*)*?\n    resources: (.*)$", listed.stdout + listed.stderr, re.M)
    assert jobs
    return {rule for rule, resources in jobs if "gpu=1" in resources}


def test_jobs_that_compute_on_a_device_ask_for_a_gpu_if_it_is_cuda():
    """Limits are from all queries, or from some and a surrogate; language models, the atlas: runs of their own."""
    computing = {rule for rule, text in written().items() if 'device=config["device"]' in text}
    runs = (), ("configs/excerpt-full.yaml",), ("configs/smollm2.yaml",), ("configs/atlas-sizes.yaml",)
    assert set().union(*(asking("cuda", *overlay) for overlay in runs)) == computing
    assert asking("auto") == set()


def test_the_cluster_gives_what_a_local_run_in_other_jobs_gives(first, undisturbed):
    """To the byte, in five parts a layer there and in one here."""
    folder, jobs = first
    assert rules(jobs) == SUBMITTED
    assert {job.state for job in jobs} == {"COMPLETED"}
    assert merged(folder) == merged(undisturbed)
    assert kept_logs(folder) == set()


def test_jobs_used_less_memory_than_they_requested_and_the_docs_tell_both(first):
    """By Slurm's report; with TABLE=yes the docs are written from it."""
    folder, jobs = first
    requested = {job.rule: job.megabytes for job in jobs}
    used = dict.fromkeys(requested, 0.0)
    for row in folder.efficiency():
        rule = row["RuleName"].removeprefix("rule_").split("_wildcards_")[0]
        assert float(row["RequestedMem_MB"]) == requested[rule]
        used[rule] = max(used[rule], float(row["MaxRSS_MB"]))
    rows = [
        [f"`{rule}`", f"{asked:,}", f"{used[rule]:,.0f}", f"{asked / used[rule]:.1f}"]
        for rule, asked in requested.items()
    ]
    readme = program("readme")
    table = readme.markdown(["rule", "requested, MB", "used, MB", "requested over used"], rows)
    print(table)
    assert all(0 < used[rule] < requested[rule] for rule in requested)
    docs = ROOT / "docs/cluster.md"
    if os.environ.get("TABLE"):
        docs.write_text(readme.fill(docs.read_text(), {"requested": table}))
    told = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", docs.read_text(), re.M)
    assert {rule: int(asked.replace(",", "")) for rule, asked in told} == requested, "make cluster-test TABLE=yes"


ARRAY = """
rule all:
    input: "1.txt", "2.txt"
    localrule: True
rule like:
    output: "{number}.txt"
    resources: mem_mb=700
    shell: "if [ $SLURM_ARRAY_TASK_ID = 1 ]; then sleep 30; fi; touch {output}"
"""


def test_a_task_of_an_array_still_fails_if_it_ends_well_before_the_first(cluster, tmp_path):
    """Why the profile has no arrays: docs/cluster.md. If this fails with another version of the plugin, look again."""
    (tmp_path / "Snakefile").write_text(ARRAY)
    command = [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "2", "--latency-wait", "2"]
    command += [*HERE, "--slurm-status-command", "squeue", "--slurm-array-jobs", "like"]
    done = subprocess.run(command, cwd=tmp_path, env=cluster.environment, capture_output=True, text=True)
    assert "Submitted array job" in done.stderr, done.stderr
    assert done.returncode != 0
    (log,) = (tmp_path / ".snakemake/slurm_logs/rule_like").glob("*_2.log")
    assert "MissingOutputException" in log.read_text(), "its own file was there, and it waited for that of the first"


def test_both_nodes_had_jobs(first):
    assert {job.node for job in first[1]} == {"n1", "n2"}


def test_jobs_that_compute_on_a_device_had_a_gpu_and_no_others(first):
    assert {job.rule for job in first[1] if job.gpus} == set(ON_GPU)
    assert all(job.gpus == (job.rule in ON_GPU) for job in first[1])


def test_a_job_has_a_thread_and_a_gpu_and_when_killed_runs_again_with_more_memory(finished):
    loss = Loss(finished, ERRORS)
    run = finished.submit(LAYER, *GPUS)
    ((script, killed),) = run.hold("measure_errors", 1).items()
    environment = Path(f"/proc/{script}/environ").read_text().split("\0")
    assert "OMP_NUM_THREADS=1" in environment
    assert re.findall(r"CUDA_VISIBLE_DEVICES=(.*)", "\n".join(environment)) in (["0"], ["1"])  # one of the node's two
    os.kill(script, signal.SIGKILL)
    jobs = run.finish()
    assert rules(jobs) == AGAIN + Counter(measure_errors=1)
    (failed,) = [job for job in jobs if job.state == "FAILED"]
    assert failed.number == killed.number
    assert max(job.megabytes for job in jobs if job.rule == "measure_errors") == 2 * failed.megabytes
    assert failed.number in kept_logs(finished)
    loss.check_made_good()


def test_a_job_outlives_the_daemon_of_its_node(finished, cluster):
    loss = Loss(finished, ERRORS)
    run = finished.submit(LAYER)
    held = run.hold("measure_errors", 1)
    (job,) = held.values()
    cluster.daemons[job.node].kill()
    cluster.daemons[job.node].wait()
    cluster.start_node(job.node)
    release(held)
    jobs = run.finish()
    assert rules(jobs) == AGAIN
    assert {(job.state, job.restarts) for job in jobs} == {("COMPLETED", 0)}
    loss.check_made_good()


def test_a_crashed_node_has_its_jobs_started_again(finished, cluster):
    loss = Loss(finished, ERRORS)
    run = finished.submit(LAYER)
    (lost,) = run.hold("measure_errors", 1).values()
    cluster.crash(lost.node)
    time.sleep(10)  # Slurm misses at once only jobs that began ten seconds ago; others a minute later
    cluster.start_node(lost.node)
    jobs = run.finish()
    assert rules(jobs) == AGAIN  # the same job again, no new one
    assert {job.state for job in jobs} == {"COMPLETED"}
    assert lost.number in [job.number for job in jobs if job.restarts == 1]
    loss.check_made_good()


def test_a_killed_coordinator_is_followed_by_another(finished, cluster):
    geometry = "geometry/layer_5.zarr.zip"
    loss = Loss(finished, (*ERRORS, geometry))
    run = finished.submit(LAYER)
    run.hold("measure_errors", 2)
    wait(lambda: "(Rule: measure_geometry)" in run.log.read_text(), "finished measure_geometry")
    run.process.kill()
    run.process.wait()
    done = made(finished)[geometry]
    assert rules(job for job in run.jobs() if job.state == "RUNNING") == Counter(measure_errors=2)  # unwatched
    # As docs/cluster.md says: `make unlock` names them, end them, unlock, run again.
    code, said = finished.unlock()
    assert code != 0 and f"`scancel --name={run.run_id()}`" in said and "rule_measure_errors" in said, said
    cluster.run("scancel", f"--name={run.run_id()}")
    wait(lambda: not [job for job in run.jobs() if job.state in ("RUNNING", "COMPLETING")], "the end of the jobs")
    code, said = finished.unlock()
    assert code == 0 and "unlocked" in said, said
    assert rules(finished.submit(LAYER).finish()) == AGAIN
    assert made(finished)[geometry] == done
    loss.check_made_good()


def test_a_drained_node_gets_no_more_jobs(finished, cluster):
    loss = Loss(finished, ERRORS)
    run = finished.submit(LAYER)
    held = run.hold("measure_errors", 2)
    cluster.run("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
    release(held)
    try:
        jobs = run.finish()
    finally:
        cluster.run("scontrol", "update", "nodename=n1", "state=resume")
    assert rules(jobs) == AGAIN
    assert {(job.state, job.restarts) for job in jobs} == {("COMPLETED", 0)}  # what ran there was let finish
    assert [job.node for job in jobs if job.rule == "merge_errors"] == ["n2"]
    loss.check_made_good()


def test_a_job_that_exceeds_its_memory_gets_more(finished):
    loss = Loss(finished, ERRORS[:2])
    jobs = finished.submit(LAYER, "--set-resources", "measure_errors:mem_mb=400*attempt").finish()
    first, *more = [job for job in jobs if job.rule == "measure_errors"]
    assert (first.megabytes, first.state) == (400, "FAILED")
    assert (more[-1].megabytes, more[-1].state) == (400 * (len(more) + 1), "COMPLETED")
    log = next((finished.path / "results/logs/slurm").rglob(f"{first.number}.log"))
    assert "memory" in log.read_text()
    loss.check_made_good()


def test_added_replicates_are_all_that_is_submitted(finished):
    """The last test: the results are others afterwards."""
    before = made(finished)
    finished.configure("measure_errors", replicates=12)
    assert rules(finished.submit(*TARGETS).finish()) == Counter(measure_errors=1, merge_errors=1)
    now = made(finished)
    changed = {name for name in before if now[name] != before[name]}
    fits = {"rates/heads.zarr.zip", "rates/first_order.zarr.zip"}
    assert changed == {LAYER.removeprefix("results/")} | fits | {
        f"figures/first_order.{kind}" for kind in ("pdf", "svg", "png")
    }
