"""A server on this machine that fails where it is asked to."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FaultyServer(ThreadingHTTPServer):
    """`faults` maps (method, end of the path) to [fault, times left]; `asked` holds every (method, path)."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]):
        super().__init__(("127.0.0.1", 0), handler)
        self.faults, self.asked = {}, []
        self.endpoint = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> "FaultyServer":
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.shutdown()
        self.server_close()

    def fail(self, method: str, ending: str, fault: str, times: int = 10**6) -> None:
        self.faults[method, ending] = [fault, times]

    def fault(self, method: str, path: str) -> str:
        """The fault of this request, or ""."""
        for (asked, ending), left in self.faults.items():
            if asked == method and path.endswith(ending) and left[1] > 0:
                left[1] -= 1
                return left[0]
        return ""

    def count(self, method: str, ending: str) -> int:
        return sum(asked == method and path.endswith(ending) for asked, path in self.asked)
