"""The command against a server on this machine: nothing leaves unasked, and a broken upload is resumed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from attnlimit.archive import deposit
from attnlimit.archive.crate import read_citation
from attnlimit.archive.deposit import CITATION, authors_of, draft_record, main, own_texts, repeated
from attnlimit.base.files import sha256_of
from attnlimit.sources.web.retry import PIECE
from support.tiny_run import CONFIG, RATES, make_archive, make_run
from support.zenodo_server import SCHEMA, TOKEN, Server

SCRIPTS = Path(__file__).parents[2] / "scripts"
NO_PAUSE = (0, 0)
ARCHIVE, REPORT = "attnlimit.tar.zst", "report.html"
AUTHORS = "Peyré, Gabriel; The Lab"
WHO = authors_of(AUTHORS)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("ZENODO_TOKEN", TOKEN)
    with Server() as running:
        monkeypatch.setenv("ZENODO_URL", running.endpoint)
        yield running


@pytest.fixture
def archive(tmp_path, tmp_path_factory, monkeypatch) -> Path:
    folder = tmp_path_factory.mktemp("run")
    make_run(folder)
    monkeypatch.chdir(folder)
    make_archive(tmp_path / ARCHIVE)
    (tmp_path / REPORT).write_text("<html>Report</html>")
    assert (tmp_path / ARCHIVE).stat().st_size > 3 * PIECE
    return tmp_path / ARCHIVE


@pytest.fixture
def run(archive, capsys):
    """Run the command; its exit code, what it printed and its errors. The token is in none of it."""

    def command(*arguments: str, authors: str = AUTHORS) -> tuple[int, str, str]:
        code = 0
        try:
            main([str(archive), "--authors", authors, *arguments], NO_PAUSE)
        except SystemExit as ended:
            code = 1
            print(ended.code, file=sys.stderr)
        said = capsys.readouterr()
        shown = said.out + said.err + "".join(path.read_text() for path in archive.parent.glob("*.json"))
        assert TOKEN not in shown
        return code, said.out, said.err

    command.archive = archive
    return command


def require_whole(server: Server, archive: Path, draft: str = "1") -> None:
    assert server.stored(draft) == {path.name: path.read_bytes() for path in (archive, archive.with_name(REPORT))}


def require_error(answer: tuple[int, str, str], *parts: str) -> None:
    """It failed, and the last line on stderr, after those on tries, names what it must."""
    code, _, errors = answer
    assert code == 1
    assert "Traceback" not in errors
    for part in parts:
        assert part in errors.splitlines()[-1]


def test_a_dry_run_shows_everything_and_asks_nobody(server, archive, run):
    code, shown, errors = run()
    assert (code, errors) == (0, "")
    record, end = json.JSONDecoder().raw_decode(shown)
    assert record == draft_record(read_citation(CITATION), WHO, ARCHIVE, REPORT)
    for path in (archive, archive.with_name(REPORT)):
        assert f"{path}, {path.stat().st_size} bytes, sha256 {sha256_of(path)}" in shown[end:]
    assert f"server: {server.endpoint}" in shown and "inside: 3 results, 2 of them stores" in shown
    again = f"ZENODO_URL={server.endpoint} make deposit ARCHIVE={archive} AUTHORS='{AUTHORS}' UPLOAD=yes"
    assert f"Nothing was sent; `{again}` sends it." in shown
    assert server.asked == []
    assert {path.name for path in archive.parent.iterdir()} == {ARCHIVE, REPORT}


def test_the_metadata_are_what_the_api_takes():
    metadata = draft_record(read_citation(CITATION), WHO, ARCHIVE, REPORT)["metadata"]
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(metadata)] == []
    assert metadata["related_identifiers"][0]["identifier"] == "arXiv:2512.10656"
    assert metadata["rights"][0] == {"id": "mit"}
    assert ARCHIVE in metadata["description"] and "CC BY-SA" in metadata["description"]


def test_authors_are_persons_and_groups_and_other_papers_are_described_too():
    citation = read_citation(CITATION) | {"preferred-citation": {"title": "A < B", "url": "https://a.org/b"}}
    metadata = draft_record(citation, WHO, ARCHIVE, REPORT)["metadata"]
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(metadata)] == []
    assert metadata["creators"] == [
        {"person_or_org": {"type": "personal", "family_name": "Peyré", "given_name": "Gabriel"}},
        {"person_or_org": {"type": "organizational", "name": "The Lab"}},
    ]
    assert metadata["related_identifiers"][0]["identifier"] == "https://a.org/b"
    assert "A &lt; B" in metadata["description"]


@pytest.mark.parametrize("names", ["", " ; ", "Peyré, ", ", Gabriel", "Peyré, Gabriel, Bohbot, Léa"])
def test_whose_results_they_are_is_asked_for(server, run, names):
    require_error(run("--upload", authors=names), "AUTHORS", 'AUTHORS="Curie, Marie; Solvay Institute"')
    assert server.asked == []


def test_a_text_of_ones_own_is_named_and_not_sent_without_a_yes(server, run, monkeypatch):
    own = CONFIG | {"fetch_corpus": {"source": "text", "location": "my_texts"}}
    monkeypatch.setattr("support.tiny_run.CONFIG", own)
    monkeypatch.setattr(deposit, "CORPUS", RATES)  # the small run has no corpus: any result of it stands for one
    make_archive(run.archive)
    _, shown, _ = run()
    assert "inside: a text of your own: my_texts, whole, in results/rates.csv" in shown
    assert shown.endswith("TEXTS='…' UPLOAD=yes` sends it.\n"), "consent is not given for the user"
    require_error(run("--upload"), "holds a text of your own: my_texts", "TEXTS=yes")
    assert server.asked == []
    assert run("--upload", "--texts")[0] == 0
    require_whole(server, run.archive)


@pytest.mark.parametrize(
    ("section", "own"),
    [
        ({"source": "text", "location": "my_texts"}, True),
        ({"source": "dump", "location": "my.xml.bz2"}, True),
        ({"source": "dump", "location": "https://dumps.wikimedia.org/a.xml.bz2"}, False),
        ({"source": "excerpt", "location": ""}, False),
        ({"source": "package", "location": "a==1"}, False),
    ],
)
def test_which_texts_are_ones_own(section, own):
    config, files = {"fetch_corpus": section}, [deposit.CORPUS, deposit.TASK]
    assert bool(own_texts(config, files)) is own
    assert own_texts(config, []) == []  # a run that made no use of it
    task = config | {"measure_downstream": {"task": "labels", "location": "my.jsonl"}}
    assert own_texts(task, files)[-1].startswith("my.jsonl")


@pytest.mark.parametrize(
    ("archive", "command"),
    [
        ("results/attnlimit.tar.zst", "make deposit UPLOAD=yes"),
        ("runs/my/results/attnlimit.tar.zst", "make deposit RUN=my UPLOAD=yes"),
        ("other place/a.tar.zst", "make deposit ARCHIVE='other place/a.tar.zst' UPLOAD=yes"),
    ],
)
def test_the_command_that_sends_names_the_same_run(archive, command):
    assert repeated(Path(archive), TITLE="", UPLOAD="yes") == command


def test_a_title_of_ones_own_is_sent_and_repeated(server, run):
    title = "Heads of two encoders: $n$"
    code, shown, _ = run("--title", title)
    assert code == 0 and " TITLE='Heads of two encoders: $$n$$' UPLOAD=yes` sends it." in shown
    assert run("--title", title, "--upload")[0] == 0
    assert server.drafts["1"]["metadata"]["title"] == title


def test_an_upload_ends_as_a_draft_that_nobody_has_published(server, archive, run):
    code, shown, errors = run("--upload")
    assert (code, errors) == (0, "")
    assert f"draft: {server.endpoint}/uploads/1\nNot published" in shown
    assert "reports errors" not in shown
    require_whole(server, archive)
    assert server.drafts["1"] == draft_record(read_citation(CITATION), WHO, ARCHIVE, REPORT)
    assert not any("publish" in path for _, path in server.asked)
    assert server.tokens == {f"Bearer {TOKEN}"} and server.agents == {f"attnlimit/{read_citation(CITATION)['version']}"}


def test_a_password_kept_for_the_server_is_not_sent(server, archive, run, tmp_path, monkeypatch):
    """The client would take it from there before the token."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert run("--upload")[0] == 0
    assert server.tokens == {f"Bearer {TOKEN}"}


def test_a_second_upload_sends_nothing(server, archive, run):
    run("--upload")
    code, shown, _ = run("--upload")
    assert code == 0 and f"was there: {ARCHIVE}" in shown
    assert len(server.drafts) == 1 and server.sent() == [ARCHIVE, REPORT]


def test_a_changed_file_replaces_the_one_in_the_draft(server, archive, run):
    run("--upload")
    make_archive(archive, embeddings=False)
    assert run("--upload")[0] == 0
    require_whole(server, archive)
    assert server.sent() == [ARCHIVE, REPORT, ARCHIVE]


def test_a_damaged_archive_is_not_sent(server, archive, run):
    archive.write_bytes(archive.read_bytes()[:-100])
    require_error(run("--upload"), "ValueError", f"{archive}: truncated")
    assert server.asked == []


@pytest.mark.parametrize("status", ["401", "403"])
def test_a_refused_token_is_told_at_once(server, archive, run, status):
    """Even by a server that repeats the token."""
    server.fail("POST", "/api/records", status)
    answer = run("--upload")
    require_error(answer, "PermissionError", f"answers {status}", "ZENODO_TOKEN is refused", "deposit:write")
    assert len(answer[2].splitlines()) == 1 and len(server.asked) == 1
    assert {path.name for path in archive.parent.iterdir()} == {ARCHIVE, REPORT}


def test_a_wrong_token_opens_nothing(server, run, monkeypatch):
    monkeypatch.setenv("ZENODO_TOKEN", "another")
    require_error(run("--upload"), "403 Permission denied.", "/account/settings/applications")
    assert server.drafts == {}


@pytest.mark.parametrize("token", ["", "two words", f"{TOKEN}\n"])
def test_a_token_that_is_none_is_not_sent(server, run, monkeypatch, token):
    monkeypatch.setenv("ZENODO_TOKEN", token)
    require_error(run("--upload"), "ZENODO_TOKEN")
    assert server.asked == []


@pytest.mark.parametrize(
    ("method", "ending", "fault"),
    [
        ("PUT", f"{REPORT}/content", "cut"),
        ("PUT", f"{REPORT}/content", "lost"),
        ("PUT", f"{REPORT}/content", "forgets"),
        ("PUT", f"{REPORT}/content", "503"),
        ("POST", f"{REPORT}/commit", "500"),
        ("POST", "/draft/files", "lost"),
    ],
)
def test_a_broken_upload_is_resumed(server, archive, run, method, ending, fault):
    """The second run, in which the fault passes, sends only what the first could not."""
    server.fail(method, ending, fault)
    failure = run("--upload")
    if ending == "/draft/files":
        require_error(failure, ARCHIVE, "the connection was cut", "run again")
        assert server.sent() == []
    else:
        require_error(failure, REPORT, "run again, to resume where it stopped")
        assert list(server.stored()) == [ARCHIVE]
    server.fail(method, ending, fault, times=1)
    server.asked.clear()
    assert run("--upload")[0] == 0
    require_whole(server, archive)
    assert len(server.drafts) == 1
    assert (ARCHIVE in server.sent()) == (ending == "/draft/files")


def test_a_large_file_cut_in_the_middle_is_sent_again_from_its_start(server, archive, run):
    server.fail("PUT", f"{ARCHIVE}/content", "cut", times=2)
    assert run("--upload")[0] == 0
    require_whole(server, archive)
    assert server.sent() == [ARCHIVE, ARCHIVE, ARCHIVE, REPORT]


@pytest.mark.parametrize(("method", "ending"), [("POST", "/api/records"), ("GET", "/files"), ("POST", "/commit")])
def test_a_busy_server_is_asked_again(server, archive, run, method, ending):
    server.fail(method, ending, "429", times=2)
    assert run("--upload")[0] == 0
    require_whole(server, archive)
    assert len(server.drafts) == 1 and server.sent() == [ARCHIVE, REPORT]


def test_a_server_that_stays_busy_is_given_up(server, run):
    server.fail("POST", "/api/records", "429")
    require_error(run("--upload"), "answers 429 Too Many Requests", "run again")
    assert len(server.asked) == 1 + len(NO_PAUSE)


def test_a_file_that_arrived_otherwise_is_removed_there(server, archive, run):
    server.fail("PUT", f"{ARCHIVE}/content", "corrupt", times=1)
    require_error(run("--upload"), ARCHIVE, "but the server has md5:", "removed there: run again")
    assert server.files["1"] == {}
    assert run("--upload")[0] == 0
    require_whole(server, archive)


def test_a_draft_that_is_gone_is_told_and_not_replaced_unasked(server, archive, run):
    run("--upload")
    del server.drafts["1"]
    note = archive.with_name(f"{ARCHIVE}.deposit.json")
    require_error(run("--upload"), str(note), "no open draft 1", "delete this file")
    note.unlink()
    assert run("--upload")[0] == 0


def test_a_published_record_is_left_alone(server, run):
    run("--upload")
    server.drafts["1"]["is_published"] = True
    server.asked.clear()
    require_error(run("--upload"), "no open draft 1")
    assert server.asked == [("GET", "/api/records/1/draft")]


def test_each_server_has_its_own_draft(server, archive, run, monkeypatch):
    run("--upload")
    with Server() as other:
        monkeypatch.setenv("ZENODO_URL", other.endpoint + "/")
        assert run("--upload")[0] == 0
        require_whole(other, archive)
        note = json.loads(archive.with_name(f"{ARCHIVE}.deposit.json").read_text())
        assert note == {server.endpoint: "1", other.endpoint: "1"}


def test_a_note_that_cannot_be_read_is_told(server, archive, run):
    archive.with_name(f"{ARCHIVE}.deposit.json").write_text("[")
    require_error(run("--upload"), f"{ARCHIVE}.deposit.json: cannot be read; delete this file")


def test_the_token_does_not_follow_a_redirect(server, run):
    with Server() as other:
        server.fail("POST", "/api/records", other.endpoint)
        require_error(run("--upload"), "redirects to 127.0.0.1", "the token is not sent there")
        assert other.asked == []


@pytest.mark.parametrize("url", ["http://zenodo.org", "zenodo.org", "https://me:secret@zenodo.org", "ftp://127.0.0.1"])
def test_an_address_that_is_not_safe_is_refused(server, run, monkeypatch, url):
    monkeypatch.setenv("ZENODO_URL", url)
    answer = run("--upload")
    require_error(answer, "ZENODO_URL")
    assert "secret" not in answer[2]


@pytest.mark.parametrize(
    ("fault", "part"), [("page", "no answer of the Records API"), ("400", "answers 400 no, Bearer …"), ("413", "413")]
)
def test_what_the_server_will_not_take_is_told(server, run, fault, part):
    server.fail("PUT", f"{ARCHIVE}/content", fault)
    require_error(run("--upload"), f"{ARCHIVE}/content", part)
    assert server.sent() == [ARCHIVE]


def test_what_the_server_finds_wrong_with_the_metadata_is_shown(server, run, monkeypatch):
    monkeypatch.setitem(SCHEMA["properties"], "title", {"maxLength": 3})
    code, shown, _ = run("--upload")
    assert code == 0 and "the server reports errors" in shown and "$.title" in shown


@pytest.mark.parametrize("name", [ARCHIVE, REPORT])
def test_a_missing_or_empty_file_is_told_before_anything_is_sent(server, archive, run, name):
    archive.with_name(name).write_bytes(b"")
    require_error(run("--upload"), f"{name}: no such file, or an empty one")
    archive.with_name(name).unlink()
    require_error(run("--upload"), f"{name}: no such file, or an empty one")
    assert server.asked == []


def test_the_command_ends_with_a_line_and_a_code(server, archive):
    """As it is run: the flag must be spelled out, and an error is one line."""
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS), "ZENODO_TOKEN": "another"}
    command = [sys.executable, "-m", "attnlimit.archive.deposit", str(archive)]
    with pytest.raises(SystemExit, match="2"):
        main([str(archive), "--up"])
    assert server.asked == []
    refused = subprocess.run(
        [*command, "--authors", AUTHORS, "--upload"], env=environment, capture_output=True, text=True
    )
    assert refused.returncode == 1 and refused.stdout == ""
    assert refused.stderr.startswith("PermissionError: ") and refused.stderr.count("\n") == 1
