"""Digests of classes and functions that are not in a source file.

These are the ones of a notebook, and those that are made inside functions, which may depend on the
values around them. What counts is what is sent to a worker: instructions, constants, defaults,
enclosed variables, the globals that are used, and the members and bases of classes. Lines, names of
files and comments do not count, as a notebook has others in the next process, nor do docstrings and
import statements. Code in a file counts by its definitions there (`definitions`), and an object
that cannot be pickled, such as a lock, by its class alone.

The `__main__` of a program that is read from standard input.
"""

import contextlib
import dis
import functools
import hashlib
import importlib
import sys
from collections.abc import Iterable, Iterator
from types import (
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

from desim.errors import UsageError
from desim.jobs.keep.instructions import imported, steps_of, used_globals

#: Members of a class that say where it was defined, that describe it, or that Python makes.
_NO_MEMBERS = {
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__qualname__",
    "__static_attributes__",
    "__weakref__",
}


#: The file of methods that attrs writes. They follow from the fields, which count, and hold a hash
#: that is another one in every process.
_GENERATED = "<attrs generated"


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)


#: The flag of functions with docstrings, which newer versions of Python set.
_HAS_DOCSTRING = 0x4000000


def code_digests(makers: Iterable[object]) -> tuple[dict[str, str], list[object]]:
    """Return digests of classes and functions that are not in a file, and of objects.

    Args:
        makers: Classes, functions and objects; classes and functions of files are left out.

    Returns:
        The digests by topic, and all modules, classes and functions of files that were met.

    Raises:
        UsageError: Something refers to too much, one thing inside the other.
    """
    found: dict[str, str] = {}
    met: list[object] = []
    for maker in makers:
        for each in maker.__mro__ if isinstance(maker, type) else (maker,):
            if not isinstance(each, type | FunctionType):
                topic = f"the state of {type(each).__qualname__}"
            elif not _is_of_file(each):
                topic = f"the code of {each.__module__}:{each.__qualname__}"
            else:
                continue
            found[topic] = _digest(each, met, found.get(topic, ""))
    return found, met


def _is_of_file(made: Any) -> bool:
    """Return whether a class or function has a name in a module with a file, or in Python."""
    if "<" in made.__qualname__:  # <locals>, <lambda>
        return False
    module = sys.modules.get(made.__module__)
    if module is None:
        return False
    # Modules of Python that are written in C have no file, and no notebook is called like one.
    top = module.__name__.partition(".")[0]
    python = top in sys.stdlib_module_names and module.__name__ != "__main__"
    return bool(python or module.__dict__.get("__file__"))


def _digest(made: Any, met: list[object], before: str) -> str:
    walk = _Walk(met)
    try:
        walk.add(made)
    except RecursionError:
        raise UsageError(
            f"{made.__module__}:{made.__qualname__} refers to too much, one thing inside the "
            "other; define it in a file"
        ) from None
    return hashlib.sha256(before.encode() + walk.digest()).hexdigest()


class _Walk:
    """Adds up everything that a value consists of, each object once.

    Args:
        met: Receives what is of files.
    """

    def __init__(self, met: list[object]) -> None:
        self._met = met
        self._sum = hashlib.sha256()
        #: The number of each object by its id; the objects are kept, so that no id is used twice.
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []

    def digest(self) -> bytes:
        """Return the digest of what was added."""
        return self._sum.digest()

    def add(self, value: Any) -> None:
        """Add a value with all it consists of."""
        if isinstance(value, _PLAIN):
            self._put("plain", type(value).__name__, repr(value))
        elif id(value) in self._seen:
            self._put("seen", str(self._seen[id(value)]))
        else:
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)
            self._add_new(value)

    def _put(self, *texts: str) -> None:
        for text in texts:
            self._sum.update(b"%d:" % len(text) + text.encode("utf-8", "surrogatepass"))

    def _all(self, kind: str, values: Iterable[Any]) -> None:
        listed = list(values)
        self._put(kind, str(len(listed)))
        for value in listed:
            self.add(value)

    def _add_new(self, value: Any) -> None:
        match value:
            case tuple() | list():
                self._all("list", value)
            case dict():
                self._all("dict", (each for item in value.items() for each in item))
            case set() | frozenset():
                self._put("set", *sorted(map(self._alone, value)))
            case CodeType():
                self._all("code", _parts_of_code(value))
            case ModuleType():
                self._put("module")
                self._met.append(value)
            case type() | FunctionType() if _is_of_file(value):
                self._put("name", value.__qualname__)
                self._met.append(value)
            case FunctionType() if value.__code__.co_filename.startswith(_GENERATED):
                self._put("generated", value.__name__)
            case FunctionType():
                self._all("function", _parts_of_function(value))
            case type():
                self._all("class", _parts_of_class(value))
            case _:
                self._all("object", _parts_of_object(value))

    def _alone(self, value: Any) -> str:
        walk = _Walk(self._met)
        walk.add(value)
        return walk.digest().hex()


def _parts_of_code(code: CodeType) -> Iterator[Any]:
    arguments = code.co_argcount + code.co_kwonlyargcount
    yield from (code.co_flags & ~_HAS_DOCSTRING, code.co_posonlyargcount, code.co_kwonlyargcount)
    yield from (code.co_varnames[:arguments], code.co_freevars, code.co_cellvars)
    # By instructions, as the number of a constant changes with docstrings and imports.
    steps = steps_of(code)
    places = {offset: number for number, step in enumerate(steps) for offset in step.offsets}
    for step in steps:
        yield step.name
        yield places.get(step.value) if step.is_jump else step.value
    for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined] # typeshed
        yield tuple(places.get(place) for place in (entry.start, entry.end, entry.target))


def _parts_of_function(function: FunctionType) -> Iterator[Any]:
    yield function.__code__
    yield function.__defaults__
    yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield None
    for name, behind in sorted(used_globals(function.__code__)):
        if name in function.__globals__:
            yield name
            yield _member(function.__globals__[name], behind)
    for source, name in sorted(imported(function.__code__)):
        yield _imported(source, name)


def _member(value: Any, names: Iterable[str]) -> Any:
    """Return the member of a module that names lead to; any other value as it is."""
    for name in names:
        if not isinstance(value, ModuleType) or not hasattr(value, name):
            break
        value = getattr(value, name)
    return value


def _imported(source: str, name: str) -> Any:
    """Return what a local import binds; None if it fails, as it may never be run."""
    with contextlib.suppress(Exception):
        module = importlib.import_module(source)
        if name and not hasattr(module, name):
            return importlib.import_module(f"{source}.{name}")
        return getattr(module, name) if name else module
    return None


def _parts_of_class(made: type) -> Iterator[Any]:
    yield made.__name__
    yield made.__bases__
    for name, member in sorted(vars(made).items()):
        if name not in _NO_MEMBERS:
            yield name
            yield member


def _parts_of_object(value: Any) -> Iterator[Any]:
    """Yield what an object is rebuilt from, as pickle would do it."""
    yield type(value).__qualname__
    match value:
        case staticmethod() | classmethod():
            yield value.__func__
        case property():
            yield from (value.fget, value.fset, value.fdel)
        case functools.cached_property():  # it holds a lock
            yield value.func
        case functools._lru_cache_wrapper():  # noqa: SLF001 (the class of `functools.cache`)
            yield value.__wrapped__
        case _ if isinstance(value, _DESCRIPTORS):
            yield value.__name__
        case _:
            yield from _reduced(value)


def _reduced(value: Any) -> list[Any]:
    try:
        found = value.__reduce_ex__(4)
        if isinstance(found, str):
            return [found]
        # Behind the first three are iterators of items.
        return [*found[:3], *(list(each) for each in found[3:5] if each is not None)]
    except Exception:  # noqa: BLE001 (users' code; what cannot be pickled counts by its class)
        return []


def forget_standard_input() -> None:
    """Remove the name `<stdin>` as the file of `__main__`, as in an interactive session.

    Otherwise a spawned worker would open a file of that name, and so would the digest of sources.
    """
    main = vars(sys.modules["__main__"])
    if str(main.get("__file__")).startswith("<"):
        del main["__file__"]
