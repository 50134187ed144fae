"""The source files behind classes and functions, as digests by topic.

Of the rooms of desim whole packages count: desim itself, `ledgers`, the model, the policies. Of a
user's own module its file counts, and the files it imports from the same folder tree; what it
imports by a computed name, or from other folders and installed packages, does not.
"""

import hashlib
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from attrs import frozen

from desim.errors import UsageError

__all__ = ["digest", "is_installed", "source_digests"]

#: The rooms of desim, and how many parts of a module's name are one unit: `models.NAME`.
_DEPTH = {"desim": 1, "ledgers": 1, "models": 2, "policies": 2, "policies.heuristics": 3}

#: Suffixes of files in these rooms that no episode depends on.
_NO_SOURCE = {".pyc", ".md"}

#: Import statements; also in functions, over several lines, and (at no harm) in texts.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)

#: Folders of installed packages: of a module in one of these, only its own package is followed.
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib")
)


@frozen
class _Unit:
    """Files whose digest is one topic.

    Attributes:
        topic: What it is called in the error text.
        name: The module's name, from which relative imports start; a package ends with a dot.
        file: A user's file; None for a unit of desim's rooms.
        root: The folder in which a user's file finds further modules.
        package: The only top package that is followed there; empty for any.
    """

    topic: str
    name: str
    file: Path | None = None
    root: Path = Path()
    package: str = ""

    def files(self) -> list[Path]:
        """Return the files in a fixed order; none if there is no such module."""
        return [self.file] if self.file else _files_of_ours(self.name.rstrip("."))


def source_digests(makers: Iterable[object]) -> dict[str, str]:
    """Return the digest of every source file that classes and functions come from, by topic.

    Args:
        makers: Classes, whose base classes count as well, functions, and modules.

    Raises:
        UsageError: A file cannot be read.
    """
    modules = ["desim", *(name for one in makers for name in _modules(one))]
    waiting = [unit for name in dict.fromkeys(modules) for unit in _units(name)]
    digests: dict[str, str] = {}
    while waiting:
        unit = waiting.pop()
        if unit.topic not in digests:
            files = unit.files()
            digests[unit.topic] = _digest(files) if files else ""
            waiting += _imported(unit, files)
    return {topic: text for topic, text in sorted(digests.items()) if text}


def is_installed(made: object) -> bool:
    """Return whether a module, a class or a function belongs to an installed package."""
    name = next(_modules(made))
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name.partition(".")[0] in _DEPTH:
        return False
    return any(folder in Path(file).resolve().parents for folder in _INSTALLED)


def digest(path: str | Path) -> str:
    """Return a digest of the bytes of a file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path may be a text)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None


def _digest(files: Iterable[Path]) -> str:
    return hashlib.sha256("".join(f"{f.name} {digest(f)}\n" for f in files).encode()).hexdigest()


def _modules(maker: object) -> Iterator[str]:
    """Yield the modules of a class and its base classes, of a function, or a module itself."""
    if isinstance(maker, ModuleType):
        yield maker.__name__
        return
    for each in maker.__mro__ if isinstance(maker, type) else (maker,):
        yield each.__module__


def _units(name: str) -> Iterator[_Unit]:
    """Yield the unit of a module; none of Python's own and of what has no file."""
    parts = name.split(".")
    if parts[0] in _DEPTH:
        depth = _DEPTH.get(".".join(parts[:2])) or _DEPTH[parts[0]]
        if len(parts) >= depth:
            ours = ".".join(parts[:depth])
            yield _Unit(f"the source of {ours}", f"{ours}.")
    elif parts[0] not in sys.stdlib_module_names and name in sys.modules:
        yield from _users_module(sys.modules[name])


def _users_module(module: ModuleType) -> Iterator[_Unit]:
    if not module.__dict__.get("__file__"):  # a notebook or `python -c`
        return
    file = Path(os.path.abspath(str(module.__file__)))  # noqa: PTH100 (links are not resolved)
    # Of `python -m package.module` the name is in the spec; a script is at the top of its folder.
    name = module.__spec__.name if module.__spec__ else file.stem
    is_package = file.name == "__init__.py"
    root = file.parents[name.count(".") + is_package]
    package = name.split(".")[0] if root.resolve() in _INSTALLED else ""
    yield _users_unit(file, root, name + "." * is_package, package)


def _users_unit(file: Path, root: Path, name: str, package: str) -> _Unit:
    return _Unit(f"file {file.relative_to(root).as_posix()}", name, file, root, package)


def _files_of_ours(name: str) -> list[Path]:
    """Return the files of a package of desim's rooms, or the file of a module."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return []
    if spec and spec.submodule_search_locations:
        # A namespace package lists a folder once for each entry of `sys.path` that leads to it.
        folders = {Path(folder).resolve() for folder in spec.submodule_search_locations}
        found = (f for folder in folders for f in folder.rglob("*"))
        return sorted(f for f in found if f.suffix not in _NO_SOURCE and f.is_file())
    return [Path(spec.origin)] if spec and spec.origin else []


def _imported(unit: _Unit, files: Iterable[Path]) -> Iterator[_Unit]:
    """Yield the units that a unit imports, of desim's rooms and of its own folder tree."""
    if unit.name == "desim.":  # it imports no other room
        return
    for name in {name for file in files if file.suffix == ".py" for name in _names(file, unit)}:
        if name.split(".")[0] in _DEPTH:
            yield from _units(name)
        elif unit.file and unit.package in {"", name.split(".")[0]}:
            yield from _in_tree(unit.root, name, unit.package)


def _in_tree(root: Path, name: str, package: str) -> Iterator[_Unit]:
    """Yield a module of a folder tree, and the packages around it."""
    parts = name.split(".")
    if not all(map(str.isidentifier, parts)):
        return
    for end in range(1, len(parts) + 1):
        inner = ".".join(parts[:end])
        module = root.joinpath(*parts[:end])
        for file, dot in (
            (module / "__init__.py", "."),
            (module.with_name(f"{parts[end - 1]}.py"), ""),
        ):
            if file.is_file():
                yield _users_unit(file, root, inner + dot, package)


def _names(file: Path, unit: _Unit) -> Iterator[str]:
    """Yield the absolute names that import statements hold: modules, or members of these."""
    for source, members, modules in _IMPORT.findall(file.read_text("utf-8", errors="replace")):
        if modules:
            yield from _first_words(modules)
        elif base := _absolute(source, unit.name):
            yield base
            yield from (f"{base}.{member}" for member in _first_words(members))


def _first_words(listed: str) -> Iterator[str]:
    """Yield the first word of each part of a list.

    >>> list(_first_words("a.b as c, d"))
    ['a.b', 'd']
    """
    for part in listed.strip("() \t\n").split(","):
        if words := part.split():
            yield words[0]


def _absolute(source: str, name: str) -> str:
    """Return the absolute name of `from SOURCE import` in a module; empty if there is none.

    >>> _absolute("..rules", "pack.inner.mine")
    'pack.rules'
    """
    dots = len(source) - len(source.lstrip("."))
    package = name.split(".")[:-dots] if dots else []
    return ".".join([*package, *filter(None, [source.lstrip(".")])])
