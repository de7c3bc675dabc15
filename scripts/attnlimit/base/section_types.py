"""Types and keys that several sections of the config share, and how a key is refused.

Standard library and pydantic only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import AfterValidator, Discriminator, Field, GetJsonSchemaHandler, model_validator

from attnlimit.base.about import Known, Section

LARGEST = 2**63 - 1  # integer of a store
FEWEST_GROUPS = 4  # of replicates: an interval of bias or fluctuation from fewer says nothing
LETTERS = 100  # of a value in a refusal


class ConfigError(ValueError):
    """Why a key of the config is refused; a validator of a section names the key within its section."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"config: {key}: {why}")
        self.key, self.why = key, why


def refuse(key: str, why: str) -> NoReturn:
    raise ConfigError(key, why)


def distinct(values: list) -> list:
    if any(value in values[:place] for place, value in enumerate(values)):
        refuse("", f"{values!r:.{LETTERS}} has an entry twice; leave one out")
    return values


def increasing(values: list) -> list:
    if any(larger <= smaller for smaller, larger in pairwise(values)):
        refuse("", f"{values!r:.{LETTERS}} must increase; sort it")
    return values


class Distinct(AfterValidator):
    """A list whose entries must differ: as a validator, and in words of JSON schema."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(schema) | {"uniqueItems": True}


DISTINCT, INCREASING = Distinct(distinct), AfterValidator(increasing)
BY_KIND = Discriminator(lambda value: type(value).__name__)  # of a key that may be a number, a word or a list

Integer = Annotated[int, Field(le=LARGEST)]
Count = Annotated[int, Field(ge=1, le=LARGEST)]
Number = Annotated[int, Field(ge=0, le=LARGEST)]  # of a layer or a head, counted from 0
Positive = Annotated[float, Field(gt=0)]
Sizes = Annotated[list[Count], Field(min_length=3), INCREASING]
Replicates = Annotated[int, Field(ge=4, le=LARGEST)]
Positives = Annotated[list[Positive], Field(min_length=1), DISTINCT]
Head = Annotated[list[Number], Field(min_length=2, max_length=2)]  # layer and head
Sha256 = Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]  # or empty
Commit = Annotated[str, Field(pattern="^([0-9a-f]{40})?$")]  # or empty
Dtype = Literal["float32", "float64"]
Folders = dict[Annotated[str, Field(pattern="^[A-Za-z0-9-]+$", max_length=50)], Annotated[str, Field(min_length=1)]]


class InDtype(Section):
    """Keys of what computes attention."""

    dtype: Dtype = Field(description="Of scores and outputs.")


class InParts(Section):
    """Keys of work that is shared among jobs."""

    parts: Count = Field(description="Number of jobs; does not affect results.")


class OfRuns(Section):
    """Keys of a comparison of finished runs."""

    missing: dict[str, str] = Field(description="By name, why a run that was asked for is not there: the page says so.")


class AtSizes(Section):
    """Keys of independent samples."""

    sizes: Sizes = Field(description="The sample sizes n, increasing.")
    replicates: Replicates = Field(description="Samples for each n.")


class Grouped(AtSizes):
    """Keys of independent samples in groups."""

    replicates: Replicates = Field(description="Independent samples for each setting; a multiple of `group`.")
    group: Count = Field(description="As in `measure_errors`.")

    @model_validator(mode="after")
    def whole_groups(self) -> Self:
        whole = self.group * max(FEWEST_GROUPS, -(-self.replicates // self.group))
        if self.replicates % self.group:
            refuse(
                "replicates", f"{self.replicates} is not a multiple of group {self.group}; take, for example, {whole}"
            )
        if self.replicates < FEWEST_GROUPS * self.group:
            divisors = (count for count in range(FEWEST_GROUPS, 1000) if self.replicates % count == 0)
            smaller = self.replicates // next(divisors, self.replicates)
            groups = f"{self.replicates // self.group} of the {FEWEST_GROUPS} groups that are needed"
            why = f"{self.replicates} with group {self.group} make {groups}"
            refuse("replicates", f"{why}; set group in the same section to {smaller}, or replicates to {whole}")
        return self


class Sampled(Grouped, InDtype):
    """Keys of attention on samples."""

    nested: bool = Field(description="As in `measure_errors`.")


class BySetting(Sampled):
    """Keys of a simulation whose settings are shared among jobs."""

    parts: Count = Field(
        description="Jobs, each with some of the settings; at most as many as there are settings. Changes no number."
    )

    @staticmethod
    def dimensions_of(section: Mapping[str, Any]) -> list[int]:
        """Of the tokens in each setting, in their order."""
        raise NotImplementedError

    @model_validator(mode="after")
    def work_for_every_job(self) -> Self:
        settings = len(self.dimensions_of(dict(self)))
        if self.parts > settings:
            refuse("parts", f"{self.parts} jobs for {settings} settings; write {settings} or less")
        return self


def require_heads(key: str, heads: object, known: Known) -> None:
    """The heads of a list of [layer, head] are in the model, as far as that is known."""
    for layer, head in heads if isinstance(heads, list) else []:
        if known.layers is not None and layer >= known.layers:
            refuse(key, f"no layer {layer}; the model has layers 0 to {known.layers - 1}")
        if known.heads is not None and head >= known.heads:
            refuse(key, f"no head {head}; a layer of the model has heads 0 to {known.heads - 1}")


def require_studied(key: str, wanted: Iterable[int], layers: list[int]) -> None:
    for layer in wanted:
        if layer not in layers:
            refuse(key, f"layer {layer} is not among `layers` {layers}; take one of them, or add it there")
