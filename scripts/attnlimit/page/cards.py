"""The claims as the page shows them: one card each, from the records of claims.json."""

import json
from collections.abc import Collection
from typing import NamedTuple

from attnlimit.page.formulas import typeset
from attnlimit.stats.verdicts import LOOKS, UNTESTED, VERDICTS

RESULTS, FIGURE = "results/", "figure "  # how evidence names files and figures


class Card(NamedTuple):
    """A claim that was tested; what is written with formulas is HTML."""

    id: str
    verdict: str
    claim: str
    measured: str
    why: str
    could_fail: str
    test: str
    thresholds: str
    numbers: str
    files: list[str]  # in results/
    figures: list[str]  # the first one stands beside the claim
    rule: str
    function: str
    test_file: str


def cards(records: list[dict], figures: Collection[str]) -> list[Card]:
    """Of each claim that has a verdict, in the paper's order; figures: those of the run."""
    return [card(record, figures) for record in records if record["verdict"]]


def card(record: dict, figures: Collection[str]) -> Card:
    shown = [name.removeprefix(FIGURE) for name in record["evidence"] if name.startswith(FIGURE)]
    return Card(
        id=record["id"],
        verdict=record["verdict"],
        claim=typeset(record["claim"]),
        measured=typeset(record["in_short"]),
        why=typeset(record["why"]),
        could_fail=typeset(record["could_fail"]),
        test=typeset(record["test"]),
        thresholds=", ".join(f"{name} {value:g}" for name, value in record["threshold"].items()),
        numbers=json.dumps(record["measured"], indent=1, ensure_ascii=False),
        files=[name.removeprefix(RESULTS) for name in record["evidence"] if name.startswith(RESULTS)],
        figures=[name for name in shown if name in figures],
        rule=record["rule"],
        function=record["function"],
        test_file=record["test_file"],
    )


def looks() -> dict[str, dict[str, str]]:
    """Of each verdict: its symbol, its colour, and a name for style sheets."""
    return {verdict: LOOKS[verdict]._asdict() | {"name": verdict.split()[0]} for verdict in VERDICTS}


def counts(tested: list[Card]) -> dict[str, int]:
    """How many claims have each verdict, of those that any has."""
    verdicts = [each.verdict for each in tested]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts}


def undecided(tested: list[Card]) -> list[Card]:
    return [each for each in tested if each.verdict == UNTESTED]


def not_tested(records: list[dict]) -> list[tuple[str, str]]:
    """Claims that the run does not test, with the chapter that would."""
    return [(typeset(record["claim"]), record["left_out"]) for record in records if record["left_out"]]
