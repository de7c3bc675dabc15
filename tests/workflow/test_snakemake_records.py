"""Snakemake's records: the jobs behind a target, their parameters, and files without a record."""

import inspect
import json
import re
from pathlib import Path

import pytest
from snakemake.persistence import RECORD_FORMAT_VERSION
from snakemake.scheduling.job_scheduler import JobScheduler

from attnlimit.workflow.snakemake_records import FORMAT, Job, read_record, record_path, trace, write_records
from support.tiny_run import FIT, MODEL, RATES, RULES, SPLIT, TEXT, make_run


@pytest.fixture
def run(tmp_path) -> Path:
    folder = tmp_path / "run"
    make_run(folder)
    return folder


def test_the_jobs_behind_a_target_have_their_parameters_by_name(run):
    jobs, sources = trace([RATES], run, RULES, run)
    assert [job.name for job in jobs] == ["fetch_model", "fit_rates", "split/shard_0"]
    assert [job.parameters for job in jobs] == [
        {"code": "'ab'"},
        {"code": "'ef'", "settings": "{'bootstrap': 10}"},
        {"code": "'cd'", "shard": "0", "words": "[7, 8]"},
    ]
    assert [job.output for job in jobs] == [MODEL.output, FIT.output, SPLIT.output]
    assert sources == [TEXT]


def test_files_of_the_user_are_named_as_the_project_sees_them(run, tmp_path):
    record = read_record(SPLIT.output[0], run)
    names = {"my_texts/a.txt": "run/my_texts/a.txt", "../b.txt": "b.txt", "/data/c.txt": "/data/c.txt"}
    record["input"] = list(names)
    record_path(SPLIT.output[0], run).write_text(json.dumps(record))
    jobs, sources = trace([RATES], run, RULES, tmp_path)
    assert sources == sorted(names.values())
    assert jobs[-1].input == tuple(names.values())


@pytest.mark.parametrize(
    ("rule", "now"),
    [
        ("fit_rates", {"settings": "{'bootstrap': 20}"}),
        ("fit_rates", {"code": "'00'"}),
        ("fit_rates", {"seed": "1"}),
        ("split", {"code": "'00'"}),  # other parameters of which depend on wildcards
        ("split", {"seed": None}),
    ],
)
def test_results_of_other_parameters_are_not_archived(run, rule, now):
    rules = RULES | {rule: RULES[rule] | now}
    with pytest.raises(ValueError, match=rf"{rule}/.*\.txt: that job ran with other parameters .* `make reproduce`"):
        trace([RATES], run, rules, run)


def test_a_job_of_before_parameters_had_names_is_not_archived(run):
    record = read_record(RATES, run)
    record_path(RATES, run).write_text(json.dumps(record | {"params": ["'ef'", "10"]}))
    with pytest.raises(ValueError, match="other parameters"):
        trace([RATES], run, RULES, run)


def test_a_result_without_a_record_is_named_with_a_remedy(run):
    with pytest.raises(LookupError, match=r"results/other\.csv: Snakemake has no record .* --forcerun results/other"):
        trace(["results/other.csv"], run, RULES, run)


def test_the_format_is_that_of_the_snakemake_installed():
    assert FORMAT == RECORD_FORMAT_VERSION


@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 1, None])
def test_a_record_of_another_format_is_refused(tmp_path, version):
    write_records([FIT], tmp_path)
    path = record_path(RATES, tmp_path)
    record = read_record(RATES, tmp_path)
    assert record["rule"] == "fit_rates"
    record["record_format_version"] = version
    if version is None:
        del record["record_format_version"]
    path.write_text(json.dumps(record))
    line = f"{path}: Snakemake's record of {RATES} has format {version}, this reads {FORMAT}; install"
    with pytest.raises(ValueError, match=f"^{re.escape(line)}.*--forcerun {re.escape(RATES)}$"):
        read_record(RATES, tmp_path)


def test_jobs_of_one_rule_have_names_of_their_own():
    logs = [f"results/logs/merge_parts/{store}.txt" for store in ("contexts/errors", "propagation/errors")]
    jobs = [Job("merge_parts", log, (), (), (), {}) for log in logs]
    assert [job.name for job in jobs] == ["merge_parts/contexts/errors", "merge_parts/propagation/errors"]


def test_snakemake_still_has_the_limit_that_a_local_run_takes_away():
    """The Snakefile sets it to None, as Snakemake does in a dry run: a release that renames it would only be slower."""
    assert "self.job_rate_limiter is None" in inspect.getsource(JobScheduler)
