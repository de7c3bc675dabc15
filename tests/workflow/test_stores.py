"""Every store that a rule writes is declared by a question or a foundation, and the other way round."""

import contextlib
import io
import os
import re
from fnmatch import fnmatch
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


def test_a_store_is_declared_once_and_a_question_declares_its_fits():
    assert len(declared()) == sum(len(about.stores) + len(about.parts) for about in abouts().values())
    for about in abouts().values():
        assert {f"rates/{source}" for source in about.errors} <= set(about.stores)


@pytest.mark.parametrize("name", declared())
def test_a_store_says_of_each_variable_what_it_is_and_of_no_two_the_same(name):
    said = [words_of(variable, declared()[name])[0] for variable in declared()[name]]
    assert all(said)
    assert len(said) == len(set(said))


def test_the_page_on_reading_lists_every_store_that_a_user_opens():
    table = re.search(r"\| store \|.*?\n\n", (ROOT / "docs/reading.md").read_text(), re.S)[0]
    listed = re.findall(r"`([\w/*]+)`", table)
    opened = [name for about in abouts().values() for name in about.stores]
    assert [name for name in opened if not any(fnmatch(name, each) for each in listed)] == []
    assert [each for each in listed if "/" in each and not any(fnmatch(name, each) for name in opened)] == []
