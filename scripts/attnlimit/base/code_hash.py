"""The hash of what a job depends on: the definitions that its script can reach, and its env file.

Snakemake itself looks at a script's date and never at an imported module. Standard library only: the host that plans
the jobs may have nothing else.

A definition is a top-level function, class or assignment. It is reached by its name, from the script on, and with it
whatever it mentions. Any other statement runs when its module is imported, and so does a decorator of the library,
which may register what it decorates: these are reached with the module. Names are compared as text, so a local variable
also reaches a function of that name. A call in an assignment is taken to have no effect but its value.
"""

import ast
import gc
import hashlib
import re
from collections import defaultdict
from functools import cache, cached_property
from pathlib import Path

# What a job says while it works, and the words that describe a store's variables: they change no number.
UNHASHED = {"attnlimit/base/log.py", "attnlimit/base/words.py"}
# These load modules by name; a script whose results need them declares them.
LOADERS = {"attnlimit/workflow/registry.py", "attnlimit/page/assess.py"}
UNFOLLOWED = {"import_module", "exec_module", "run_module", "run_path", "__doc__", "__init_subclass__"}
UNFOLLOWED_NAMES = UNFOLLOWED | {"__import__", "eval", "exec", "globals"}  # as attributes they are something else
REMEDY = "write `from attnlimit.room.module import name`, which the hash of a job can follow"
IMPORTED, WHOLE = "", "*"  # beside the names that a module defines: what its import runs, and all of its statements
DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORT = (ast.Import, ast.ImportFrom)


def code_hash(script: Path, env: Path, *also: str) -> str:
    """Of the statements that a script can reach and of the env file; dates do not enter.

    also: modules such as attnlimit.room.module that the script loads by name, reached as a whole. Files are named
    relative to the script's folder, so that a clone elsewhere has the same hash.
    """
    folder = script.parent
    queue = list(statements(script.name, folder)[WHOLE])
    for module in also:
        queue += module_statements(module, str(script), folder)[WHOLE]
    reached = set(queue)
    while queue:
        further = set(queue.pop().needs) - reached
        reached |= further
        queue += further
    ordered = sorted(reached, key=lambda statement: (statement.file, statement.order))
    hashes = [(statement.file, statement.hash) for statement in ordered if statement.hash]
    return hashed([*hashes, env.read_text(encoding="utf-8")])


def texts_hash(*folders: Path) -> str:
    """Of the names and contents of the files in these folders: texts that a job puts into a page. No hidden files.

    An editor keeps its own there while a text is open.
    """
    files = sorted((path for folder in folders for path in folder.glob("[!.]*")), key=lambda path: path.name)
    return hashed([(path.name, path.read_text(encoding="utf-8")) for path in files])


def hashed(values: list) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


class Statement:
    """A top-level statement of a file, or one name of an import. Without a hash: the modules that the file imports."""

    def __init__(self, file: str, folder: Path, order: int, node: ast.stmt | None = None):
        self.file, self.folder, self.order, self.node = file, folder, order, node
        self.imports: list[tuple[str, str, int]] = []  # from the library: module, name, line
        self.mentions: set[str] = set()
        self.uses: list[Statement] = []  # of the same file
        self.refused = ""  # why it cannot be followed
        if isinstance(node, ast.AnnAssign) and "Words" in names_in(node.annotation):
            node.value = None  # words of variables
        self.hash = hashed(self.read(node, [])) if node else ""

    def read(self, node: ast.AST, said: list) -> list:
        """Add a node, as `ast.dump` would write it, to what is said so far; collect names and imports on the way."""
        said.append(type(node).__name__)
        if isinstance(node, ast.Name):
            self.mentions.add(node.id)
            self.refuse_if(node.id in UNFOLLOWED_NAMES, node, node.id)
        elif isinstance(node, ast.Attribute):
            self.refuse_if(node.attr in UNFOLLOWED, node, node.attr)
        elif isinstance(node, ast.AnnAssign | ast.arg):
            self.mentions |= names_in(node.annotation)
        elif isinstance(node, DEFINITION):
            self.mentions |= names_in(getattr(node, "returns", None))
            self.refuse_if(node.name in UNFOLLOWED, node, node.name)
            drop_docstring(node)
        elif isinstance(node, IMPORT):
            self.follow(node)
        for field in node._fields:
            value = getattr(node, field, None)
            if field != "ctx" and value not in (None, []):  # ctx follows from the place; later Pythons have more fields
                said.append(field)
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.AST):
                        self.read(part, said)
                    else:
                        said.append(part)
        said.append(")")
        return said

    def follow(self, node: ast.AST) -> None:
        """Note what an import takes from the library."""
        if isinstance(node, ast.Import):
            self.refuse_if(any(alias.name.split(".")[0] == "attnlimit" for alias in node.names), node)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""  # none in `from . import name`
            self.refuse_if(node.level > 0 or module == "attnlimit" or node.names[0].name == "*", node)
            for alias in node.names:
                self.refuse_if(alias.name in UNFOLLOWED, node, alias.name)
                if module.startswith("attnlimit."):
                    self.imports.append((module, alias.name, node.lineno))

    def refuse_if(self, refused: bool, node: ast.Name | ast.Attribute | ast.stmt, name: str = "") -> None:
        if refused and not (name and self.file in LOADERS):
            why = (
                f"the hash of a job cannot follow `{name}`; only {' and '.join(sorted(LOADERS))} load modules by name: "
                if name
                else ""
            )
            self.refused = f"{self.folder / self.file}, line {node.lineno}: {why}{REMEDY}"

    @property
    def targets(self) -> list[ast.expr]:
        """Where an assignment puts its value."""
        if isinstance(self.node, ast.AnnAssign | ast.AugAssign):
            return [self.node.target]
        return self.node.targets if isinstance(self.node, ast.Assign) else []

    @property
    def names(self) -> set[str]:
        """Those that it defines."""
        if isinstance(self.node, DEFINITION):
            return {self.node.name}
        parts = list(ast.walk(self.node)) if self.node else []
        found = parts
        if self.targets:
            found = [part for target in self.targets for part in ast.walk(target)]
            found += [part.target for part in parts if isinstance(part, ast.NamedExpr)]
        stored = {part.id for part in found if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        imported = {(part.asname or part.name).split(".")[0] for part in found if isinstance(part, ast.alias)}
        return stored | imported | {part.name for part in found if isinstance(part, DEFINITION)}

    def runs(self, library: set[str]) -> bool:
        """Whether an import of the module does more than define names; library: names in it that are our own."""
        if isinstance(self.node, IMPORT):
            return bool(self.refused) or getattr(self.node, "module", "") == "__future__"
        if isinstance(self.node, DEFINITION):
            return any(names_in(decorator) & library for decorator in self.node.decorator_list)
        parts = [part for target in self.targets for part in ast.walk(target)]
        return not parts or any(isinstance(part, ast.Attribute | ast.Subscript) for part in parts)

    @cached_property
    def needs(self) -> list["Statement"]:
        """What is reached with this one."""
        if self.refused:
            raise ValueError(self.refused)
        found = list(self.uses)
        for module, name, line in self.imports:
            place = f"{self.folder / self.file}, line {line}"
            defined = module_statements(module, place, self.folder)
            if defined and name not in defined:
                raise ValueError(f"{place}: {module} does not define {name}: import it from where it is defined")
            found += defined.get(name, []) + defined.get(IMPORTED, [])
        return found


def module_statements(module: str, place: str, folder: Path) -> dict[str, list[Statement]]:
    """Those of a module that an import at this place names; none of a module that is not hashed."""
    file = f"{module.replace('.', '/')}.py"
    try:
        return {} if file in UNHASHED else statements(file, folder)
    except FileNotFoundError as error:
        raise ValueError(f"{place}: there is no module {module}: {REMEDY}") from error


@cache
def statements(file: str, folder: Path) -> dict[str, list[Statement]]:
    """The statements of a file by the names that they define; IMPORTED: those that its import runs; WHOLE: all."""
    tree = parsed((folder / file).read_text(encoding="utf-8"))
    drop_docstring(tree)
    singles = [single for node in tree.body for single in single_names(node)]
    whole = [Statement(file, folder, order, node) for order, node in enumerate(singles)]
    defined: dict[str, list[Statement]] = defaultdict(list)
    for statement in whole:
        for name in statement.names:
            defined[name].append(statement)
    for statement in whole:
        statement.uses = [other for name in statement.mentions & defined.keys() for other in defined[name]]
    imports = [statement for statement in whole if isinstance(statement.node, IMPORT)]
    outside = {name for statement in imports if not statement.imports for name in statement.names}
    loads = Statement(file, folder, len(whole))
    loads.imports = [(module, IMPORTED, line) for statement in imports for module, _, line in statement.imports]
    packages = ["/".join((*parent.parts, "__init__")) for parent in Path(file).parents if parent.name]
    loads.imports += [(name.replace("/", "."), IMPORTED, 1) for name in packages if (folder / f"{name}.py").is_file()]
    runs = [statement for statement in whole if statement.runs(defined.keys() - outside)]
    for statement in whole:
        statement.node = None  # so that the garbage collector need not walk all trees
    return {**defined, IMPORTED: [loads, *runs], WHOLE: [loads, *whole]}


def parsed(text: str) -> ast.Module:
    """Parse without the garbage collector: Python 3.11 raises SystemError if an object that it destroys parses too.

    A failed task of asyncio does: it logs its traceback, and a traceback parses the lines that it shows.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collecting:
            gc.enable()


def single_names(node: ast.stmt) -> list[ast.stmt]:
    """A statement, or an import of several names as one statement a name: to mention one reaches no other."""
    if isinstance(node, ast.ImportFrom):
        return [ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node) for alias in node.names]
    if isinstance(node, ast.Import):
        return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]
    return [node]


def drop_docstring(node: ast.AST) -> None:
    if isinstance(node, DEFINITION + (ast.Module,)) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]


def names_in(node: ast.expr | None) -> set[str]:
    """Names in an annotation or a decorator, quoted ones included."""
    parts = list(ast.walk(node)) if node else []
    quoted = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return {part.id for part in parts if isinstance(part, ast.Name)}.union(
        *(re.findall(r"\w+", text) for text in quoted)
    )
