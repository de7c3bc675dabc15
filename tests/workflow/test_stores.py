"""Every store is declared once, with words of its own; test_rules.py: it is made by one rule."""

import re
from fnmatch import fnmatch

import pytest

from attnlimit.base.words import words_of
from attnlimit.workflow.registry import abouts, declared
from support.workflow import ROOT


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
