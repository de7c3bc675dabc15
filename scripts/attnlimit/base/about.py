"""How a question declares itself, once: chapters, stores, schema, costs, figures and pages are computed from it.

Standard library and pydantic only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from attnlimit.base.words import Words


class Section(BaseModel):
    """A section of the config, named after its rule: closed, every key with a description and its range.

    No value stands in for another: 3.0 is no integer, true no number, and what is not finite none either.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Model(NamedTuple):
    """The shape of a model, for what work on it costs."""

    layers: int
    features: int
    heads: int  # of a layer


@dataclass(frozen=True)
class Known:
    """What planning knows besides the config, to check it by."""

    root: Path = Path()  # relative names of files count from here
    absent: Container[str] = ()  # sections whose files an archive did not hold: they are not looked for
    layers: int | None = None  # of the model; None: not known yet, as for `heads` of a layer and `longest`
    heads: int | None = None
    longest: int | None = None  # tokens that the model reads at once


@dataclass(frozen=True)
class Cost:
    """What the jobs of a rule cost, from the sizes in the config."""

    jobs: int = 1
    seconds: float = 0.0  # on one core, all jobs together; 0: not counted
    job_seconds: float = 0.0  # of the longest job, where jobs differ or a rough number is all there is
    bytes: float = 0.0  # of memory, one job
    on_gpu: bool = False  # whether a job computes on `device`
    cut_by: str = ""  # the key that says into how many jobs the work is cut

    @property
    def longest(self) -> float:
        """Seconds of the longest job on one core; 0 if they are not counted."""
        return self.job_seconds or (self.seconds / self.jobs if self.jobs else 0.0)


@dataclass(frozen=True)
class About:
    """One question, or one of the foundations that questions stand on (then without a chapter)."""

    title: str  # a few words, to follow "chapter contexts: "
    question: str  # one sentence
    chapter: str = ""  # of config.yaml that asks it
    place: int = 0  # among the questions of its chapter, the leading one first
    sections: Mapping[str, type[Section]] = field(default_factory=dict)  # of the config, by name
    thresholds: type[Section] | None = None  # keys that its claims add to `assess_claims`
    exclusive: bool = False  # whether a run has its chapter alone
    causal: bool | None = False  # whether its model is a language model, else an encoder; None: either
    stores: Mapping[str, Words] = field(default_factory=dict)  # by path below results/, no ending; {layer}: one a layer
    parts: Mapping[str, Words] = field(default_factory=dict)  # the same, of stores that another job joins or reads
    uses: tuple[str, ...] = ()  # stores of the foundations that its numbers rest on
    errors: Mapping[str, str] = field(default_factory=dict)  # by source: store of errors that fit_rates fits
    figures: Mapping[str, str] = field(default_factory=dict)  # by name: title, in the order of the story
    tables: Mapping[str, str] = field(default_factory=dict)  # by name of the .csv: what it lists
    cost: Callable[[Mapping[str, Any], Model], dict[str, Cost]] = lambda config, model: {}  # by rule
    check: Callable[[Mapping[str, Any], Known], None] = lambda config, known: None  # refuses keys, between sections
