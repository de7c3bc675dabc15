"""A model that a file of the package index carries.

Its own three files; or a graph in ONNX in place of the weights, or of these and config.json; or one GGUF or pack in
place of all. A model without a tokenizer of its own may have that of another one, which is pinned as well.
"""

import json
import shutil
from collections.abc import Container
from pathlib import Path, PurePosixPath

from attnlimit.base.files import naming_disk_errors, sha256_of, verify_sha256
from attnlimit.sources.model.families import GGUF, read_config
from attnlimit.sources.model.files import EMBEDDED, FILES, REMEDIES, ModelFiles, copy_verified, embedded_model
from attnlimit.sources.model.hmsemb import unpack
from attnlimit.sources.package import Budget, members, naming_damage, package_of
from attnlimit.sources.web.packages import fetch_package

LARGEST = 10_000_000_000  # bytes of a model's files, unpacked
CONFIG, TOKENIZER, WEIGHTS = FILES
GRAPH, PACK = ".onnx", ".hmsemb"
WHOLE = (GGUF, PACK)  # in place of all of FILES
DEQUANTISED = "from {name}, sha256 {sha256}: float32 of the values that its rounded weights stand for"


def package_model(model: dict, downloads: Path, scratch: Path) -> ModelFiles:
    """The files of a model, written to an empty folder, the weights with the sha256 that the config gives."""
    wanted = package_of(model)
    path = fetch_package(wanted, "fetch_model", downloads)
    borrowed = model.get("tokenizer") == "embedded"
    carried = carried_files(path, model["files"], scratch, borrowed)
    weights = scratch / carried[next(key for key in (*WHOLE, WEIGHTS, GRAPH) if key in carried)]
    verify_sha256(weights, model["weights_sha256"], name=f"fetch_model.weights_sha256: {weights.name} of {path.name}")
    identity = {"name": model["title"] or wanted.name, "package": wanted.pinned}
    identity |= {key: model[key] for key in ("file", "files") if model[key]} | {"file_sha256": wanted.sha256}
    told, rounded = converted(weights, carried, scratch)
    identity |= {"quantised": rounded} if rounded else {}
    identity |= {"converted": told.format(name=weights.name, sha256=model["weights_sha256"])} if told else {}
    if borrowed:
        borrow_tokenizer(scratch)
        identity["tokenizer"] = f"of {EMBEDDED['name']} at {EMBEDDED['revision']}"
    paths = {name: scratch / name for name in FILES}
    return ModelFiles(paths, {name: sha256_of(each) for name, each in paths.items()}, identity)


def converted(weights: Path, carried: Container[str], scratch: Path) -> tuple[str, str]:
    """Convert one file into those of FILES that it replaces; returns a note on that, and how weights are rounded.

    Readers are imported here, so that no source needs the packages of another.
    """
    if GGUF in carried:
        from attnlimit.sources.model.gguf_llama import dequantise

        return DEQUANTISED, dequantise(weights, scratch) or "no"
    if PACK in carried:
        return DEQUANTISED, unpack(weights, scratch)
    if WEIGHTS in carried:
        return "", ""
    if CONFIG in carried:
        from attnlimit.sources.model.onnx_bert import CONVERTED, convert

        convert(weights, scratch / CONFIG, scratch / WEIGHTS)
        return CONVERTED, ""
    from attnlimit.sources.model.onnx_export import EXPORTED, convert_exported

    return EXPORTED, convert_exported(weights, scratch)


def borrow_tokenizer(scratch: Path) -> None:
    """Copy the tokenizer of the embedded model to the folder of a model with the same number of words."""
    source = embedded_model()
    copy_verified(source.paths[TOKENIZER], scratch / TOKENIZER, source.sha256[TOKENIZER])
    has = len(json.loads((scratch / TOKENIZER).read_bytes())["model"]["vocab"])
    wants = read_config(scratch / CONFIG).get("vocab_size")
    if has != wants:
        raise ValueError(
            f"fetch_model.tokenizer: that of {EMBEDDED['name']} has {has} words, the model {wants}; take another source"
        )


def carried_files(path: Path, pattern: str, scratch: Path, borrowed: bool = False) -> dict[str, str]:
    """Write those members that a model needs to a folder, without the folders they were in.

    borrowed: the tokenizer comes from elsewhere, and none must be among them.
    Returns the name of each by that of FILES; of a graph, a GGUF or a pack by its ending.
    """
    found: dict[str, str] = {}
    with naming_damage(path):
        for name, stream in members(path, pattern, Budget(LARGEST, "take a smaller model"), "fetch_model.files"):
            last = PurePosixPath(name).name
            key = next((ending for ending in (GRAPH, *WHOLE) if last.endswith(ending)), last)
            if key not in (*FILES, GRAPH, *WHOLE):
                continue
            if key in found:
                raise ValueError(
                    f"fetch_model.files: {path.name} has more than one {key} that matches {pattern}; narrow it"
                )
            found[key] = last
            with naming_disk_errors(scratch / last), (scratch / last).open("wb") as target:
                shutil.copyfileobj(stream, target)
    if borrowed and (own := {TOKENIZER, *WHOLE} & {*found}):
        raise ValueError(f'fetch_model.tokenizer: {path.name} has its own, in {found[own.pop()]}; write tokenizer: ""')
    graph_alone = GRAPH in found and WEIGHTS not in found
    spared = {*FILES} if {*WHOLE} & {*found} else {CONFIG, WEIGHTS} if graph_alone else set()
    for name in FILES:
        if name in found or name in spared or (name == TOKENIZER and borrowed):
            continue
        what = "model.safetensors and no .onnx graph" if name == WEIGHTS else name
        remedy = "pickled weights are refused" if name == WEIGHTS else REMEDIES[CONFIG]
        raise LookupError(
            f"fetch_model.files: no {what} among the members of {path.name} that match {pattern}; {remedy}"
        )
    return found
