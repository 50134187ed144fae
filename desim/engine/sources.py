"""The source files that modules use: desim's by folder, a user's one by one."""

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from desim.errors import UsageError
from desim.joined_packages import HIDDEN, is_installed

#: The folder of the rooms `desim`, `ledgers`, `models` and `policies`.
ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("desim", "ledgers", "models", "policies")

#: Rooms of desim that change no row: they show results, or start episodes.
_NO_ROWS = {"adapters", "cli", "docs", "reports", "show", "studies", "suites", "tracing", "ui"}

#: Suffixes of files on which no episode depends.
_NO_DATA = {".pyc", ".md"}


def source_digests(modules: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """Return the digests of the files that modules use, and the installed packages they import.

    A user's module counts with the modules that it imports, also inside functions; a module of
    desim with all files of its folder, and the folders that these import from. What is imported by
    a computed name is not found: a policy lists it in `desim.Policy.dependencies`.

    Returns:
        By folder (`policies/llm`) or module (`helpers.rules`) a digest of its files; and the
        packages of users' files by the names in imports.

    Raises:
        UsageError: A file cannot be read or parsed.
    """
    digests: dict[str, str] = {}
    packages: set[str] = set()
    seen: set[str] = set()
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top in {*sys.stdlib_module_names, "__main__"}:
            continue
        seen.add(name)
        file = _file_of(name)
        if is_installed(file):
            packages.add(top)
        elif (folder := _folder_of_ours(file)) is not None:
            called = folder.relative_to(ROOT).as_posix()
            if called not in digests:
                files = [*_files(folder)]
                digests[called] = _digest_of_all(folder, files)
                python = (one for one in files if one.suffix == ".py" and called != "desim")
                found = (each for one in python for each in _imported(one.read_bytes(), str(one)))
                # What desim itself imports from packages follows from its version.
                waiting += (one for one in found if one.partition(".")[0] in ROOMS)
        elif file.endswith(".py"):
            digests[name.removeprefix(HIDDEN)] = file_digest(file)
            package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
            waiting += _imported(Path(file).read_bytes(), file, package)
            waiting += (name[:at] for at, sign in enumerate(name) if sign == ".")
    return digests, packages


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file, behind `sha256:`.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path may be a text)
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None


def text_digest(content: bytes) -> str:
    """Return the SHA-256 of some content, as `file_digest` does."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _file_of(name: str) -> str:
    """Return the file of a module, which is not imported; empty if none is found."""
    if module := sys.modules.get(name):
        file = module.__dict__.get("__file__")
        return os.path.abspath(file) if file else ""  # noqa: PTH100 (keeps links)
    parent, _, last = name.rpartition(".")
    for folder in _folders_of(parent):
        for end in (".py", "/__init__.py"):
            if os.path.isfile(file := os.path.join(folder, last + end)):  # noqa: PTH113, PTH118
                return file
    return ""


def _folders_of(package: str) -> list[str]:
    """Return where a package has its modules."""
    if not package:
        return sys.path
    if module := sys.modules.get(package):
        return [*module.__dict__.get("__path__", ())]
    parent, _, last = package.rpartition(".")
    inside = (os.path.join(folder, last) for folder in _folders_of(parent))  # noqa: PTH118
    return [*filter(os.path.isdir, inside)]


def _folder_of_ours(file: str) -> Path | None:
    """Return the folder of a file of desim, which counts as one; all of `desim` is one.

    A user may have folders of the same names.
    """
    path = Path(file).resolve()
    room = path.relative_to(ROOT).parts[0] if ROOT in path.parents else ""
    if room not in ROOMS:
        return None
    return ROOT / room if room == "desim" else path.parent


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder of ours on which episodes may depend."""
    for one in sorted(folder.iterdir()):
        if one.is_file() and one.suffix not in _NO_DATA:
            yield one
        elif folder == ROOT / "desim" and one.is_dir() and one.name not in _NO_ROWS:
            yield from sorted(one.rglob("*.py"))


def _digest_of_all(folder: Path, files: Iterable[Path]) -> str:
    named = (f"{one.relative_to(folder)} {file_digest(one)}\n" for one in files)
    return text_digest("".join(named).encode())


@cache
def _imported(source: bytes, file: str, package: str = "") -> frozenset[str]:
    """Return the modules that a file imports, and the names in them that may be modules.

    Raises:
        UsageError: It cannot be parsed.
    """
    try:
        tree = ast.parse(source, file)
    except (SyntaxError, ValueError) as fault:
        raise UsageError(f"cannot read {file}: {fault}") from None
    return frozenset(name for node in ast.walk(tree) for name in _names(node, package))


def _names(node: ast.AST, package: str) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (one.name for one in node.names)
        case ast.ImportFrom():
            start = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, (start, node.module)))
            yield source
            yield from (f"{source}.{one.name}" for one in node.names if one.name != "*")
