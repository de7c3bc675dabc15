"""A model that a file of the package index carries.

Its own three files, or a graph in ONNX in place of the weights, or one GGUF in place of all.
"""

import shutil
from pathlib import Path, PurePosixPath

from attnlimit.base.files import naming_disk_errors, sha256_of, verify_sha256
from attnlimit.sources.model.families import GGUF
from attnlimit.sources.model.files import FILES, REMEDIES, ModelFiles
from attnlimit.sources.package import Budget, members, naming_damage, package_of
from attnlimit.sources.web.packages import fetch_package

LARGEST = 10_000_000_000  # bytes of a model's files, unpacked
CONFIG, TOKENIZER, WEIGHTS = FILES
GRAPH = ".onnx"
DEQUANTISED = "from {name}, sha256 {sha256}: float32 of the values that its rounded weights stand for"


def package_model(model: dict, downloads: Path, scratch: Path) -> ModelFiles:
    """The files of a model, written to an empty folder, the weights with the sha256 that the config gives."""
    wanted = package_of(model)
    path = fetch_package(wanted, "fetch_model", downloads)
    carried = carried_files(path, model["files"], scratch)
    weights = scratch / carried[next(key for key in (GGUF, WEIGHTS, GRAPH) if key in carried)]
    verify_sha256(weights, model["weights_sha256"], name=f"fetch_model.weights_sha256: {weights.name} of {path.name}")
    identity = {"name": model["title"] or wanted.name, "package": wanted.pinned}
    identity |= {key: model[key] for key in ("file", "files") if model[key]} | {"file_sha256": wanted.sha256}
    if GGUF in carried:
        from attnlimit.sources.model.gguf_llama import dequantise  # here, since no other source needs gguf

        identity["quantised"] = dequantise(weights, scratch) or "no"
        identity["converted"] = DEQUANTISED.format(name=weights.name, sha256=model["weights_sha256"])
    elif WEIGHTS not in carried:
        from attnlimit.sources.model.onnx_bert import CONVERTED, convert  # here, since no other source needs onnx

        convert(weights, scratch / CONFIG, scratch / WEIGHTS)
        identity["converted"] = CONVERTED.format(name=weights.name, sha256=model["weights_sha256"])
    paths = {name: scratch / name for name in FILES}
    return ModelFiles(paths, {name: sha256_of(each) for name, each in paths.items()}, identity)


def carried_files(path: Path, pattern: str, scratch: Path) -> dict[str, str]:
    """Write those members that a model needs to a folder, without the folders they were in.

    Returns the name of each by that of FILES; of a graph or a GGUF by its ending.
    """
    found: dict[str, str] = {}
    with naming_damage(path):
        for name, stream in members(path, pattern, Budget(LARGEST, "take a smaller model"), "fetch_model.files"):
            last = PurePosixPath(name).name
            key = next((ending for ending in (GRAPH, GGUF) if last.endswith(ending)), last)
            if key not in (*FILES, GRAPH, GGUF):
                continue
            if key in found:
                raise ValueError(
                    f"fetch_model.files: {path.name} has more than one {key} that matches {pattern}; narrow it"
                )
            found[key] = last
            with naming_disk_errors(scratch / last), (scratch / last).open("wb") as target:
                shutil.copyfileobj(stream, target)
    for name in () if GGUF in found else FILES:
        if name not in found and (name != WEIGHTS or GRAPH not in found):
            what = "model.safetensors and no .onnx graph" if name == WEIGHTS else name
            remedy = "pickled weights are refused" if name == WEIGHTS else REMEDIES[CONFIG]
            raise LookupError(
                f"fetch_model.files: no {what} among the members of {path.name} that match {pattern}; {remedy}"
            )
    return found
