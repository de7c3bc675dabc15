"""README.md and docs/ as a reader or a program takes them: programs of docs/, links, code."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from support.envs import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def program(name: str) -> ModuleType:
    """A program of docs/ as a module: it lies in no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_of(text: str) -> str:
    """What stands in code blocks, in indented lines and between backticks."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    indented = re.findall(r"^ {4}\S.*$", text, re.M)
    return "\n".join([*fenced, *indented, *re.findall(r"`([^`\n]+)`", text)])


def prose_of(text: str) -> str:
    """The rest."""
    text = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^ {4}\S.*$", "", text, flags=re.M))


def links(text: str) -> list[str]:
    """Targets of links and images within the project."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose_of(text).replace("\n", " ")) + re.findall(r'src="([^"]+)"', text)
    return [target for target in targets if not re.match(r"\w+:", target)]


def anchors(path: Path) -> set[str]:
    """Of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
