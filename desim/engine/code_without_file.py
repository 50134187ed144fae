"""Code that no module's file holds: of a notebook or a script, and what functions make.

It counts by what is sent to a worker: bytecode, constants, defaults, enclosed variables, the
globals that are used, and the members and bases of classes. Comments and line numbers do not count.
An object that cannot be pickled, such as a lock, counts by its class alone.
"""

import dis
import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

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
            met += _imported(value)
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
