"""Files of the Hugging Face hub at one commit: listed, fetched, checked. The only file that talks to the hub.

The client caches files in HF_HUB_CACHE and asks HF_ENDPOINT, as everywhere. It accepts any file of the right size, and
does not retry after every transient error: checksums and retries are added here.
"""

import hashlib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from json import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple

from httpx2 import HTTPError, TransportError
from huggingface_hub import HfApi, constants, hf_hub_download
from huggingface_hub.errors import (
    FileMetadataError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoSibling

from attnlimit.base.files import naming_disk_errors, private, sha256_of
from attnlimit.base.log import logger
from attnlimit.sources.web.retry import TransientError, retry

ASKED = 4  # times at most, after transient errors
FETCHED = 3  # times at most, while the content is wrong
NETWORK = (HTTPError, ConnectionError, FileMetadataError, JSONDecodeError)  # the last: a page in place of an answer
SECTIONS = {"model": "fetch_model", "dataset": "fetch_corpus"}
OFFLINE = {
    "model": "`hf download {name} config.json tokenizer.json model.safetensors --revision {revision} "
    "--local-dir FOLDER` where the hub can be reached, then `source: local` and `location: FOLDER`",
    "dataset": "`hf download {name} --repo-type dataset --revision {revision} --include PATTERN --local-dir FOLDER` "
    "where the hub can be reached, then `source: text` with the parquet file",
}


class Client(NamedTuple):
    """How to reach the hub."""

    endpoint: str | None = None  # None: HF_ENDPOINT or the hub itself
    cache: Path | None = None  # None: HF_HUB_CACHE
    pause: float = 1.0  # seconds before asking again; each time twice as long


CLIENT = Client()


class Repository(NamedTuple):
    """What the hub says it holds at one commit."""

    name: str  # owner/name
    kind: str  # model or dataset
    revision: str
    licence: str | list[str] | None
    files: dict[str, RepoSibling]  # by path, each with its size and checksum


def listing(name: str, kind: str, revision: str, client: Client = CLIENT) -> Repository:
    """Ask what a repository holds at a commit."""
    hub = HfApi(endpoint=client.endpoint)
    info = ask(
        lambda: hub.repo_info(name, repo_type=kind, revision=revision, files_metadata=True),
        (name, kind, revision),
        client.pause,
    )
    require_commit(info.sha, revision, kind)
    card = info.card_data.to_dict() if info.card_data else {}
    return Repository(name, kind, revision, card.get("license"), {file.rfilename: file for file in info.siblings})


def fetch(repository: Repository, file: str, client: Client = CLIENT) -> Path:
    """A file of a repository, in the client's cache, with the checksum that the hub lists for it.

    A file with another content is removed from the cache and fetched again.
    """
    name, kind, revision, _, files = repository
    if file not in files:
        raise LookupError(f"{SECTIONS[kind]}.location: no file {file} in {name} at {revision}")
    cache = client.cache or Path(constants.HF_HUB_CACHE)
    for _ in range(FETCHED):
        with naming_disk_errors(cache):
            private(cache)
            path = ask(
                lambda: hf_hub_download(
                    name, file, repo_type=kind, revision=revision, endpoint=client.endpoint, cache_dir=cache
                ),
                (name, kind, revision),
                client.pause,
            )
        path = Path(path)  # …/snapshots/commit/file
        require_commit(path.parts[-1 - len(Path(file).parts)], revision, kind)
        if as_listed(path, files[file]):
            return path
        logger.warning("%s of %s: not what the hub lists; fetching it again", file, name)
        path.resolve().unlink()
        path.unlink(missing_ok=True)
    raise ValueError(
        f"{SECTIONS[kind]}.location: {file} of {name} came {FETCHED} times with another checksum than the hub lists; "
        f"{OFFLINE[kind].format(name=name, revision=revision)}"
    )


def as_listed(path: Path, listed: RepoSibling) -> bool:
    """Whether a file is the listed one: by its sha256 if it is large, by git's checksum if it is small."""
    if listed.lfs is not None:
        return sha256_of(path) == listed.lfs.sha256
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == listed.blob_id


def require_commit(answered: str | None, revision: str, kind: str) -> None:
    if answered != revision:
        raise ValueError(f"{SECTIONS[kind]}.revision: the hub answers with commit {answered}, not {revision}")


def ask(action: Callable[[], Any], what: tuple[str, str, str], pause: float) -> Any:
    """What the client returns; asked again after transient failures, with doubled pauses, then an error in one line."""
    name, kind, revision = what
    remedy = f"to go on without it: {OFFLINE[kind].format(name=name, revision=revision)}"

    def once() -> Any:
        try:
            return action()
        except RevisionNotFoundError as error:
            raise LookupError(f"{SECTIONS[kind]}.revision: no commit {revision} in {name} on the hub") from error
        except RepositoryNotFoundError as error:
            raise LookupError(
                f"{SECTIONS[kind]}.location: no {kind} {name} on the hub; if it is private or gated, `hf auth login`"
            ) from error
        except (*NETWORK, OSError) as error:
            # The client's own words for "neither on the hub nor in the cache" say less than their cause.
            failure = (error.__cause__ or error) if isinstance(error, LocalEntryNotFoundError) else error
            if not isinstance(failure, NETWORK) and not is_short_body(failure):
                raise  # of the disk
            why = f"the hub does not give {name} ({in_short(failure)})"
            if is_transient(failure):
                raise TransientError(why) from error
            raise ConnectionError(f"{SECTIONS[kind]}.location: {why}; {remedy}") from error

    pauses = tuple(pause * 2**number for number in range(ASKED - 1))
    return retry(once, f"{SECTIONS[kind]}.location", remedy, pauses)


def is_transient(failure: BaseException) -> bool:
    """Whether asking again may help: 5xx, 429, a cut connection, a short body."""
    if isinstance(failure, HfHubHTTPError):
        return failure.response.status_code in (408, 429) or failure.response.status_code >= 500
    return isinstance(failure, TransportError) or is_short_body(failure)


def is_short_body(failure: BaseException) -> bool:
    """The client reports a body of another length than announced as a bare OSError."""
    return type(failure) is OSError and failure.errno is None


def in_short(failure: BaseException) -> str:
    if isinstance(failure, HfHubHTTPError):
        return f"HTTP {failure.response.status_code}"
    return f"{type(failure).__name__}: {' '.join(str(failure).split())[:200]}"


def corpus_files(location: str, revision: str, pattern: str, client: Client = CLIENT) -> Iterator[tuple[Path, str]]:
    """Files of a dataset at a commit that match a pattern, in order of name, each with its sha256.

    Files are fetched lazily.
    """
    repository = listing(location, "dataset", revision, client)
    names = sorted(name for name in repository.files if fnmatchcase(name, pattern))
    if not names:
        some = ", ".join(sorted(repository.files)[:5])
        raise LookupError(
            f"fetch_corpus.files: no file of {location} at {revision} matches {pattern}; it has {some}, …"
        )
    for name in names:
        path = fetch(repository, name, client)
        yield path, sha256_of(path)
