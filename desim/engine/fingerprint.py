"""Everything outside its data that determines an episode, as text by topic.

These are versions; source files, desim's by folder and a user's one by one; the code of a notebook
or a script; the content of every file that a parameter or an argument names, and of those that a
policy opens itself (see `opened_files`). Services are not covered.
"""

import ast
import dis
import hashlib
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from desim.joined_packages import HIDDEN, is_installed
from desim.version import __version__

#: The topic of texts that policies read of a model; the beginnings of those of code and files.
_TEXTS = "the rules and schemas that a policy reads"
_CODE, _FILE = "the code of ", "file "

#: The folder of desim's rooms, and those of `desim` that change no row: they show results, or start
#: episodes.
ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("desim", "ledgers", "models", "policies")
_NO_ROWS = {"adapters", "cli", "docs", "reports", "show", "studies", "suites", "tracing", "ui"}


def code_topics(made: Iterable[Any]) -> dict[str, str]:
    """Return versions and code of classes, functions, modules and objects that play, by topic."""
    without: dict[str, str] = {}
    met = ["desim"]  # it plays every row
    for each in with_bases(made):
        if isinstance(each, ModuleType):
            met.append(each.__name__)
        elif isinstance(each, type | FunctionType) and has_file(each):
            met.append(each.__module__)
        else:
            kind = each if hasattr(each, "__qualname__") else type(each)
            name = f"{kind.__module__}:{kind.__qualname__}"
            # One that is given twice, under one name, counts with both.
            digest = without.get(name, "") + digest_without_file(each, met)
            without[name] = text_digest(digest.encode())
    digests, packages = _source_digests(met)
    code = {**dict(sorted(digests.items())), **without}
    return {
        "desim": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: _version(name) for name in ("simpy", "numpy", *sorted(packages))},
        **{_CODE + name: digest for name, digest in code.items()},
    }


def with_bases(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the classes with their bases, functions, modules and objects; no texts."""
    for one in parts:
        if not isinstance(one, str | bytes):
            yield from one.__mro__ if isinstance(one, type) else (one,)


def _version(package: str) -> str:
    """Return the version of the package imported by this name; empty if it declares none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        known = importlib.metadata.packages_distributions().get(package, ())
        return ", ".join(importlib.metadata.version(name) for name in sorted({*known}))


def file_topics(parts: Iterable[Any]) -> dict[str, str]:
    """Return the topics of the files that texts name, and of contents given as bytes."""
    parts = [*parts]
    texts = (one for one in parts if isinstance(one, str))
    # A text names a file as a whole, or as one of its first parts, as in csv:FILE:COLUMN.
    names = (name for text in texts for name in (text, *text.split(":", 6)[:6]))
    files = filter(os.path.isfile, names)
    found = {_FILE + name: file_digest(name) for name in files}
    read = b"".join(text_digest(one).encode() for one in parts if isinstance(one, bytes))
    return {**found, **({_TEXTS: text_digest(read)} if read else {})}


def opened_topics(files: Mapping[str, str], known: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the topics of opened files, without those in the folder of the results.

    A file that a known topic names has that topic.
    """
    paths = (topic.removeprefix(_FILE) for topic in known if topic.startswith(_FILE))
    topics = {os.path.abspath(path): _FILE + path for path in paths}  # noqa: PTH100 (texts)
    results = os.path.join(os.path.abspath(folder), "")  # noqa: PTH100, PTH118 (compared as texts)
    return {
        topics.get(path, _FILE + path): digest
        for path, digest in files.items()
        # A worker on another machine may have files that are not here.
        if not path.startswith(results) and os.path.isfile(path)  # noqa: PTH113
    }


def changed_topics(stored: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the topics of kept rows that differ from those of a command.

    Files that were opened before, and that no parameter names, are compared as they are now.
    """
    files = (topic for topic in stored if topic.startswith(_FILE) and topic not in now)
    now = {**{topic: file_digest(topic.removeprefix(_FILE)) for topic in files}, **now}
    return [one for one in {**stored, **now} if stored.get(one) != now.get(one)]


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file, behind `sha256:`, or why it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path may be a text)
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as fault:
        return fault.strerror or "cannot be read"


def text_digest(content: bytes) -> str:
    """Return the SHA-256 of some content, as `file_digest` does."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


# -- source files ----------------------------------------------------------------------------------


def _source_digests(modules: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """Return digests by folder (`policies/llm`) or module (`helpers.rules`), and users' packages.

    A user's module counts with the modules that it imports, also inside functions; a module of
    desim with all files of its folder, and the folders that these import from. What is imported by
    a computed name is not found: a policy lists it in `desim.Policy.dependencies`.
    """
    digests: dict[str, str] = {}
    packages: set[str] = set()
    seen: set[str] = set()
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top == "__main__" or top in sys.stdlib_module_names:
            continue
        seen.add(name)
        file = _file_of(name)
        if (folder := _folder_of_ours(file)) is not None:
            called = folder.relative_to(ROOT).as_posix()
            if called not in digests:
                files = [*_files(folder)]
                named = (f"{one.relative_to(folder)} {file_digest(one)}\n" for one in files)
                digests[called] = text_digest("".join(named).encode())
                python = (one for one in files if one.suffix == ".py" and called != "desim")
                found = (each for one in python for each in _imported(one.read_bytes()))
                # The imports of desim itself follow from its version.
                waiting += (one for one in found if one.partition(".")[0] in ROOMS)
        elif is_installed(file):
            packages.add(top)
        elif file.endswith(".py") and os.path.isfile(file):  # noqa: PTH113 (as found above)
            digests[name.removeprefix(HIDDEN)] = file_digest(file)
            package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
            waiting += _imported(Path(file).read_bytes(), package)
            waiting += (name[:at] for at, sign in enumerate(name) if sign == ".")
    return digests, packages


def _file_of(name: str) -> str:
    """Return the file of a module, which is not imported; empty if none is found."""
    if module := sys.modules.get(name):
        file = module.__dict__.get("__file__")
        return os.path.abspath(file) if file else ""  # noqa: PTH100 (keeps links)
    parent, _, last = name.rpartition(".")
    for folder in _folders_of(parent):
        for end in ("/__init__.py", ".py"):
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
    """Return the folder of a file of desim, which counts as one; all of `desim` is one."""
    path = Path(file).resolve()
    room = path.relative_to(ROOT).parts[0] if file and ROOT in path.parents else ""
    if room not in ROOMS:
        return None
    return ROOT / room if room == "desim" else path.parent


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder of ours on which episodes may depend."""
    for one in sorted(folder.iterdir()):
        if one.is_file() and one.suffix not in {".pyc", ".md"}:
            yield one
        elif folder == ROOT / "desim" and one.is_dir() and one.name not in _NO_ROWS:
            yield from sorted(one.rglob("*.py"))


@cache
def _imported(source: bytes, package: str = "") -> frozenset[str]:
    """Return the modules that a file imports, and the names in them that may be modules."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return frozenset()  # it cannot be imported
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


# -- code without a file ---------------------------------------------------------------------------

# Of a notebook or a script, and what functions make. It counts by what is sent to a worker:
# bytecode, constants, defaults, enclosed variables, the globals that are used, and the members and
# bases of classes. Comments do not count. An object that cannot be pickled, such as a lock, counts
# by its class alone.

#: Members of a class that say where it was defined.
_NO_MEMBERS = {"__firstlineno__", "__static_attributes__"}

#: The file of methods that attrs writes. They follow from the fields, which count, and hold a hash
#: that is another one in every process.
_GENERATED = "<attrs generated"

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))

#: Members of functions in a wrapper that pickle does not open, such as a property.
_WRAPPED = ("__wrapped__", "fget", "fset", "fdel")


def has_file(made: Any) -> bool:
    """Return whether a class or function has a name in a module with a file, or in Python."""
    if "<" in made.__qualname__ or made.__module__ == "__main__":  # <locals>, <lambda>
        return False
    module = sys.modules.get(made.__module__)
    if module is None:
        return False
    # Modules of Python that are written in C have no file.
    top = module.__name__.partition(".")[0]
    return bool(top in sys.stdlib_module_names or module.__dict__.get("__file__"))


def digest_without_file(made: Any, met: list[str]) -> str:
    """Return a SHA-256 of a class, a function or an object, with all that it refers to.

    What it uses of modules counts by name; *met* receives these, and those that functions import.
    """
    total = hashlib.sha256()
    #: The number of each object by its id; the objects are kept, so that no id is used twice.
    seen: dict[int, tuple[int, Any]] = {}
    waiting = [made]
    while waiting:
        value = waiting.pop()
        token, parts = "", []
        if isinstance(value, _PLAIN):
            token = repr(value)
        elif id(value) in seen:
            token = f"seen {seen[id(value)][0]}"
        else:
            seen[id(value)] = len(seen), value
            parts = [*_parts(value, met)]
        text = f"{type(value).__name__} {len(parts)} {token}"
        total.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
        waiting += reversed(parts)
    return total.hexdigest()


def _parts(value: Any, met: list[str]) -> Iterator[Any]:
    match value:
        case tuple() | list():
            yield from value
        case dict():
            yield from (each for item in value.items() for each in item)
        case set() | frozenset():  # in another order in each process
            yield from sorted(digest_without_file(one, met) for one in value)
        case CodeType():
            met += _imports_of(value)
            yield from (value.co_code, value.co_consts, value.co_exceptiontable, value.co_flags)
            yield from (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
            yield from (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount)
        case ModuleType():
            met.append(value.__name__)
            yield value.__name__
        case type() | FunctionType() if has_file(value):
            met.append(value.__module__)
            yield value.__qualname__
        case FunctionType() if value.__code__.co_filename.startswith(_GENERATED):
            yield value.__name__
        case FunctionType():
            yield from _parts_of_function(value)
        case type():
            yield from (value.__name__, value.__bases__)
            yield from (each for each in sorted(vars(value).items()) if each[0] not in _NO_MEMBERS)
        case _:
            yield type(value).__qualname__
            yield from _parts_of_object(value)


def _imports_of(code: CodeType) -> Iterator[str]:
    """Yield the modules that a function imports, and the names in them that may be modules."""
    source = ""
    for one in dis.get_instructions(code):
        if one.opname == "IMPORT_NAME":
            yield (source := one.argval)
        elif one.opname == "IMPORT_FROM":
            yield f"{source}.{one.argval}"


def _parts_of_function(function: FunctionType) -> Iterator[Any]:
    yield from (function.__code__, function.__defaults__, function.__kwdefaults__)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield None
    for name in sorted(_globals_of(function.__code__)):
        if name in function.__globals__:
            yield from (name, function.__globals__[name])


def _globals_of(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names}.union(*map(_globals_of, inner))


def _parts_of_object(value: Any) -> Iterator[Any]:
    """Yield what an object is rebuilt from, as pickle would do it."""
    yield from (getattr(value, name, None) for name in _WRAPPED)
    try:
        found = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 (users' code; what cannot be pickled counts by its class)
        return
    # Behind the first three are iterators of items.
    parts = () if isinstance(found, str) else found
    yield from parts[:3]
    yield from (list(each) for each in parts[3:5] if each is not None)
