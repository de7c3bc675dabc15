"""The deposit of a run: an archive and its report, as a draft on Zenodo that a person looks at and publishes.

As a program it shows what would be sent. Only --upload sends it, with authors, and a text of the user's own only with
--texts.
"""

import argparse
import json
import os
import shlex
from collections.abc import Mapping
from html import escape
from pathlib import Path

from attnlimit.archive.bag import files_below
from attnlimit.archive.bundle import Contents, verified
from attnlimit.archive.crate import read_citation
from attnlimit.base.files import atomic, sha256_of
from attnlimit.base.log import counted, one_line_errors
from attnlimit.sources.corpus.location import is_url
from attnlimit.sources.web.invenio import Server, require_safe
from attnlimit.sources.web.retry import PAUSES
from attnlimit.workflow.folders import ARCHIVE, RUNS

CITATION = Path(__file__).parents[3] / "CITATION.cff"
ZENODO = "https://zenodo.org"
PAPERS = "https://arxiv.org/abs/"
CORPUS, TASK = "results/corpus/articles.parquet", "results/downstream/texts.zarr.zip"
EXAMPLE = 'AUTHORS="Curie, Marie; Solvay Institute"'  # families before given names; a group has no comma
ASK_AUTHORS = f"AUTHORS: say whose results these are, such as {EXAMPLE}"
ASK_TEXTS = "If it may be public, say so with TEXTS=yes"
# Only the code's licence is the same for every model and corpus that can be run.
OTHERS = (
    "Text and weights of others that the archive holds, whole or in part, stay under the licences of their authors. "
    "In a run on the embedded data these are articles of English Wikipedia (CC BY-SA and GFDL, by the authors of each "
    "article) and projections of all-MiniLM-L6-v2 (Apache-2.0); the archive says which text and which model it had."
)


def draft_record(citation: dict, authors: list[dict], archive: str, report: str, title: str = "") -> dict:
    """The record of a deposit, in the shape of the Records API of InvenioRDM; its authors are the user's, not ours.

    title: that of the workflow unless given.
    """
    paper = citation["preferred-citation"]
    version, url = str(citation["version"]), paper["url"]
    description = [
        f"Results of a run of the Snakemake workflow attnlimit {version}, which measures the claims of the paper "
        f"“{paper['title']}” ({url}).",
        f"{archive} holds the run; {report} is its report, to be opened in a browser.",
        f"The code is under the licence {citation['license']}. {OTHERS}",
    ]
    metadata = {
        "title": title or citation["title"],
        "resource_type": {"id": "dataset"},
        "publication_date": str(citation["date-released"]),
        "creators": authors,
        "description": "".join(f"<p>{escape(part)}</p>" for part in description),
        "version": version,
        "publisher": "Zenodo",
        "languages": [{"id": "eng"}],
        "rights": [
            {"id": citation["license"].lower()},
            {"title": {"en": "Text and weights of others: their own licences"}, "description": {"en": OTHERS}},
        ],
        "related_identifiers": [
            identifier(url) | {"relation_type": {"id": "references"}, "resource_type": {"id": "publication-article"}}
        ],
    }
    return {"access": {"record": "public", "files": "public"}, "files": {"enabled": True}, "metadata": metadata}


def authors_of(names: str) -> list[dict]:
    """Persons "Family, Given" and groups, with semicolons between them, as the record has them."""
    return [author(name.strip()) for name in names.split(";") if name.strip()]


def author(name: str) -> dict:
    family, comma, given = map(str.strip, name.partition(","))
    if not comma:
        return {"person_or_org": {"type": "organizational", "name": family}}
    if not family or not given or "," in given:
        raise ValueError(f"AUTHORS: {name!r:.100} is not `Family, Given`; write, for example, {EXAMPLE}")
    return {"person_or_org": {"type": "personal", "family_name": family, "given_name": given}}


def identifier(url: str) -> dict:
    if url.startswith(PAPERS):
        return {"identifier": f"arXiv:{url.removeprefix(PAPERS)}", "scheme": "arxiv"}
    return {"identifier": url, "scheme": "url"}


def deposit_files(archive: Path) -> tuple[Path, Path]:
    """The archive and the report beside it."""
    files = (archive, archive.with_name("report.html"))
    for path in files:
        if not path.is_file() or not path.stat().st_size:
            raise FileNotFoundError(f"{path}: no such file, or an empty one; `make reproduce` makes both")
    return files


def upload(files: tuple[Path, ...], server: Server, record: dict) -> str:
    """Bring the files into a draft; its address. A draft that an earlier run began is resumed.

    Which one that is stands beside the archive, one draft a server. Its metadata stay as they are: a person may have
    edited them since.
    """
    note = files[0].with_name(f"{files[0].name}.deposit.json")
    drafts = read_drafts(note)
    draft = drafts.get(server.url)
    if draft is None:
        draft, remarks = server.create(record)
        with atomic(note) as part:
            part.write_text(json.dumps(drafts | {server.url: draft}, indent=2) + "\n")
        if remarks:
            print(f"the server reports errors: {remarks}")
    elif not server.is_open(draft):
        raise LookupError(
            f"{note}: {server.url} has no open draft {draft}: it was published or deleted; "
            "delete this file to begin another"
        )
    for path in files:
        print(f"{'sent' if server.send(draft, path) else 'was there'}: {path.name}", flush=True)
    return f"{server.url}/uploads/{draft}"


def read_drafts(note: Path) -> dict[str, str]:
    """The draft begun on each server."""
    if not note.exists():
        return {}
    try:
        return {str(url): str(draft) for url, draft in json.loads(note.read_text()).items()}
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{note}: cannot be read; delete this file to begin another draft") from error


def own_texts(config: Mapping, files: list[str]) -> list[str]:
    """Texts of the user's own that an archive holds, whole or as numbers of their word pieces."""
    corpus, task = config.get("fetch_corpus", {}), config.get("measure_downstream", {})
    found = []
    if CORPUS in files and corpus.get("source") in ("dump", "text") and not is_url(corpus["location"]):
        found.append(f"{corpus['location']}, whole, in {CORPUS}")
    if TASK in files and task.get("task", "retrieval") != "retrieval":
        found.append(f"{task['location']}, texts and labels, in {TASK}")
    return found


def inside(contents: Contents, own: list[str]) -> list[str]:
    """What an archive holds, in a few lines."""
    files = files_below(contents.payload)
    stores = sum(name.endswith(".zarr.zip") for name in files)
    results = sum(name.startswith("results/") for name in files)
    data = json.loads((contents.payload / "provenance/data.json").read_text(encoding="utf-8"))
    names = {
        kind: data[kind].get("title") or data[kind].get("name", "") for kind in ("model", "corpus") if kind in data
    }
    lines = [
        f"inside: {counted(results, 'result')}, {stores} of them stores, with settings and code"
        + "".join(f"; {'text' if kind == 'corpus' else kind}: {name}" for kind, name in names.items())
    ]
    return lines + [f"inside: a text of your own: {text}" for text in own]


def repeated(archive: Path, **variables: str) -> str:
    """The command on the same archive and server, with these variables besides, those without a value left out."""
    server = os.environ.get("ZENODO_URL")
    words = [f"ZENODO_URL={shlex.quote(server)}"] if server else []
    named = {} if archive == ARCHIVE else {"ARCHIVE": str(archive)}
    if archive.parts[:1] == (RUNS,) and archive == Path(RUNS, archive.parts[1], ARCHIVE):
        named = {"RUN": archive.parts[1]}
    given = {name: value.replace("$", "$$") for name, value in (named | variables).items() if value}  # $ is make's own
    return " ".join([*words, "make deposit", *(f"{name}={shlex.quote(value)}" for name, value in given.items())])


def deposit(
    archive: Path,
    sending: bool,
    authors: str = "",
    title: str = "",
    texts: bool = False,
    pauses: tuple[float, ...] = PAUSES,
) -> None:
    """Show what a deposit holds; send it if asked to."""
    citation, creators = read_citation(CITATION), authors_of(authors)
    files = deposit_files(archive)
    with verified(archive) as contents:  # a damaged one must not become a record
        own = own_texts(contents.config, files_below(contents.payload))
        lines = inside(contents, own)
    record = draft_record(citation, creators, files[0].name, files[1].name, title)
    url = require_safe(os.environ.get("ZENODO_URL") or ZENODO)
    if sending:
        if not creators:
            raise ValueError(ASK_AUTHORS)
        if own and not texts:
            raise ValueError(f"{archive}: holds a text of your own: {own[0]}. {ASK_TEXTS}, or archive a run without it")
        agent = f"attnlimit/{citation['version']}"
        server = Server(url, os.environ.get("ZENODO_TOKEN", ""), agent, pauses)
        address = upload(files, server, record)
        print(f"draft: {address}\nNot published: look at it there and publish it yourself.")
        return
    print(json.dumps(record, indent=2, ensure_ascii=False))
    for path in files:
        print(f"file: {path}, {path.stat().st_size} bytes, sha256 {sha256_of(path)}")
    print(*lines, f"server: {url}", sep="\n")
    if not creators:
        print(ASK_AUTHORS)
    if own and not texts:
        print(f"It holds a text of your own. {ASK_TEXTS}.")
    needed = {"AUTHORS": authors or "…", "TITLE": title, "TEXTS": "yes" if texts else "…" if own else ""}
    print(f"Nothing was sent; `{repeated(archive, **needed, UPLOAD='yes')}` sends it.")


def main(arguments: list[str] | None = None, pauses: tuple[float, ...] = PAUSES) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.archive.deposit", description=__doc__, allow_abbrev=False)
    parser.add_argument("archive", type=Path, help="the archive; report.html is beside it")
    parser.add_argument("--upload", action="store_true", help="make a draft on ZENODO_URL with the token ZENODO_TOKEN")
    parser.add_argument("--authors", default="", help='"Family, Given; Family, Given; A Group"')
    parser.add_argument("--title", default="", help="of the deposit; that of the workflow if left out")
    parser.add_argument("--texts", action="store_true", help="a text of your own that is inside may be public")
    given = parser.parse_args(arguments)
    with one_line_errors():
        deposit(given.archive, given.upload, given.authors, given.title.strip(), given.texts, pauses)


if __name__ == "__main__":
    main()
