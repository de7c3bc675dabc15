"""What a question says of itself, once: chapters, stores, schema, costs, figures, pages are computed from it.

Standard library and pydantic only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from attnlimit.base.words import Words


class Section(BaseModel):
    """A section of the config, named after its rule: closed, every key with a description and its range."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True)
class Cost:
    """What the jobs of a rule cost, from the sizes in the config."""

    jobs: int = 1
    seconds: float = 0.0  # on one core, all jobs together
    bytes: float = 0.0  # of memory, one job
    on_gpu: bool = False  # whether a job computes on `device`


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
    stores: Mapping[str, Words] = field(default_factory=dict)  # by path below results/, no ending; {layer}: one a layer
    parts: Mapping[str, Words] = field(default_factory=dict)  # the same, of stores that another job joins or reads
    uses: tuple[str, ...] = ()  # stores of the foundations that its numbers rest on
    errors: Mapping[str, str] = field(default_factory=dict)  # by source: store of errors that fit_rates fits
    figures: Mapping[str, str] = field(default_factory=dict)  # by name: title, in the order of the story
    tables: Mapping[str, str] = field(default_factory=dict)  # by name of the .csv: what it lists
    cost: Callable[[Mapping[str, Any]], dict[str, Cost]] = lambda config: {}  # by rule
