"""The hash of what a job depends on: its script, the library modules that it imports, and its env file.

Snakemake itself looks at a script's date and never at an imported module. Standard library only: the host that plans
the jobs may have nothing else.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

# What a job says while it works, and the words that describe a store's variables: they change no number.
UNHASHED = {"attnlimit/base/log.py", "attnlimit/base/descriptions.py"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_hash(script: Path, env: Path) -> str:
    """Of the statements of a script and of every library module behind it, and of the env file; dates do not enter.

    Module names are relative to the script's folder, so that a clone elsewhere has the same hash.
    """
    folder, followed, queue = script.parent, {}, [script]
    while queue:
        path = queue.pop()
        name = path.relative_to(folder).as_posix()
        if name not in followed and name not in UNHASHED:
            followed[name], modules = parsed(path, folder)
            queue += modules
    followed["env"] = env.read_text(encoding="utf-8")
    return hashlib.sha256(repr(sorted(followed.items())).encode()).hexdigest()[:16]


def texts_hash(*folders: Path) -> str:
    """Of the names and contents of the files in these folders: texts that a job puts into a page."""
    files = sorted((path for folder in folders for path in folder.iterdir()), key=lambda path: path.name)
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in files]
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


@cache
def parsed(path: Path, folder: Path) -> tuple[str, tuple[Path, ...]]:
    """The statements of a file without comments and docstrings, and the library modules that it imports.

    Only `from attnlimit.room.module import name` can be followed; any other import of the library is refused.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules += [module_file(name, f"{path}, line {node.lineno}", folder) for name in library_modules(node)]
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree), tuple(modules)


def library_modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Names of the library's modules in an import statement; "" for one that cannot be followed."""
    if isinstance(node, ast.Import):
        return ["" for alias in node.names if alias.name.split(".")[0] == "attnlimit"]
    module = node.module or ""  # none in `from . import name`
    if node.level or module == "attnlimit":
        return [""]
    return [module] if module.startswith("attnlimit.") else []


def module_file(name: str, place: str, folder: Path) -> Path:
    file = folder.joinpath(*name.split(".")).with_suffix(".py") if name else folder
    if not file.is_file():
        raise ValueError(f"{place}: write `from attnlimit.room.module import name`, which the hash of a job can follow")
    return file
