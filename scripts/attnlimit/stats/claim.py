"""A claim declares itself beside the function that judges it; records, page, README and figure are made from that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import xarray as xr

from attnlimit.stats.table import rates_table
from attnlimit.stats.verdicts import HARDLY, NOT_HERE, STATISTIC_NAMES, UNDECIDED

TOO_WIDE, TOO_FEW = "interval too wide", "too few data"  # why a verdict is undecided
COULD_HARDLY_FAIL, EXPLORATORY = "could hardly fail", "exploratory: rule changed after a look"
AFTER_A_LOOK = "The rule was settled after first numbers of the default run were seen: there, read it as exploration."


class Finding(NamedTuple):
    """What the test of a claim found."""

    verdict: str
    in_short: str  # the measured number and what is required of it
    measured: dict
    why: str
    could_fail: str  # could this run have failed the claim?  yes, hardly or not here; what violation it would have seen
    fitted_with: Mapping = {}  # thresholds that the fits were made with, in addition to those declared
    used: tuple[str, ...] | None = None  # of the fits declared, if not all that are there
    p: float | None = None  # of a verdict this firm by chance, see `verdicts.chance`; 0: exact numbers; None: no test
    number: str = ""  # the one number that a table of claims shows; "": in_short


@dataclass(frozen=True)
class Fits:
    """What claims are tested on: the stores of fits by name."""

    stores: Mapping[str, xr.Dataset]

    def errors(self, name: str) -> pd.DataFrame:
        return error_fits(self.stores[name])


class Record(NamedTuple):
    """One claim and what this run says of it: what claims.json, page, README and figure are made from."""

    id: str
    claim: str
    headline: str = ""  # what is claimed, in a few words; claims that share one are rows of one card
    experiment: str = ""  # on what this claim tests it
    ours: bool = False  # a question of our own, not the paper's
    question: str = ""  # that asks it
    verdict: str | None = None  # None for a claim that is left out
    marks: list = []  # beside the verdict: why it is undecided, that it could hardly fail, that it is exploratory
    able: str = ""  # could it have failed: yes, hardly, not here
    number: str = ""
    in_short: str = ""
    measured: dict = {}
    test: str = ""
    threshold: dict = {}
    files: list = []  # in results/
    figures: list = []
    why: str = ""
    could_fail: str = ""
    left_out: str = ""  # the chapter that would test the claim, if the run leaves that out
    rule: str = ""  # that made the fits
    function: str = ""  # that judged
    p: float | None = None  # of a verdict this firm by chance
    p_family: float | None = None  # the same among all claims of the run (Holm)
    test_file: str = ""  # in which that function is tried on truths that hold, fail, and decide nothing


@dataclass(frozen=True)
class Claim:
    """A statement, what it is tested on, and the function that judges it: call it with fits and thresholds."""

    id: str
    headline: str
    experiment: str
    ours: bool
    statement: str
    test: str
    fits: tuple[str, ...]
    thresholds: tuple[str, ...]
    figures: tuple[str, ...]
    any_of: bool
    after_a_look: bool
    judge: Callable[[Fits, dict], Finding]

    def __call__(self, fits: Fits, thresholds: Mapping) -> Finding:
        """The judge sees the thresholds that are declared, no others."""
        return self.judge(fits, {name: thresholds[name] for name in self.thresholds})

    def record(self, fits: Fits, thresholds: Mapping, chapters: Mapping[str, str], rules: Mapping[str, str]) -> Record:
        """What this run says of the claim.

        chapters: of each fit that the run leaves out, the chapter that makes it;  rules: of a fit that is not made by
        fit_{name}, the rule that makes it.
        """
        missing = [name for name in self.fits if name not in fits.stores]
        if unknown := [name for name in missing if name not in chapters]:
            raise LookupError(f"results/rates/{unknown[0]}.zarr.zip: claim {self.id} needs it; run `make reproduce`")
        chapter = " or ".join(dict.fromkeys(chapters[name] for name in missing))
        there = [name for name in self.fits if name in fits.stores]
        model = max((model_name(fits.stores[name]) for name in there), default="") or "the model"
        module = self.judge.__module__.removeprefix("attnlimit.").split(".")
        record = Record(
            self.id,
            self.statement.format(model=model),
            self.headline,
            self.experiment.format(model=model),
            self.ours,
            ["", *module][-2],
            rule=", ".join(dict.fromkeys(rules.get(name, f"fit_{name}") for name in self.fits)),
            function=f"{'/'.join(module)}.py: {self.judge.__name__}",
            test_file="/".join(["tests", *module[:-1], f"test_{module[-1]}.py"]),
        )
        if missing and not (self.any_of and there):
            words = f"left out; chapter {chapter} tests it"
            return record._replace(in_short=words, why=words, could_fail=words, left_out=chapter)
        finding = self(fits, thresholds)
        able = finding.could_fail.partition(":")[0]
        reason = "" if finding.verdict != UNDECIDED else TOO_FEW if able == NOT_HERE else TOO_WIDE
        marks = [reason, COULD_HARDLY_FAIL if able == HARDLY else "", EXPLORATORY if self.after_a_look else ""]
        used = there if finding.used is None else finding.used
        each = zip(self.fits, self.figures, strict=True) if len(self.figures) > 1 else ()
        return record._replace(
            verdict=finding.verdict,
            marks=[mark for mark in marks if mark],
            able=able,
            number=finding.number or finding.in_short,
            in_short=finding.in_short,
            measured=finding.measured,
            test=self.test,
            threshold={name: thresholds[name] for name in self.thresholds} | dict(finding.fitted_with),
            files=[f"rates/{name}.zarr.zip" for name in used],
            figures=[figure for fit, figure in each if fit in used] or list(self.figures),
            why=finding.why
            + (f" Without {', '.join(missing)} (chapter {chapter})." if missing else "")
            + (f" {AFTER_A_LOOK}" if self.after_a_look else ""),
            could_fail=finding.could_fail,
            p=finding.p,
        )


def claim(
    *,
    id: str,
    headline: str,
    experiment: str,
    statement: str,
    test: str,
    fits: tuple[str, ...],
    thresholds: tuple[str, ...],
    ours: bool = False,
    figure: str | tuple[str, ...] = (),
    any_of: bool = False,
    after_a_look: bool = False,
) -> Callable[[Callable[[Fits, dict], Finding]], Claim]:
    """Declare the function below it as the judge of a claim.

    headline, experiment, ours: see `Record`;  statement: may name {model}, as may experiment;  test: how it is judged,
    in a sentence;  fits: names in results/rates/, also of other questions;  figure: that shows it, or one for each of
    the fits;  thresholds: keys of `assess_claims` that the judge takes;  any_of: tested on those of the fits that are
    there;  after_a_look: the rule was settled when numbers of the default run had been seen.
    """
    figures = (figure,) if isinstance(figure, str) else figure
    return lambda judge: Claim(
        id, headline, experiment, ours, statement, test, fits, thresholds, figures, any_of, after_a_look, judge
    )


def error_fits(rates: xr.Dataset) -> pd.DataFrame:
    """Fits of the error itself, for mean and covariance, heads but no whole layers."""
    table = rates_table(rates)
    chosen = (table["part"] == "error") & table["statistic"].isin(list(STATISTIC_NAMES)) & (table["head"] != "all")
    return table[chosen].reset_index(drop=True)


def model_name(rates: xr.Dataset) -> str:
    """Of the model that fits are of, without its owner; "" for simulations."""
    return rates.attrs.get("model", {}).get("name", "").split("/")[-1]
