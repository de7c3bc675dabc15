"""What the env files and the lock say, and what scripts import."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
RULES = sorted(re.findall(r"^rule (\w+):", "\n".join(path.read_text() for path in ROOT.glob("rules/*.smk")), re.M))


@cache
def imports(path: Path) -> set[str]:
    """Top-level packages that a file imports, and those of the library modules it imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("attnlimit."):
            found |= imports(SCRIPTS / (node.module.replace(".", "/") + ".py"))
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
    return found - set(sys.stdlib_module_names)


@cache
def locked() -> dict[str, str]:
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line]
    return {normal(name): version for name, version in (line.split("==") for line in lines)}


def normal(name: str) -> str:
    """A package's name as PyPI compares it."""
    return name.lower().replace("_", "-")
