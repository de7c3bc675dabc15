"""Every store that a rule writes is declared by a question or a foundation, and the other way round."""

import contextlib
import io
import os
import re
from collections import Counter
from unittest import mock

import pytest
from snakemake.api import SnakemakeApi
from snakemake.settings.enums import Quietness
from snakemake.settings.types import OutputSettings, ResourceSettings

from attnlimit.base.words import words_of
from attnlimit.workflow.registry import abouts, declared
from support.workflow import ROOT

ENDING = ".zarr.zip"


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> list[re.Pattern]:
    """Which declared names the outputs of rules stand for: a wildcard, {layer,0|1}, for itself or one of its values."""
    folder = tmp_path_factory.mktemp("run")
    api = SnakemakeApi(OutputSettings(quiet={Quietness.ALL}))
    quiet = contextlib.redirect_stdout(io.StringIO())
    with mock.patch.dict(os.environ), contextlib.chdir(folder), quiet, api as snakemake:
        cores = ResourceSettings(cores=1)
        workflow = snakemake.workflow(resource_settings=cores, snakefile=ROOT / "Snakefile", workdir=folder)
        workflow.list_rules()  # which reads them
        outputs = [str(path) for rule in workflow._workflow.rules for path in rule.output]
    stores = [path.removeprefix("results/").removesuffix(ENDING) for path in outputs if path.endswith(ENDING)]
    return [re.compile(re.sub(r"\{(\w+),(.*?)\}", r"(\{\1\}|\2)", store)) for store in stores]


def test_a_store_is_declared_if_and_only_if_a_rule_writes_it(written):
    assert [rule.pattern for rule in written if not any(map(rule.fullmatch, declared()))] == []
    assert [name for name in declared() if not any(rule.fullmatch(name) for rule in written)] == []


def test_a_store_is_declared_once():
    names = Counter(name for about in abouts().values() for name in (*about.stores, *about.parts))
    assert [name for name, times in names.items() if times > 1] == []
    assert set(names) == set(declared())


@pytest.mark.parametrize("name", declared())
def test_a_store_says_of_each_variable_what_it_is_and_of_no_two_the_same(name):
    said = [words_of(variable, declared()[name])[0] for variable in declared()[name]]
    assert all(said)
    assert len(said) == len(set(said))


def test_what_a_question_rests_on_is_declared():
    for about in abouts().values():
        assert {*about.uses, *about.errors.values()} <= set(declared())
        assert {f"rates/{source}" for source in about.errors} <= set(about.stores)
