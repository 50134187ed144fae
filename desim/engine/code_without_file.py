"""Code that no module's file holds: of a notebook or a script, and what functions make.

It counts by what is sent to a worker: bytecode, constants, defaults, enclosed variables, the
globals that are used, and the members and bases of classes. Comments and line numbers do not count.
An object that cannot be pickled, such as a lock, counts by its class alone.
"""

import dis
import functools
import hashlib
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

#: A module, class or function of a file; or the name of a module that a function imports.
Met = list[Any]


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


def digest_without_file(made: Any, met: Met) -> str:
    """Return a SHA-256 of a class, a function or an object, with all that it refers to.

    Args:
        made: What has no file; of what it refers to, that of files counts by name.
        met: Receives the modules, classes and functions of files, which count by their files.

    Raises:
        UsageError: It refers to too much, one thing inside the other.
    """
    walk = _Walk(met)
    try:
        walk.add(made)
    except RecursionError:
        name = made if hasattr(made, "__qualname__") else type(made)
        raise UsageError(
            f"{name.__module__}:{name.__qualname__} refers to too much, one thing inside the "
            "other; define it in a file"
        ) from None
    return walk.digest()


class _Walk:
    """Adds up everything that a value consists of, each object once."""

    def __init__(self, met: Met) -> None:
        self._met = met
        self._sum = hashlib.sha256()
        #: The number of each object by its id; the objects are kept, so that no id is used twice.
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []

    def digest(self) -> str:
        return self._sum.hexdigest()

    def add(self, value: Any) -> None:
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
            case set() | frozenset():  # in another order in each process
                self._put("set", *sorted(digest_without_file(one, self._met) for one in value))
            case CodeType():
                self._met += _imported(value)
                self._all("code", _parts_of_code(value))
            case ModuleType():
                self._put("module", value.__name__)
                self._met.append(value)
            case type() | FunctionType() if has_file(value):
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


def _parts_of_code(code: CodeType) -> Iterator[Any]:
    yield from (code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_flags)
    yield from (code.co_freevars, code.co_cellvars, code.co_exceptiontable)
    yield from (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)


def _imported(code: CodeType) -> Iterator[str]:
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
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield from (name, function.__globals__[name])


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def _parts_of_class(made: type) -> Iterator[Any]:
    yield from (made.__name__, made.__bases__)
    for name, member in sorted(vars(made).items()):
        if name not in _NO_MEMBERS:
            yield from (name, member)


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
        case GetSetDescriptorType() | MemberDescriptorType():
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
