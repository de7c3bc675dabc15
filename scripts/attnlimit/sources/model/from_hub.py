"""A model of the Hugging Face hub, at one commit."""

from collections.abc import Callable
from pathlib import Path

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.families import read_config
from attnlimit.sources.model.files import FILES, ModelFiles, require_files
from attnlimit.sources.web.hub import CLIENT, Client, fetch, listing


def hub_model(
    location: str,
    revision: str,
    weights_sha256: str,
    client: Client = CLIENT,
    require: Callable[[Path], object] = read_config,
) -> ModelFiles:
    """The files of a model at a commit; another sha256 than the hub's is refused before anything is fetched.

    require: refuses a config.json; the weights of such a model are not fetched.
    """
    repository = listing(location, "model", revision, client)
    require_files(repository.files, f"fetch_model.location: {location} at {revision}")
    listed = repository.files["model.safetensors"].lfs
    if listed is not None and listed.sha256 != weights_sha256:
        raise ValueError(
            f"fetch_model.weights_sha256: {weights_sha256}, but the hub lists {listed.sha256} for model.safetensors of "
            f"{location} at {revision}; check that fetch_model.revision is the one you mean"
        )
    require(fetch(repository, "config.json", client))
    paths = {name: fetch(repository, name, client) for name in FILES}
    licence = {"licence": repository.licence} if repository.licence else {}
    identity = {"name": location, "revision": revision} | licence
    return ModelFiles(paths, {name: sha256_of(path) for name, path in paths.items()}, identity)
