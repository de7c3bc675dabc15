"""Put RO-Crate's JSON-LD context into the cache of roc-validator, which then needs no network.

Run by the Python of an environment with roc-validator and rocrate 0.13, whose wheel carries the context of version 1.1.
"""

import io
import sys
from importlib.util import find_spec
from pathlib import Path

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


class Carried(HTTPAdapter):
    """Answers with the file of the package."""

    def send(self, request, **options):
        content = (Path(find_spec("rocrate").origin).parent / "data/ro-crate.jsonld").read_bytes()
        kind = {"Content-Type": "application/ld+json"}
        body = HTTPResponse(io.BytesIO(content), kind, 200, preload_content=False, request_url=request.url)
        return self.build_response(request, body)


if __name__ == "__main__":
    with CachedSession(cache_name=sys.argv[1], expire_after=-1) as session:
        session.mount(CONTEXT, Carried())
        session.get(CONTEXT)
