"""Files of the package index. A wheel is fetched by pip, with the index, proxy and mirror of pip's settings.

pip would run the build code of an sdist to learn what it is, so an sdist never goes through it: its link is looked up
on the simple page of pip's index (PEP 503, PEP 691), and it is fetched like any file. Nothing is installed or run.
"""

import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import requests

from attnlimit.base.files import naming_disk_errors, private, sha256_of
from attnlimit.base.log import logger
from attnlimit.sources.package import WHEEL, Package, normal
from attnlimit.sources.web.download import download
from attnlimit.sources.web.retry import PAUSES, SECONDS_WITHOUT_ANSWER, raise_if_transient, retry, transient_errors

SHARED = "ATTNLIMIT_DOWNLOADS"  # names a folder in which several runs keep what they fetch
ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
DEFAULT = re.compile(r"--index-url <url>.*?\(default\s+(\S+?)\)", re.DOTALL)
ANCHOR = re.compile(r"""<a\s[^>]*?\bhref\s*=\s*["']([^"']+)["'][^>]*>\s*([^<]*\S)\s*</a>""", re.IGNORECASE)
HIDDEN = "****"  # in place of a password


def fetch_package(wanted: Package, section: str, downloads: Path, pauses: tuple[float, ...] = PAUSES) -> Path:
    """The file, with the sha256 it must have: without a network if it is there.

    Kept in `downloads`, or in the folder that ATTNLIMIT_DOWNLOADS names; `section` of the config asks for it.
    """
    path = Path(os.environ.get(SHARED) or downloads) / "packages" / wanted.file
    if path.is_file() and sha256_of(path) == wanted.sha256:
        return path
    remedy = f"or download {wanted.file} elsewhere and put it in {path.parent.resolve()}"
    with naming_disk_errors(path):
        private(path.parent)
    if wanted.file.endswith(WHEEL):
        fetch_wheel(wanted, section, path, remedy)
    else:
        url = link_of(wanted, section, index_of_pip(section, remedy), remedy, pauses)
        download(url, path, wanted.sha256, pauses, section, remedy)
    return path


def fetch_wheel(wanted: Package, section: str, path: Path, remedy: str) -> None:
    """Have pip bring a wheel into a folder of its own; it gets its name only if it is the right one."""
    with naming_disk_errors(path), tempfile.TemporaryDirectory(prefix=".pip-", dir=path.parent) as folder:
        options = ["--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--dest", folder]
        options += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        logger.info("pip download %s", wanted.pinned)
        done = pip("download", *options, wanted.pinned)
        logger.info("%s", done.stdout + done.stderr)
        if done.returncode:
            raise ConnectionError(f"{section}.location: {reason(done, wanted)}; run again, {remedy}")
        came = Path(folder, wanted.file)
        if not came.is_file():
            others = ", ".join(sorted(each.name for each in Path(folder).iterdir()))
            raise LookupError(
                f"{section}.file: pip brings {others} for this machine, not {wanted.file}; name it, {remedy}"
            )
        sha256 = sha256_of(came)
        if sha256 != wanted.sha256:
            raise ValueError(
                f"{section}.sha256: {wanted.file} came with {sha256}, not {wanted.sha256}; the download is deleted: "
                "run again, or put the sha256 of the version you mean in the config"
            )
        came.replace(path)


def pip(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pip", *arguments]
    # No shell; the only word of the config is name==version, whose form the config's check has seen.
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)  # noqa: S603


def reason(done: subprocess.CompletedProcess, wanted: Package) -> str:
    """Why pip fetched nothing, in short. pip reports an index that does not answer only in its warnings."""
    lines = done.stderr.splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    silent = any(line.startswith("WARNING: Retrying") for line in lines)
    why = "the index does not answer" if silent else (errors or lines or ["no word of it"])[-1]
    return f"pip cannot fetch {wanted.pinned} ({why[:200]})"


def index_of_pip(section: str, remedy: str) -> str:
    """The index that pip is set to, by its own words: no address of an index stands in this project."""
    index = DEFAULT.search(pip("download", "--help", COLUMNS="1000").stdout)
    if index is None or HIDDEN in index[1]:
        raise LookupError(f"{section}.file: pip does not tell its index, which an sdist needs; take a wheel, {remedy}")
    return index[1]


def link_of(wanted: Package, section: str, index: str, remedy: str, pauses: tuple[float, ...] = PAUSES) -> str:
    """The address of a file, from the index's page of its package."""
    page = f"{index.rstrip('/')}/{normal(wanted.name)}/"
    answer = retry(partial(ask, page, section, remedy), page, f"run again, {remedy}", pauses)
    links = dict(listed(answer))
    if wanted.file not in links:
        some = ", ".join(sorted(links)[-5:])
        raise LookupError(f"{section}.file: {page} lists no {wanted.file}; it has {some}")
    return links[wanted.file]


def ask(page: str, section: str, remedy: str) -> requests.Response:
    try:
        with transient_errors(page):
            answer = requests.get(page, headers={"Accept": ACCEPT}, timeout=SECONDS_WITHOUT_ANSWER)
    except requests.RequestException as error:
        raise ValueError(f"{section}.location: {page}: {error}; {remedy}") from error
    raise_if_transient(answer)
    if not answer.ok:
        said = f"{page} answers {answer.status_code} {answer.reason}"
        raise FileNotFoundError(f"{section}.location: {said}; check it, {remedy}")
    return answer


def listed(answer: requests.Response) -> Iterator[tuple[str, str]]:
    """Names and addresses of the files on a simple page, in JSON or in HTML."""
    if "json" in answer.headers.get("Content-Type", ""):
        try:
            files = [(file["filename"], file["url"]) for file in json.loads(answer.content)["files"]]
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(f"{answer.url}: no list of files ({error}); check the index that pip is set to") from error
    else:
        files = [(html.unescape(name), html.unescape(link)) for link, name in ANCHOR.findall(answer.text)]
    return ((name, urldefrag(urljoin(answer.url, link)).url) for name, link in files)
