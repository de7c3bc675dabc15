"""What the env files and the locks say, and what scripts import."""

from functools import cache
from pathlib import Path

from attnlimit.cli.envs import imports as imports_in
from attnlimit.cli.envs import locked as locked_in

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
RULES = sorted(path.stem for path in SCRIPTS.glob("*.py"))


def imports(path: Path) -> set[str]:
    """Top-level packages that a script or a module of the library imports, through the library too."""
    return imports_in(path, SCRIPTS)


@cache
def locked() -> dict[str, str]:
    return locked_in(ROOT)
