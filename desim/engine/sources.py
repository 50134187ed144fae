"""The source files that classes and functions use: desim's by folder, a user's one by one."""

import ast
import hashlib
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import define, field, frozen

from desim.errors import UsageError
from desim.joined_packages import HIDDEN

#: The folder of the rooms `desim`, `ledgers`, `models` and `policies`.
_ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("desim", "ledgers", "models", "policies")

#: Rooms of desim that change no row: they show results, or start episodes.
_NO_ROWS = {"adapters", "cli", "docs", "reports", "show", "studies", "suites", "tracing", "ui"}

#: Folders of installed packages, which count by their version.
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib")
)

#: Suffixes of files on which no episode depends.
_NO_DATA = {".pyc", ".md"}

#: Installed packages that generate code of classes; their versions do not change a row.
_WRITERS = {"attr", "attrs", "msgspec"}


@define
class Sources:
    """Source files by what they are called in error texts, and the installed packages they import.

    A user's module counts with the modules that it imports, also inside functions; a module of
    desim with all files of its folder, and the folders that these import from. What is imported by
    a computed name is not found: a policy lists it in `desim.Policy.dependencies`.

    Attributes:
        digests: By folder (`policies/llm`) or module (`helpers.rules`) a SHA-256 of its files.
        packages: Installed packages that a user's files import, by the names in imports.
    """

    digests: dict[str, str] = field(factory=dict)
    packages: set[str] = field(factory=set)
    _seen: set[str] = field(factory=set)

    def add(self, made: Any) -> None:
        """Add the files of a module (or its name), a function, or a class and its bases.

        Raises:
            UsageError: A file cannot be read or parsed.
        """
        match made:
            case str():
                self._follow([made])
            case ModuleType():
                self._follow([made.__name__])
            case type():
                self._follow([one.__module__ for one in made.__mro__])
            case _:
                self._follow([made.__module__])

    def _follow(self, names: Iterable[str]) -> None:
        waiting = [*names]
        while waiting:
            if (name := waiting.pop()) not in self._seen:
                self._seen.add(name)
                waiting += self._imports(name)

    def _imports(self, name: str) -> Iterable[str]:
        """Note the files of a module, and return the names of those that they import."""
        if name.partition(".")[0] in {*sys.stdlib_module_names, "__main__"}:
            return ()
        place = place_of(name)
        if place is None or not place.file.endswith(".py"):
            return ()
        file = Path(place.file)
        if (room := _room(file)) is not None:
            return self._folder(file.parent, room)
        if is_installed_file(place.file):
            self.packages |= {name.partition(".")[0]} - _WRITERS
            return ()
        self.digests[name.removeprefix(HIDDEN)] = file_digest(file)
        parents = [name[:at] for at, sign in enumerate(name) if sign == "."]
        return (*parents, *_imported(file, name, is_package=bool(place.folders)))

    def _folder(self, folder: Path, room: str) -> Iterable[str]:
        if room == "desim":
            if "desim" not in self.digests:
                self.digests["desim"] = _digest_of_all(_ROOT / "desim", _kernel_files())
            return ()
        called = folder.relative_to(_ROOT).as_posix()
        if called in self.digests:
            return ()
        files = sorted(one for one in folder.iterdir() if _may_count(one))
        self.digests[called] = _digest_of_all(folder, files)
        package = called.replace("/", ".")
        python = [one for one in files if one.suffix == ".py"]
        # What desim itself imports from packages follows from its version.
        found = {n for one in python for n in _imported(one, f"{package}.{one.stem}")}
        return [name for name in found if name.partition(".")[0] in _ROOMS]


@frozen
class ModulePlace:
    """The place of a module.

    Attributes:
        file: Its source; empty for a namespace package and for what is not written in Python.
        folders: Where a package has its modules.
    """

    file: str
    folders: tuple[str, ...] = ()


def place_of(name: str) -> ModulePlace | None:
    """Return the place of a module, which is not imported; None if it does not exist."""
    if module := sys.modules.get(name):
        file = module.__dict__.get("__file__") or ""
        folders = tuple(module.__dict__.get("__path__", ()))
        return ModulePlace(file and os.path.abspath(file), folders)  # noqa: PTH100 (keeps links)
    parent, _, last = name.rpartition(".")
    around = place_of(parent) if parent else None
    folders = around.folders if around else ()
    try:
        if parent:
            spec = PathFinder.find_spec(name, folders) if folders else None
        else:
            spec = importlib.util.find_spec(name)
    except KeyError:
        # The path of a namespace package is computed from its parent, which is not imported.
        inside = (os.path.join(folder, last) for folder in folders)  # noqa: PTH118
        return ModulePlace("", tuple(filter(os.path.isdir, inside)))
    if spec is None:
        return None
    file = spec.origin if spec.has_location and spec.origin else ""
    return ModulePlace(file, tuple(spec.submodule_search_locations or ()))


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
    """Return what pip has put into a folder, as with `--target`, and no user's files beside it."""
    records = (one.read_text(encoding="utf-8") for one in folder.glob("*.dist-info/RECORD"))
    lines = (line for text in records for line in text.splitlines())
    return frozenset(line.split(",")[0].split("/")[0] for line in lines)


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path may be a text)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None


def _room(file: Path) -> str | None:
    """Return the room of desim that holds a file; a user may have folders of the same names."""
    path = file.resolve()
    inside = path.relative_to(_ROOT).parts if _ROOT in path.parents else ("",)
    return inside[0] if inside[0] in _ROOMS else None


def _kernel_files() -> list[Path]:
    folder = _ROOT / "desim"
    rooms = [one for one in folder.iterdir() if one.name not in _NO_ROWS]
    every = (path for one in rooms for path in (one.rglob("*.py") if one.is_dir() else [one]))
    return sorted(filter(_may_count, every))


def _may_count(path: Path) -> bool:
    return path.is_file() and path.suffix not in _NO_DATA


def _digest_of_all(folder: Path, files: Iterable[Path]) -> str:
    named = (f"{one.relative_to(folder)} {file_digest(one)}\n" for one in files)
    return hashlib.sha256("".join(named).encode()).hexdigest()


def _imported(file: Path, name: str, *, is_package: bool = False) -> frozenset[str]:
    """Return the modules that a file imports, and the names in them that may be modules.

    Raises:
        UsageError: It cannot be read or parsed.
    """
    found = file.stat()
    return _parsed_imports(str(file), name, is_package, (found.st_mtime_ns, found.st_size))


@cache
def _parsed_imports(
    file: str,
    name: str,
    is_package: bool,  # noqa: FBT001 (a key of the cache)
    _stamp: tuple[int, int],
) -> frozenset[str]:
    try:
        tree = ast.parse(Path(file).read_bytes(), file)
    except OSError as fault:
        raise UsageError(f"cannot read {file}: {fault.strerror}") from None
    except (SyntaxError, ValueError) as fault:
        raise UsageError(f"cannot read {file}: {fault}") from None
    package = name if is_package else name.rpartition(".")[0]
    return frozenset(found for node in ast.walk(tree) for found in _names(node, package))


def _names(node: ast.AST, package: str) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (one.name for one in node.names)
        case ast.ImportFrom():
            start = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, (start, node.module)))
            yield source
            yield from (f"{source}.{one.name}" for one in node.names if one.name != "*")
