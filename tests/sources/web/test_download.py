"""A download is whole and checked, or absent; what came before a break is not fetched again."""

import hashlib
import resource
import socket
from http.server import BaseHTTPRequestHandler

import pytest

from attnlimit.sources.web.download import download
from support.faulty import FaultyServer

BODY = bytes(range(256)) * 4096  # 1 MB
SHA256 = hashlib.sha256(BODY).hexdigest()
NO_PAUSE = (0, 0)


class Handler(BaseHTTPRequestHandler):
    """Serves BODY; `server.faults` holds what goes wrong, request by request, then all is well."""

    def do_GET(self):  # noqa: N802
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault.isdigit():
            return self.send_error(int(fault))
        start = int(wanted[len("bytes=") : -1]) if wanted and fault != "no range" else 0
        if start >= len(BODY):
            return self.send_error(416)
        body = BODY[start:]
        if fault == "corrupt":
            body = body[:1000] + bytes([body[1000] ^ 1]) + body[1001:]
        self.send_response(206 if start else 200)
        if start:
            shown = 0 if fault == "other range" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(BODY) - 1}/{len(BODY)}")
        if fault != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault in ("cut", "no length") else body)
        self.close_connection = True
        return None

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultyServer(Handler) as running:
        running.faults, running.url = [], f"{running.endpoint}/wiki/dump.xml.bz2"
        yield running


@pytest.fixture
def path(tmp_path):
    return tmp_path / "downloads" / "dump.xml.bz2"


def part(path):
    return path.with_name(f"dump.xml.bz2.{SHA256[:12]}.part")


def require_whole(path):
    assert path.read_bytes() == BODY
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_fetched_once(server, path):
    download(server.url, path, SHA256)
    download(server.url, path, SHA256)
    require_whole(path)
    assert server.asked == [None]


@pytest.mark.parametrize("faults", [["500"], ["503", "502"], ["429"]])
def test_a_busy_server_is_asked_again(server, path, faults):
    server.faults += faults
    download(server.url, path, SHA256, NO_PAUSE)
    require_whole(path)


def test_a_cut_connection_is_taken_up_where_it_broke(server, path):
    # More faults than tries: every byte that comes gives new ones.
    server.faults += ["cut", "cut", "500", "cut", "500", "cut"]
    download(server.url, path, SHA256, NO_PAUSE)
    require_whole(path)
    half, quarter, eighth = (len(BODY) - len(BODY) // share for share in (2, 4, 8))
    assert server.asked[:5] == [None, f"bytes={half}-", f"bytes={quarter}-", f"bytes={quarter}-", f"bytes={eighth}-"]


def test_a_part_of_an_earlier_run_is_continued(server, path):
    server.faults += ["cut"]
    with pytest.raises(
        ConnectionError, match=f"{server.url}: the connection was cut; run again, to resume at byte 524288"
    ):
        download(server.url, path, SHA256, pauses=())
    assert not path.exists() and part(path).read_bytes() == BODY[: len(BODY) // 2]
    download(server.url, path, SHA256)
    require_whole(path)
    assert server.asked == [None, "bytes=524288-"]


def test_a_finished_part_only_gets_its_name(server, path):
    path.parent.mkdir()
    part(path).write_bytes(BODY)
    download(server.url, path, SHA256)
    require_whole(path)


@pytest.mark.parametrize("fault", ["no range", "other range"])
def test_a_server_that_cannot_continue_starts_afresh(server, path, fault):
    server.faults += ["cut", fault]
    download(server.url, path, SHA256, NO_PAUSE)
    require_whole(path)


@pytest.mark.parametrize("fault", ["corrupt", "no length"])
def test_wrong_bytes_are_deleted_and_said(server, path, fault):
    """A flipped bit in a file of the right size; a short body that gives no length."""
    server.faults += [fault]
    with pytest.raises(
        ValueError, match=rf"sha256 is \w+, fetch_corpus.sha256 is {SHA256}; the download is deleted: run again"
    ):
        download(server.url, path, SHA256, NO_PAUSE)
    assert list(path.parent.iterdir()) == []
    download(server.url, path, SHA256)
    require_whole(path)


def test_a_part_with_too_much_is_deleted(server, path):
    path.parent.mkdir()
    part(path).write_bytes(BODY + b"more")
    with pytest.raises(ValueError, match="the download is deleted"):
        download(server.url, path, SHA256)
    assert list(path.parent.iterdir()) == []


def test_an_older_file_stays_until_the_new_one_is_whole(server, path):
    path.parent.mkdir()
    path.write_bytes(b"older")
    server.faults += ["404"]
    with pytest.raises(FileNotFoundError):
        download(server.url, path, SHA256)
    assert path.read_bytes() == b"older"
    download(server.url, path, SHA256)
    require_whole(path)


@pytest.mark.parametrize("status", ["404", "403"])
def test_a_refusal_is_final_and_says_what_to_do(server, path, status):
    server.faults += [status, status]
    with pytest.raises(
        FileNotFoundError, match=f"answers {status} .*check fetch_corpus.location, or download it elsewhere"
    ):
        download(server.url, path, SHA256, NO_PAUSE)
    assert len(server.asked) == 1 and not path.exists()


def test_a_server_that_stays_broken_is_given_up(server, path):
    server.faults += ["500"] * 9
    with pytest.raises(
        ConnectionError, match="answers 500 .*download it elsewhere and put the path .* in fetch_corpus.location"
    ):
        download(server.url, path, SHA256, NO_PAUSE)
    assert len(server.asked) == 3 and not path.exists()


def test_offline_says_what_to_do(path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/dump.xml"  # bound, but nobody listens
        with pytest.raises(ConnectionError) as error:
            download(url, path, SHA256, NO_PAUSE)
    assert "no connection to 127.0.0.1" in str(error.value)
    assert "download it elsewhere and put the path of the file in fetch_corpus.location" in str(error.value)
    assert "\n" not in str(error.value) and not path.exists()


def test_downloads_are_for_nobody_else(server, path):
    download(server.url, path, SHA256)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_full_disk_is_told_and_the_part_is_kept(server, path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(BODY) // 2, hard))
    try:
        with pytest.raises(OSError) as error:
            download(server.url, path, SHA256, pauses=())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(error.value).startswith(f"{part(path)}: cannot be written (file too large); ")
    assert 0 < part(path).stat().st_size <= len(BODY) // 2
    download(server.url, path, SHA256, pauses=())
    require_whole(path)
    assert server.asked[-1] is not None, "taken up where it broke"
