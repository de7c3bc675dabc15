"""Whatever bytes or config come: the right numbers, or one line that names the file or the key; nothing else."""

import bz2
import functools
import io
import json
import math
import operator
import shutil
import zipfile
from copy import deepcopy
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from attnlimit.corpus import articles as table
from attnlimit.corpus.articles import Article, read_identity, read_numbers, require_whole, write_articles
from attnlimit.corpus.blocks import load_tokenizer
from attnlimit.corpus.dump import read_dump
from attnlimit.corpus.location import local_files
from attnlimit.corpus.own_texts import read_texts
from attnlimit.model.bert import heads_dataset, load
from attnlimit.model.files import embedded_folder
from attnlimit.plan import costs
from attnlimit.plan.config import MOST_JOBS, check
from attnlimit.store import read, write
from support.configs import DEFAULT, SCHEMA

BEYOND_FLOATS = 10**400
NONSENSE = [None, True, -1, 0, 2**40, 1.5, "", "x", [], [1], ["x"], {}, {"name": "x"}]


@st.composite
def damage(draw, content: bytes) -> bytes:
    """The content with some bits flipped, cut short, with bytes put in, taken out, doubled, or with another's begun."""
    place = draw(st.integers(0, len(content) - 1))
    match draw(st.sampled_from(["flip", "flip", "flip", "cut", "insert", "remove", "repeat", "zero", "replace"])):
        case "flip":
            spots = draw(st.lists(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=3))
            changed = bytearray(content)
            for spot in spots:
                changed[spot // 8] ^= 1 << spot % 8
            return bytes(changed)
        case "cut":
            return content[:place]
        case "insert":
            return content[:place] + draw(st.binary(min_size=1, max_size=8)) + content[place:]
        case "remove":
            return content[:place] + content[place + draw(st.integers(1, 200)) :]
        case "repeat":
            return content[:place] + content[max(0, place - 100) :]
        case "zero":
            return content[:place] + bytes(min(50, len(content) - place)) + content[place + 50 :]
    return draw(st.binary(max_size=40))


def told(path: Path, action):
    """What the action returns, or None if it tells in one line what is wrong with the file."""
    try:
        return action()
    except (ValueError, LookupError) as error:
        message = str(error)
        assert message.startswith(f"{path}"), message
        assert len(message.splitlines()) == 1, message
        return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def store(folder) -> tuple[Path, bytes, xr.Dataset]:
    path = folder / "a.zarr.zip"
    values = {"tokens": (("layer", "token"), np.arange(6.0).reshape(2, 3)), "count": ("layer", np.array([3, 4]))}
    write(xr.Dataset(values, coords={"layer": [0, 5]}), path, model={"name": "bert"})
    return path, path.read_bytes(), read(path)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=100)
@given(data=st.data())
def test_a_store_gives_its_numbers_or_its_name(store, data):
    path, content, whole = store
    path.write_bytes(data.draw(damage(content)))
    found = told(path, lambda: read(path))
    assert found is None or found.identical(whole)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60)
@given(data=st.data())
def test_metadata_that_make_no_sense_are_told_with_the_store(store, data):
    """In a sound zip: no checksum stands between these and Zarr."""
    path, content, _ = store
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(name for name in entries if name.endswith("zarr.json"))))
    facts = json.loads(entries[name])
    *above, last = data.draw(st.sampled_from(places(facts)))
    functools.reduce(operator.getitem, above, facts)[last] = data.draw(st.sampled_from(NONSENSE))
    entries[name] = json.dumps(facts).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, written in entries.items():
            archive.writestr(entry, written)
    told(path, lambda: read(path))


@pytest.fixture(scope="module")
def articles(folder) -> tuple[Path, bytes]:
    path = folder / "articles.parquet"
    rows = [Article(number, f"T{number}", number + 100, f"{number} some words") for number in range(40)]
    write_articles(rows, path, {"source": "text", "name": "мое"})
    return path, path.read_bytes()


def read_articles(path: Path):
    """As tokenize_corpus does."""
    require_whole(path)
    numbers = [read_numbers(path, name).tolist() for name in ("page_id", "revision_id")]
    return numbers, [text for batch in table.read_texts(path) for text in batch], read_identity(path)


@settings(max_examples=100)
@given(data=st.data())
def test_articles_are_those_written_or_the_table_is_named(articles, data):
    path, content = articles
    path.write_bytes(content)
    whole = read_articles(path)
    path.write_bytes(data.draw(damage(content)))
    found = told(path, lambda: read_articles(path))
    assert found is None or found == whole


@pytest.fixture(scope="module")
def bert(folder) -> Path:
    """A model so small that its files are mostly what describes it."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 4}
    BertModel(BertConfig(vocab_size=5, max_position_embeddings=4, **sizes)).save_pretrained(folder / "bert")
    return folder / "bert"


def loaded(bert: Path, name: str, content: bytes) -> xr.Dataset | None:
    """The heads of a model, one of whose files is replaced; the message may name another, to which it does not fit."""
    place = shutil.copytree(bert, bert.with_name("damaged"), dirs_exist_ok=True)
    (place / name).write_bytes(content)
    return told(place, lambda: heads_dataset(load(place)))


@settings(max_examples=60)
@given(data=st.data())
def test_weights_load_whole_or_are_named(bert, data):
    """A flipped bit among the numbers is the sha256's to find; here the shapes and the finiteness are seen to."""
    content = (bert / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    found = loaded(bert, "model.safetensors", data.draw(damage(content[:header])) + content[header:])
    assert found is None or dict(found.sizes) == {"layer": 1, "head": 2, "width": 2, "feature": 4}
    assert found is None or all(np.isfinite(array).all() for array in found.values())


@st.composite
def other_value(draw, value) -> object:
    """Another value than a key has: of its kind, of another kind, nested, huge, not finite."""
    extremes = st.sampled_from([0, -1, 10**7, 2**63, BEYOND_FLOATS, nan, inf, -inf])
    numbers = st.integers(-2, 100) | st.floats() | extremes
    leaves = st.none() | st.booleans() | numbers | st.text(max_size=8) | st.sampled_from(["ю", "\ud800", "a\nb", "{x}"])
    match value:
        case list() if draw(st.booleans()):
            return draw(st.lists(numbers, max_size=5) | st.permutations(value))
        case int() | float() if draw(st.booleans()):
            return draw(numbers)
    inner = st.lists(leaves, max_size=3) | st.dictionaries(st.text(max_size=5), leaves, max_size=3)
    return draw(leaves | inner | st.lists(inner, max_size=2))


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=60)
@given(data=st.data())
def test_a_config_json_loads_whole_or_is_named(bert, data):
    config = json.loads((bert / "config.json").read_bytes())
    key = data.draw(st.sampled_from(sorted(config)))
    config[key] = data.draw(other_value(config[key]))
    content = json.dumps(config).encode()
    found = loaded(bert, "config.json", data.draw(damage(content)) if data.draw(st.booleans()) else content)
    assert found is None or found.sizes["feature"] == 4


@pytest.fixture(scope="module")
def tokenizer(folder) -> tuple[Path, bytes]:
    """MiniLM's, with the first of its words."""
    facts = json.loads((embedded_folder() / "tokenizer.json").read_bytes())
    words = list(facts["model"]["vocab"].items())
    facts["model"]["vocab"] = dict(words[:120])
    return folder / "tokenizer.json", json.dumps(facts).encode()


@settings(max_examples=100)
@given(data=st.data())
def test_a_tokenizer_has_its_marks_or_is_named(tokenizer, data):
    path, content = tokenizer
    path.write_bytes(data.draw(damage(content)))
    found = told(path, lambda: load_tokenizer(path))
    if found is not None:
        reader, marks = found
        assert isinstance(reader, Tokenizer) and len(marks) == 2


REVISION = "<revision><id>2</id><text>Some '''bold''' words.</text></revision>"
PAGE = f"<page><title>A</title><ns>0</ns><id>1</id>{REVISION}</page>"
DUMP = f"<mediawiki><siteinfo/>{PAGE}{PAGE.replace('<id>1', '<id>7')}</mediawiki>".encode()


@settings(max_examples=100)
@given(data=st.data())
def test_a_dump_becomes_articles_or_is_named(folder, data):
    packed = data.draw(st.booleans())
    path = folder / ("dump.xml.bz2" if packed else "dump.xml")
    path.write_bytes(data.draw(damage(bz2.compress(DUMP) if packed else DUMP)))
    found = told(path, lambda: list(read_dump(path, 10**6)))
    assert found is None or all(isinstance(article, Article) for article in found)
    assert not packed or found is None or {article.text for article in found} <= {"Some bold words."}


ROWS = b'{"id": "1", "title": "A", "text": "\\u044f words"}\n{"text": "more"}\n'


@settings(max_examples=100)
@given(data=st.data())
def test_rows_of_text_become_articles_or_are_named(folder, data):
    suffix = data.draw(st.sampled_from(["jsonl", "txt"]))
    path = folder / f"rows.{suffix}"
    path.write_bytes(data.draw(damage(ROWS) | st.binary(max_size=60)))
    found = told(path, lambda: list(read_texts([str(path)], "text")))
    for article in found or []:
        article.text.encode()  # raises at half a letter


def places(config: dict, above: tuple = ()) -> list[tuple]:
    """Every key of every level, sections and lists too."""
    found = [(*above, key) for key in config]
    for key, value in config.items():
        if isinstance(value, dict):
            found += places(value, (*above, key))
    return found


@settings(max_examples=120)
@given(data=st.data())
def test_a_config_can_be_planned_or_is_refused_in_one_line(data):
    config = deepcopy(DEFAULT)
    for _ in range(data.draw(st.integers(1, 2))):
        *sections, last = data.draw(st.sampled_from(places(config)))
        place = config
        for section in sections:
            place = place[section]
        match data.draw(st.sampled_from(["replace", "replace", "replace", "delete", "add", "swap"])):
            case "replace":
                place[last] = data.draw(other_value(place[last]))
            case "delete":
                del place[last]
            case "add":
                place[data.draw(st.text(max_size=8) | st.integers())] = data.draw(other_value(None))
            case "swap":
                other = data.draw(st.sampled_from(list(place)))
                place[last], place[other] = place[other], place[last]
        if not places(config):
            return
    try:
        check(config, SCHEMA)
    except ValueError as error:
        message = str(error)
        assert message.startswith("config: ") and len(message.splitlines()) == 1, message
        return
    plan(config)


def plan(config: dict) -> None:
    """What rules/common.smk and the resources of the rules make of a config that passed."""
    assert isinstance(local_files(config["fetch_corpus"]), list)
    for rule in costs.job_bytes(config):
        assert 0 < round(costs.asked_bytes(config, rule) / 1e6) < inf
    for rule in (*costs.job_seconds(config), *costs.simulation_seconds(config)):
        assert 0 < round(costs.asked_seconds(config, rule) / 60) < inf
    assert all(0 < count <= MOST_JOBS for count in costs.job_count(config).values())
    assert math.isfinite(costs.disk_bytes(config))
