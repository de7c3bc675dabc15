"""The claims of all questions, each judged on stored fits: what was measured, against which threshold, a verdict."""

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

import xarray as xr

from attnlimit.base.files import atomic
from attnlimit.stats.claim import Claim, Fits, Record
from attnlimit.stats.verdicts import UNDECIDED, holm, rounded


def claims_of(questions: Iterable[str]) -> list[Claim]:
    """The claims that these questions declare, in their order."""
    modules = [import_module(f"attnlimit.questions.{name}.claims") for name in questions]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Claim)]


def assess(
    claims: Iterable[Claim],
    stores: Mapping[str, xr.Dataset],
    thresholds: Mapping,
    chapters: Mapping[str, str] | None = None,
    rules: Mapping[str, str] | None = None,
) -> list[Record]:
    """What a run says of each claim; one whose fits the run leaves out has no verdict.

    stores: the fits by name;  chapters: of each fit that the run leaves out, the chapter that makes it;  rules: of a
    fit that is not made by fit_{name}, the rule that makes it.
    """
    fits = Fits(stores)
    records = [claim.record(fits, thresholds, chapters or {}, rules or {}) for claim in claims]
    return as_family(records, thresholds["level"])


def as_family(records: list[Record], level: float) -> list[Record]:
    """With Holm's correction: what one claim decides by itself but not among all of them is undecided."""
    tested = [record for record in records if record.p is not None]
    probabilities = [record.p for record in tested if record.p is not None]
    adjusted = dict(zip((record.id for record in tested), holm(probabilities), strict=True))
    family = []
    for record in records:
        p = adjusted.get(record.id)
        if p is not None and p > 1 - level and record.verdict != UNDECIDED:
            why = f"By itself: {record.verdict} (p = {record.p:.2g}); not after correction for {len(tested)} claims. "
            marks = ["too many claims", *record.marks]
            record = record._replace(verdict=UNDECIDED, marks=marks, why=why + record.why)
        family.append(record._replace(p_family=p))
    return family


def write_json(records: list[Record], path: str | Path) -> None:
    with atomic(path) as temporary:
        content = json.dumps([rounded(record._asdict()) for record in records], indent=2, ensure_ascii=False)
        temporary.write_text(content + "\n", encoding="utf-8")
