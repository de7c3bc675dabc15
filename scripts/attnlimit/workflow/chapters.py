"""The chapters of a run: which stores, fits and figures each of them brings. The only place that says so.

Standard library only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Chapter(NamedTuple):
    """A question that a run can answer alone: names of files in results/ without ending.

    {layer} stands for one a layer, {study} for one a study.
    """

    about: str
    stores: tuple[str, ...]
    sources: tuple[str, ...] = ()  # of errors that fit_rates fits, into rates/{source}
    summaries: tuple[str, ...] = ()  # of fits of their own, in rates/{summary}
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()  # {table}.csv for a spreadsheet and {table}.html as a page


TOKENS = ("corpus/blocks", "models/heads", "geometry/layer_{layer}")  # of every chapter that looks at the model
SIMULATIONS = ("gaussian", "gaussian_published", "gaussian_asymptotic", "sphere")
# In the order of the story, which is that of the report: chapters, and the figures of a chapter, the leading one first.
CHAPTERS = {
    "heads": Chapter(
        "the rates of the model's heads",
        stores=(*TOKENS, "limits/layer_{layer}", "errors/layer_{layer}"),
        sources=("heads",),
        figures=("beta_vs_horizon", "token_complexity", "convergence", "heat_map", "local_slopes", "bias_fluctuation"),
    ),
    "tails": Chapter(
        "how heavy the tails of the tokens are",
        stores=(*TOKENS, "tails/layer_{layer}"),
        figures=("tails",),
    ),
    "ablation": Chapter(
        "chosen heads with their attention scaled",
        stores=(*TOKENS, "ablation/errors"),
        sources=("ablation",),
        figures=("ablation", "constant_tilt"),
    ),
    "contexts": Chapter(
        "tokens that are neighbours, and attention to some of them",
        stores=(*TOKENS, "contexts/errors", "clouds/outputs", "patterns/layer_{layer}"),
        summaries=("contexts", "patterns"),
        figures=("contexts", "clouds", "patterns"),
        tables=("patterns",),
    ),
    "whole_model": Chapter(
        "keys drawn in every layer: what becomes of the error and of the answers",
        stores=("corpus/blocks", "models/heads", "propagation/errors", "downstream/answers"),
        summaries=("propagation", "downstream"),
        figures=("propagation", "downstream"),
    ),
    "theory": Chapter(
        "simulated tokens with known limits",
        stores=tuple(f"synthetic/{name}" for name in (*SIMULATIONS, "hardmax", "uniform", "normality")),
        sources=SIMULATIONS,
        summaries=("uniform", "hardmax", "normality", "constants"),
        figures=(
            *("gaussian_beta_vs_horizon", "gaussian_local_slopes", "gaussian_protocol", "gaussian_asymptotic"),
            *("sphere_beta_vs_horizon", "hardmax", "uniform", "normality"),
        ),
    ),
    "studies": Chapter(
        "several finished runs, of other models and texts, compared",
        stores=("studies/{study}",),
        summaries=("studies",),
        figures=("studies_horizon", "studies_heads", "studies_shared_noise"),
        tables=("studies",),
    ),
}
APART = "studies"  # it reads finished runs, the others a model and a text: a run has it alone, or any of the others
SUMMARIES = tuple(name for chapter in CHAPTERS.values() for name in chapter.summaries)
JUDGED = ("heads", "ablation", *SIMULATIONS, *SUMMARIES)  # fits that claims are tested on


def brought(field: str, chapters: Collection[str] = tuple(CHAPTERS)) -> list[str]:
    """What these chapters bring of a field of Chapter, such as `stores`, in the order of the story, each once."""
    chosen = [getattr(chapter, field) for name, chapter in CHAPTERS.items() if name in chapters]
    return list(dict.fromkeys(item for items in chosen for item in items))


def store_files(chapters: Collection[str], layers: Sequence[int], studies: Collection[str] = ()) -> list[str]:
    """Paths of the stores of these chapters, those of their fits among them."""
    names = brought("stores", chapters) + [f"rates/{name}" for name in fitted(chapters)]
    each = []
    for name in names:
        if "{study}" in name:
            each += [name.format(study=study) for study in studies]
        else:
            each += [name.format(layer=layer) for layer in (layers if "{layer}" in name else [0])]
    return [f"results/{name}.zarr.zip" for name in each]


def fitted(chapters: Collection[str]) -> list[str]:
    """Names of the fits of these chapters, in results/rates/."""
    return brought("sources", chapters) + brought("summaries", chapters)


def chapters_of_claims(chapters: Collection[str]) -> dict[str, str]:
    """Of each fit that claims are tested on and that is not in these chapters: the chapter that would bring it."""
    return {fit: name for name in others(chapters) for fit in fitted([name]) if fit in JUDGED}


def others(chapters: Collection[str]) -> list[str]:
    """Chapters that could be added to these."""
    return [name for name in CHAPTERS if name not in chapters and name != APART and APART not in chapters]


def left_out(chapters: Collection[str]) -> str:
    """One line on the chapters that a run leaves out, and how to add them; "" if it has all."""
    named = [f"{name} ({CHAPTERS[name].about})" for name in others(chapters)]
    return f"left out: {', '.join(named)}; to add one, name it in `chapters` of the config" if named else ""
