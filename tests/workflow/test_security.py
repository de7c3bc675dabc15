"""Nothing here opens a pickle, runs a stranger's code, hands a value to a shell, or asks the web unasked."""

import ast
import re
from pathlib import Path

import pytest

from support.configs import DEFAULT, changed, refusal

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("scripts/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("docs/*.py")])
RULES = [ROOT / "Snakefile", *sorted(ROOT.glob("rules/*.smk"))]
PICKLES = {"pickle", "cPickle", "dill", "joblib", "cloudpickle", "marshal", "shelve"}
NETWORK = {"requests", "urllib.request", "urllib3", "http.client", "httpx", "httpx2", "aiohttp", "socket", "ftplib"}
ON_THE_NETWORK = {"download.py", "hub.py", "retry.py", "invenio.py"}
BY_HAND = {"attnlimit.archive.deposit", "attnlimit.web.invenio"}  # commands of the user's own, no part of a run
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "torch.load", "yaml.load"}
FORBIDDEN_CALLS |= {"yaml.unsafe_load", "yaml.full_load", "numpy.fromfile"}


def name_of(node: ast.AST) -> str:
    """Dotted name of what is called; "" if it is no plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and name_of(node.value):
        return f"{name_of(node.value)}.{node.attr}"
    return ""


def imports(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def constant(call: ast.Call, keyword: str) -> object:
    """The value of a keyword; its absence is None, anything but a plain value is told as such."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value.value if isinstance(given.value, ast.Constant) else "computed"
    return None


def faults(code: str) -> list[str]:
    """What a file does that none may do."""
    tree = ast.parse(code)
    found = [f"imports {name}" for name in {name.split(".")[0] for name in imports(tree)} & PICKLES]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if name in FORBIDDEN_CALLS or last == "read_pickle":
            found.append(f"calls {name}")
        if constant(node, "shell") not in (None, False):
            found.append(f"{name} through a shell")
        if constant(node, "allow_pickle") not in (None, False):
            found.append(f"{name} allows pickles")
        trusted = constant(node, "trust_remote_code")
        if trusted not in (None, False) or (last == "from_pretrained" and trusted is None):
            found.append(f"{name} without trust_remote_code=False")
        if last in ("extract", "extractall", "unpack_archive") and constant(node, "filter") != "data":
            found.append(f"{name} without filter='data'")
    return found


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from joblib import load",
        "import dill as d",
        "torch.load('x')",
        "eval('1')",
        "exec(text)",
        "os.system(f'rm {x}')",
        "subprocess.run(command, shell=True)",
        "subprocess.run(command, shell=flag)",
        "AutoModel.from_pretrained(name)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "np.load(path, allow_pickle=True)",
        "pd.read_pickle(path)",
        "yaml.load(text)",
        "archive.extractall(folder)",
        "tarfile.open(path).extract(member, filter='fully_trusted')",
        "shutil.unpack_archive(path)",
    ],
)
def test_what_is_forbidden_is_found(code):
    assert len(faults(code)) == 1


def test_what_is_allowed_passes():
    allowed = ["subprocess.run([a, b])", "archive.extractall(x, filter='data')", "yaml.safe_load(text)"]
    allowed += ["np.load(path, allow_pickle=False)", "AutoModel.from_pretrained(x, trust_remote_code=False)"]
    assert faults("; ".join(allowed)) == []


def test_no_file_runs_what_it_did_not_write():
    assert len(SOURCES) > 100
    assert {str(path.relative_to(ROOT)): found for path in SOURCES if (found := faults(path.read_text()))} == {}


def test_a_rule_calls_a_script_and_never_a_shell():
    """So no value of the config can be read as a command."""
    rules = scripts = 0
    for path in RULES:
        text = path.read_text()
        assert not re.search(r"^\s*(shell|run|wrapper|notebook|cwl|template_engine)\s*:|\bshell\(", text, re.M), path
        rules += len(re.findall(r"^rule \w+:", text, re.M))
        scripts += len(re.findall(r'^    script:\n        "\.\./scripts/\w+\.py"$', text, re.M))
    assert scripts == rules - 1 > 30, "all has none"


def test_few_modules_know_the_web_and_no_rule_sends_anything():
    scripts = {path: imports(ast.parse(path.read_text())) for path in ROOT.glob("scripts/**/*.py")}
    assert {path.name for path, names in scripts.items() if names & NETWORK} == ON_THE_NETWORK
    assert {path.name for path, names in scripts.items() if names & BY_HAND} <= {"deposit.py"}


@pytest.mark.parametrize(
    ("section", "key", "source"),
    [
        ("fetch_corpus", "sha256", {"source": "dump", "location": "https://host/dump.xml.bz2"}),
        ("fetch_corpus", "revision", {"source": "hub", "location": "owner/name", "files": "*.parquet"}),
        ("fetch_model", "revision", {"source": "hub", "location": "owner/name", "weights_sha256": "a" * 64}),
        ("fetch_model", "weights_sha256", {"source": "hub", "location": "owner/name", "revision": "a" * 40}),
    ],
)
def test_what_comes_from_the_web_is_pinned(section, key, source):
    """A URL by its sha256; what is on the hub by its commit, at which the hub lists a checksum of every file."""
    assert not DEFAULT[section][key]
    wanted = {f"{section}.{name}": value for name, value in source.items()}
    assert refusal(changed(wanted)) == f"config: {section}.{key}: source {source['source']} needs it"
