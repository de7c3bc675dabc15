"""A server on this machine that behaves like the Records API of InvenioRDM, and fails where it is asked to."""

import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from support.faulty import FaultyServer

TOKEN = "a-token-that-nobody-may-see"
DRAFT = re.compile(r"/api/records/(\d+)/draft")
FILES = re.compile(r"/api/records/(\d+)/draft/files")
FILE = re.compile(r"/api/records/(\d+)/draft/files/([^/]+)(/content|/commit)?")


def needs(*required: str, **properties: dict) -> dict:
    return {"type": "object", "required": list(required), "properties": properties}


def each(item: dict) -> dict:
    return {"type": "array", "minItems": 1, "items": item}


TEXT, ID = {"type": "string", "minLength": 3}, needs("id", id={"type": "string", "pattern": "^[a-z0-9.-]+$"})
PERSON = needs("type", "family_name", type={"const": "personal"}) | {"additionalProperties": TEXT}
GROUP = needs("type", "name", type={"const": "organizational"}) | {"additionalProperties": TEXT}
SCHEMA = needs(
    "title",
    "publication_date",
    "resource_type",
    "creators",
    title=TEXT,
    description=TEXT,
    version=TEXT,
    publisher=TEXT,
    publication_date={"type": "string", "pattern": r"^\d{4}(-\d\d(-\d\d)?)?$"},
    resource_type=needs("id", id={"enum": ["dataset", "software", "publication-article"]}),
    creators=each(needs("person_or_org", person_or_org={"oneOf": [PERSON, GROUP]})),
    languages=each(needs("id", id={"type": "string", "pattern": "^[a-z]{3}$"})),
    rights=each({"anyOf": [ID, needs("title", title=needs("en"), description=needs("en"))]}),
    related_identifiers=each(
        needs(
            "identifier",
            "scheme",
            "relation_type",
            identifier=TEXT,
            scheme={"enum": ["arxiv", "doi", "url"]},
            relation_type=needs("id", id={"enum": ["references", "issupplementto", "isderivedfrom"]}),
            resource_type=ID,
        )
    ),
) | {"additionalProperties": False}


class Server(FaultyServer):
    """`drafts` maps an id to its record, `files` an id to what is uploaded: by name, the bytes and whether committed.

    Faults: a status; `cut`, a connection that breaks in the middle; `lost`, an answer that never comes; `corrupt`, one
    bit; `forgets`, bytes that are taken and dropped; `page`; an address, to be redirected there.
    """

    def __init__(self):
        super().__init__(Handler)
        self.drafts, self.files, self.tokens, self.agents = {}, {}, set(), set()

    def sent(self) -> list[str]:
        """Names of the files whose bytes came, in order."""
        paths = [path for method, path in self.asked if method == "PUT"]
        return [FILE.fullmatch(path).group(2) for path in paths]

    def stored(self, draft: str = "1") -> dict[str, bytes]:
        """What is committed."""
        return {name: content for name, (content, committed) in self.files[draft].items() if committed}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def do_GET(self) -> None:  # noqa: N802
        self.answer()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def answer(self) -> None:
        server, path = self.server, unquote(self.path)
        server.asked.append((self.command, path))
        server.tokens.add(self.headers.get("Authorization"))
        server.agents.add(self.headers.get("User-Agent"))
        fault = server.fault(self.command, path)
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length // 2 if fault == "cut" else length)
        if fault == "cut":
            self.close_connection = True
            return
        if fault.isdigit():
            status, content = int(fault), {"status": int(fault), "message": f"no, {self.headers['Authorization']}"}
        elif fault.startswith("http"):
            status, content = 307, {}
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            status, content = 403, {"status": 403, "message": "Permission denied."}
        else:
            status, content = self.act(path, body, fault)
        if fault == "lost":
            self.close_connection = True
            return
        self.send(status, b"<html>Log in" if fault == "page" else json.dumps(content).encode(), fault)

    def send(self, status: int, content: bytes, fault: str) -> None:
        self.send_response(status)
        if fault.startswith("http"):
            self.send_header("Location", fault + self.path)
        self.send_header("Content-Length", str(len(content) if status != 204 else 0))
        self.end_headers()
        self.wfile.write(content if status != 204 else b"")

    def act(self, path: str, body: bytes, fault: str) -> tuple[int, dict]:
        """Status and content of the answer."""
        drafts, files = self.server.drafts, self.server.files
        if (self.command, path) == ("POST", "/api/records"):
            draft, record = str(len(drafts) + 1), json.loads(body)
            drafts[draft], files[draft] = record, {}
            wrong = Draft202012Validator(SCHEMA).iter_errors(record["metadata"])
            errors = [{"field": error.json_path, "messages": [error.message]} for error in wrong]
            return 201, {"id": draft, "is_published": False} | ({"errors": errors} if errors else {})
        found = DRAFT.fullmatch(path) or FILES.fullmatch(path) or FILE.fullmatch(path)
        if not found or found.group(1) not in drafts:
            return 404, {"status": 404, "message": "The persistent identifier does not exist."}
        held = files[found.group(1)]
        if found.re is DRAFT:
            return 200, {"id": found.group(1), "is_published": drafts[found.group(1)].get("is_published", False)}
        if found.re is FILES:
            return self.list(held, json.loads(body) if body else [])
        return self.change(held, *found.groups()[1:], body, fault)

    def list(self, held: dict, announced: list[dict]) -> tuple[int, dict]:
        names = [item["key"] for item in announced]
        if held.keys() & set(names):
            return 400, {"status": 400, "message": f"File with key {names} already exists."}
        held |= {name: (None, False) for name in names}
        return 201 if names else 200, {"entries": [described(name, *held[name]) for name in held]}

    def change(self, held: dict, name: str, step: str | None, body: bytes, fault: str) -> tuple[int, dict]:
        content, committed = held.get(name, (None, False))
        if name not in held or (step == "/commit" and content is None):
            return 404, {"status": 404, "message": f"No file {name}."}
        match step:
            case None:
                del held[name]
                return 204, {}
            case "/content" if content is not None or self.headers["Content-Type"] != "application/octet-stream":
                return 400, {"status": 400, "message": "Already there, or of another kind."}
            case "/content":
                flipped = bytes([body[0] ^ 1]) + body[1:]
                held[name] = ({"corrupt": flipped, "forgets": None}.get(fault, body), False)
            case "/commit":
                held[name] = (content, True)
        return 200, described(name, *held[name])


def described(name: str, content: bytes | None, committed: bool) -> dict:
    """A file as the API lists it: size and checksum only when it is committed."""
    if not committed:
        return {"key": name, "status": "pending"}
    md5 = hashlib.md5(content).hexdigest()
    return {"key": name, "status": "completed", "size": float(len(content)), "checksum": f"md5:{md5}"}
