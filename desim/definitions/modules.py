"""Modules as source: where they are, and what their top level binds.

Modules of desim's rooms and of users are read; of installed packages, Python's own and the rooms
that no row depends on only the names count. Nothing is imported for it.
"""

import ast
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from attrs import frozen

from desim.definitions.syntax import (
    Reference,
    Syntax,
    TopLevel,
    bound_names,
    changed_names,
    changes_members,
    has_effect,
    imported_names,
    is_type_checking,
    syntax_of,
)

#: The rooms of desim.
_ROOMS = ("desim", "ledgers", "models", "policies")

#: Folders of installed packages.
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib")
)

#: Statements of the top level in which imports may be.
_COMPOUND = (ast.If, ast.Try, ast.With, ast.For, ast.While)

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@frozen
class ModulePlace:
    """The place of a module.

    Attributes:
        file: Its source; empty for a namespace package and for what is not written in Python.
        folders: Where a package has its modules.
    """

    file: str
    folders: tuple[str, ...] = ()


@frozen
class Module:
    """The top level of a module.

    Attributes:
        name: Its absolute name.
        package: From which relative imports start.
        definitions: What the statements consist of that define or change a name, by name.
        imports: The targets of imported names; several where `try` and `except` import one name.
        stars: Modules of which all names are imported.
        effects: What further statements with an effect of their own consist of.
        decorated: Names of classes and functions, each with the name of a decorator.
    """

    name: str
    package: str
    definitions: dict[str, Syntax]
    imports: dict[str, list[Reference]]
    stars: list[str]
    effects: list[Syntax]
    decorated: list[tuple[str, tuple[str, ...]]]


def place_of(name: str) -> ModulePlace | None:
    """Return the place of a module; None if it does not exist or is built into Python."""
    if module := sys.modules.get(name):
        file = module.__dict__.get("__file__") or ""
        # Links are not resolved, as in a tree of links the folder of the link has the data.
        folders = tuple(module.__dict__.get("__path__", ()))
        return ModulePlace(file and os.path.abspath(file), folders)  # noqa: PTH100
    parent, _, last = name.rpartition(".")
    around = place_of(parent) if parent else None
    folders = around.folders if around else ()
    try:
        spec = _spec(name, folders)
    except KeyError:
        # The path of a namespace package is computed from its parent, which is not imported.
        inside = (os.path.join(folder, last) for folder in folders)  # noqa: PTH118
        return ModulePlace("", tuple(filter(os.path.isdir, inside)))
    if spec is None:
        return None
    file = spec.origin if spec.has_location and spec.origin else ""
    return ModulePlace(file, tuple(spec.submodule_search_locations or ()))


def _spec(name: str, folders: tuple[str, ...]) -> ModuleSpec | None:
    """Return the specification of a module; with a dot in its name, found in these folders."""
    if "." not in name:
        return importlib.util.find_spec(name)
    return PathFinder.find_spec(name, folders) if folders else None


def is_ours(module: str) -> bool:
    """Return whether a module is in one of desim's rooms."""
    return module.partition(".")[0] in _ROOMS


@cache
def is_installed_file(file: str) -> bool:
    """Return whether a file belongs to Python or to an installed package."""
    path = Path(file).resolve()
    if any(folder in path.parents for folder in _INSTALLED):
        return True
    found = (folder for folder in map(Path, sys.path) if folder.resolve() in path.parents)
    return any(path.relative_to(one.resolve()).parts[0] in _names_in(one) for one in found)


@cache
def _names_in(folder: Path) -> frozenset[str]:
    """Return the files and folders that pip has put into a folder, as with `--target`.

    Files of a user's own beside them are not among them.
    """
    records = (one.read_text(encoding="utf-8") for one in folder.glob("*.dist-info/RECORD"))
    lines = (line for text in records for line in text.splitlines())
    return frozenset(line.split(",")[0].split("/")[0] for line in lines)


def is_installed(made: object) -> bool:
    """Return whether a module, a class or a function belongs to an installed package."""
    name = made.__name__ if isinstance(made, ModuleType) else made.__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and not is_ours(name) and is_installed_file(file)


def module_of(name: str, package: str, source: bytes, file: str) -> Module:
    """Return the top level of a module.

    Args:
        name: Its absolute name.
        package: From which its relative imports start.
        source: Its text.
        file: For error texts.

    Raises:
        SyntaxError: The text cannot be parsed.
        ValueError: It holds null bytes.
    """
    statements = [*_statements(ast.parse(source, file).body)]
    imports, stars = _imports(statements, package)
    bound = [bound_names(one) for one in statements]
    own = set().union(*bound)
    by_name: dict[str, list[ast.stmt]] = {}
    effects = []
    for statement, names in zip(statements, bound, strict=True):
        changed = set() if isinstance(statement, _DEFINITIONS) else changed_names(statement) & own
        for each in names | changed:
            by_name.setdefault(each, []).append(statement)
        if not names | changed and _is_effect(statement, name):
            effects.append(statement)
    top = TopLevel({*own, *imports}, package, bool(stars), b":=" in source)
    return Module(
        name=name,
        package=package,
        definitions={each: syntax_of(found, top) for each, found in by_name.items()},
        imports=imports,
        stars=stars,
        effects=[syntax_of([one], top) for one in effects],
        decorated=[pair for one in statements for pair in _decorators(one)],
    )


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that are run when the module is imported."""
    for one in body:
        if is_type_checking(one):
            yield from _statements(one.orelse)
        elif not _is_main(one):
            yield one


def _is_main(statement: ast.stmt) -> bool:
    """Return whether a statement is `if __name__ == "__main__":`."""
    if not isinstance(statement, ast.If):
        return False
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(statement.test))


def _is_effect(statement: ast.stmt, module: str) -> bool:
    # The calls at the top level of a script start the sweep.
    return changes_members(statement) if module == "__main__" else has_effect(statement)


def _decorators(statement: ast.stmt) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(statement, _DEFINITIONS):
        for decorator in statement.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            yield statement.name, tuple(ast.unparse(called).split("."))


def _imports(
    statements: Iterable[ast.stmt], package: str
) -> tuple[dict[str, list[Reference]], list[str]]:
    """Return what imported names stand for, and the modules of which all names are imported."""
    imports: dict[str, list[Reference]] = {}
    for statement in statements:
        for node in ast.walk(statement) if isinstance(statement, _COMPOUND) else (statement,):
            for name, source in imported_names(node, package):
                imports.setdefault(name, []).append(source)
    return imports, [source for source, _ in imports.pop("*", ())]
