"""How do a model's answers and embeddings change when every layer attends to n drawn keys?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from attnlimit.base.about import About, Cost, Known, Model, Section, Words
from attnlimit.base.costs import DRAWN_FLOPS, START_BYTES
from attnlimit.base.section_types import Count, InParts, Integer, Positive, Replicates, Sha256, Sizes, refuse
from attnlimit.base.words import COUPLINGS, LABELS, LINE
from attnlimit.sources.about import RELATIVE
from attnlimit.sources.corpus.location import MARKS, located, task_lengths


class MeasureDownstream(InParts):
    """What the user sees when every layer attends to n drawn keys: the embedding of a text, and a task with truth."""

    task: Literal["retrieval", "labels", "classifier"] = Field(
        description="`retrieval`: the article of a block of the corpus is that of the nearest other block by cosine, "
        "the block with drawn keys, the others without; `labels`: a linear probe, trained on embeddings of other texts "
        "without draws; `classifier`: the head of the model itself, which must be a fine-tuned sequence classifier."
    )
    location: str = Field(
        description="`labels`, `classifier`: a .jsonl or .parquet file with a text and a label a row. A relative path "
        "counts from the folder of the Snakefile."
    )
    sha256: Sha256 = Field(description="Of that file; empty accepts it as it is.")
    text_column: str = Field(min_length=1, description="The column that holds the text.")
    label_column: str = Field(min_length=1, description="The column that holds the label: whole numbers, or names.")
    texts: Replicates = Field(
        description="Texts that are asked about; `retrieval`: at most, as many as there are articles for."
    )
    per_article: Integer = Field(
        ge=2, description="`retrieval`: blocks of each article, drawn at random; articles with fewer are passed over."
    )
    training: Count = Field(description="`labels`: other texts, nothing drawn, that train the probe.")
    longest: int = Field(
        ge=0,
        le=4096,
        description="Tokens of a block, its opening and closing mark included; of a labelled text that is longer, the "
        "first so many are read. 0 takes `tokenize_corpus.block`.",
    )
    shortest: Positive = Field(
        le=1, description="Share of `longest` that a text must have; shorter ones are passed over."
    )
    sizes: Sizes = Field(description="The numbers n of keys drawn in each layer, increasing.")
    replicates: Integer = Field(ge=2, description="Draws for each text and size.")
    replacement: bool = Field(
        description="Draw with replacement, so that the dense model is the exact limit; without, sizes are below the "
        "shortest text."
    )


class FitDownstream(Section):
    """Accuracy, agreement and the rate of the embedding's error."""

    bootstrap: Integer = Field(ge=100, description="Draws of articles, or of texts, for the 95 % intervals.")


def check(config: Mapping[str, Any], known: Known) -> None:
    """A task has the file that it needs, and lengths, sizes and jobs that can be; asked only where it runs."""
    if "whole_model" not in config["chapters"]:
        return
    section, before = config["measure_downstream"], "measure_downstream."
    check_file(section, known)
    texts, (shortest, longest) = section["texts"], task_lengths(config)
    if known.longest is not None and longest > known.longest:
        refuse(before + "longest", f"{longest} tokens, but the model reads at most {known.longest}; lower it")
    if longest <= MARKS:
        refuse(before + "longest", f"{longest}, but two marks and one word piece need {MARKS + 1}")
    if not section["replacement"] and (largest := section["sizes"][-1]) >= shortest:
        why = f"{largest} is not below the shortest text, {shortest} tokens, and keys are drawn without replacement"
        refuse(before + "sizes", why)
    if section["task"] == "retrieval" and texts < 2 * section["per_article"]:
        refuse(before + "texts", f"{texts} are fewer than two articles of per_article {section['per_article']}")
    if section["parts"] > texts:
        refuse(before + "parts", f"more jobs than texts {texts}")


def check_file(section: Mapping[str, Any], known: Known) -> None:
    """Of texts with labels; retrieval takes none."""
    location, task, before = section["location"], section["task"], "measure_downstream."
    if task == "retrieval":
        for key in ("location", "sha256"):
            if section[key]:
                refuse(before + key, 'task retrieval takes none; leave it ""')
        return
    if not location:
        refuse(before + "location", f"task {task} needs it: a .jsonl or .parquet file of texts and labels")
    if Path(location).suffix not in (".jsonl", ".parquet") or {"{", "}"} & set(location):
        refuse(before + "location", f"{location!r:.200}: take a .jsonl or .parquet file, no braces in it")
    there = located({"source": "text", **section}, known.root)["location"]
    if "measure_downstream" not in known.absent and not Path(there).is_file():
        refuse(before + "location", f"no file {location!r:.200} {RELATIVE}")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Every text is read once without draws, and once for each draw and size.

    Memory as in measure_propagation, one draw at a time; BigBird's attention has three arrays of scores at once.
    """
    layers, features, _ = model
    section, (_, length) = config["measure_downstream"], task_lengths(config)
    texts, replicates, sizes, parts = (section[key] for key in ("texts", "replicates", "sizes", "parts"))
    passes = texts * (1 + replicates * len(sizes)) + (section["training"] if section["task"] == "labels" else 0)
    flops = float(passes) * length * layers * (24 * features**2 + 4 * length * features)
    embeddings = 4.0 * features * texts * replicates * len(sizes)
    attended = 4.0 * length * (16 * features + 3 * length * features / 32 + 3 * layers * features)
    return {
        "measure_downstream": Cost(
            parts,
            flops / DRAWN_FLOPS,
            bytes=START_BYTES + 12 * layers * features**2 * 4 + attended + 2 * embeddings / parts,
            cut_by="measure_downstream.parts",
        ),
        "merge_downstream": Cost(bytes=START_BYTES + 5 * embeddings),  # as numbers of 8 bytes, and their differences
    }


# Words of the variables, by store.
TEXTS: Words = {
    "text": "text that the task asks about: a block of an article, or a labelled text",
    "label": "number of the article, or of the class, that the text is of",
    "cluster": "texts with one number are resampled together: blocks of an article",
}
OVERALL: Words = {
    "chance": "accuracy of an answer without reading",
    "unrelated_distance": "root mean square distance of the dense embeddings of two texts with other labels",
}
STORES: dict[str, Words] = {
    "downstream/answers": LABELS
    | COUPLINGS
    | TEXTS
    | OVERALL
    | {
        "embedding_error": "distance of the embedding to the dense one, of each text and draw",
        "logit_error": "root mean square over classes of the difference of logits to the dense ones, of each text and "
        "draw; a common shift is left out",
        "divergence": "KL divergence from the class probabilities of the dense model, of each text and draw [nats]",
        "answer": "number of the article, or of the class, that the task gives with n keys drawn in every layer",
        "right": "whether the answer is the label",
        "agrees": "whether the answer is that of the dense model",
        "dense_answer": "answer of the dense model",
        "dense_right": "whether the answer of the dense model is the label",
    },
    "rates/downstream": LABELS
    | TEXTS
    | OVERALL
    | LINE
    | {
        "accuracy": "share of right answers, over texts and draws",
        "agreement": "share of answers as of the dense model, over texts and draws",
        "logit_error": "difference of logits to the dense ones, root mean square over classes, texts and draws",
        "divergence": "KL divergence from the class probabilities of the dense model, mean over texts and draws [nats]",
        "dense_accuracy": "share of right answers of the dense model",
        "embedding_error": "distance of the embedding to the dense one, geometric mean over texts and draws",
        "bend": "rate over the upper half of the sizes less that over the lower half",
    },
}
PARTS: dict[str, Words] = {
    "downstream/texts": TEXTS
    | {
        "training": "whether the text only trains the linear probe",
        "text_of_token": "text that the token stands in",
        "token_id": "number of the word piece in the vocabulary",
    },
    "downstream/parts/{text_part}": LABELS
    | COUPLINGS
    | TEXTS
    | {
        "embedding": "mean of the last states over the tokens of the text, of length 1; n keys drawn in every layer",
        "dense_embedding": "mean of the last states over the tokens of the text, of length 1; nothing drawn",
        "training_text": "text that trains the linear probe",
        "training_embedding": "mean of the last states over a text that trains the linear probe, of length 1",
        "class": "class of a classifier, in the order of its scores",
        "scores": "scores of the classifier, n keys drawn in every layer",
        "dense_scores": "scores of the classifier, nothing drawn",
    },
}

ABOUT = About(
    title="what becomes of the model's answers",
    question="How do a model's answers and embeddings change when every layer attends to n drawn keys?",
    chapter="whole_model",
    place=1,
    uses=("corpus/blocks", "models/heads"),
    figures={"downstream": "the whole model: a task with drawn keys"},
    sections={"measure_downstream": MeasureDownstream, "fit_downstream": FitDownstream},
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
