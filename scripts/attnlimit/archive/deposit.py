"""The deposit of a run: an archive and its report, as a draft on Zenodo that a person looks at and publishes.

As a program it shows what would be sent. Only --upload sends it.
"""

import argparse
import json
import os
from html import escape
from pathlib import Path

from attnlimit.archive.bundle import verified
from attnlimit.archive.crate import read_citation
from attnlimit.base.files import atomic, sha256_of
from attnlimit.base.log import one_line_errors
from attnlimit.sources.web.invenio import Server, require_safe
from attnlimit.sources.web.retry import PAUSES

CITATION = Path(__file__).parents[3] / "CITATION.cff"
ZENODO = "https://zenodo.org"
PAPERS = "https://arxiv.org/abs/"
# Only the code's licence is the same for every model and corpus that can be run.
OTHERS = (
    "Text and weights of others that the archive holds, whole or in part, stay under the licences of their authors. "
    "In a run on the embedded data these are articles of English Wikipedia (CC BY-SA and GFDL, by the authors of each "
    "article) and projections of all-MiniLM-L6-v2 (Apache-2.0); the archive says which text and which model it had."
)


def draft_record(citation: dict, archive: str, report: str) -> dict:
    """The record of a deposit, in the shape of the Records API of InvenioRDM."""
    paper = citation["preferred-citation"]
    title, version, url = citation["title"], str(citation["version"]), paper["url"]
    description = [
        f"Results of a run of the Snakemake workflow attnlimit {version}, which measures the claims of the paper "
        f"“{paper['title']}” ({url}).",
        f"{archive} holds the run; {report} is its report, to be opened in a browser.",
        f"The code is under the licence {citation['license']}. {OTHERS}",
    ]
    metadata = {
        "title": title,
        "resource_type": {"id": "dataset"},
        "publication_date": str(citation["date-released"]),
        "creators": [creator(author) for author in citation["authors"]],
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


def creator(author: dict) -> dict:
    """A person or a group of CITATION.cff."""
    if "name" in author:
        return {"person_or_org": {"type": "organizational", "name": author["name"]}}
    names = {"family_name": author["family-names"], "given_name": author.get("given-names", "")}
    return {"person_or_org": {"type": "personal"} | names}


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
            print(f"the server finds wrong: {remarks}")
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


def deposit(archive: Path, sending: bool, pauses: tuple[float, ...] = PAUSES) -> None:
    """Show what a deposit holds; send it if asked to."""
    citation = read_citation(CITATION)
    files = deposit_files(archive)
    with verified(archive):  # a damaged one must not become a record
        pass
    record = draft_record(citation, *(path.name for path in files))
    url = require_safe(os.environ.get("ZENODO_URL") or ZENODO)
    if sending:
        agent = f"attnlimit/{citation['version']}"
        server = Server(url, os.environ.get("ZENODO_TOKEN", ""), agent, pauses)
        address = upload(files, server, record)
        print(f"draft: {address}\nNot published: look at it there and publish it yourself.")
        return
    print(json.dumps(record, indent=2, ensure_ascii=False))
    for path in files:
        print(f"file: {path}, {path.stat().st_size} bytes, sha256 {sha256_of(path)}")
    print(f"server: {url}\nNothing was sent; `make deposit UPLOAD=yes` (--upload) sends it.")


def main(arguments: list[str] | None = None, pauses: tuple[float, ...] = PAUSES) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.archive.deposit", description=__doc__, allow_abbrev=False)
    parser.add_argument("archive", type=Path, help="the archive; report.html is beside it")
    parser.add_argument("--upload", action="store_true", help="make a draft on ZENODO_URL with the token ZENODO_TOKEN")
    given = parser.parse_args(arguments)
    with one_line_errors():
        deposit(given.archive, given.upload, pauses)


if __name__ == "__main__":
    main()
