"""Imports of models and policies: our namespace packages, and `module:Name` of a user's own."""

import importlib
import importlib.util
import pkgutil
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from desim.errors import UsageError, possible
from desim.joined_packages import module_named, own_folder


@cache
def folders(package: str) -> tuple[str, ...]:
    """Return the names of the packages inside one of our namespace packages, sorted."""
    own, *others = importlib.import_module(package).__path__
    # Another distribution may install a package of the same name into the folder of ours.
    ours = (m for m in pkgutil.iter_modules([own]) if Path(own, m.name, "README.md").exists())
    found = {module.name for module in (*ours, *pkgutil.iter_modules(others)) if module.ispkg}
    return tuple(sorted(found))


def is_loaded(module: str) -> bool:
    """Return whether a module is imported already, so that importing it runs no code."""
    return isinstance(sys.modules.get(module_named(module)), ModuleType)


def foreign_file(name: str) -> str:
    """Return the file of a module such as `models.NAME` that is not in desim's own folder.

    Empty if it is there, is imported already, or does not exist; imports nothing.
    """
    package, _, _ = name.rpartition(".")
    path = importlib.import_module(package).__path__
    spec = None if is_loaded(name) else PathFinder.find_spec(name, path)
    file = (spec and spec.origin) or ""
    return "" if _is_own_file(package, file) else file


def is_shipped(value: Any) -> bool:
    """Return whether a class or function is in desim's own folder of models or policies."""
    package, _, _ = value.__module__.partition(".")
    file = getattr(sys.modules.get(value.__module__), "__file__", None) or ""
    return package in {"models", "policies"} and _is_own_file(package, file)


def _is_own_file(package: str, file: str) -> bool:
    return Path(file).resolve().is_relative_to(Path(own_folder(package)).resolve())


def is_users_module(name: str) -> bool:
    """Return whether a module of that name exists outside Python's library; imports no module."""
    return name.isidentifier() and (
        module_named(name) != name
        or (name not in sys.stdlib_module_names and importlib.util.find_spec(name) is not None)
    )


def load(path: str, what: str) -> Any:
    """Import a user's class or function.

    Args:
        path: `module:Name`; the command line has put the current folder on the import path.
        what: The kind of object in the error text, such as "model".

    Raises:
        UsageError: The module does not exist, ends Python, or has no class or function of that
            name.
    """
    module, _, name = path.partition(":")
    if not module or module.startswith("."):
        raise UsageError(f"{what} {path!r} names no module; write module:Class")
    try:
        members = vars(importlib.import_module(module_named(module)))
    except ModuleNotFoundError as fault:
        if fault.name is None or not module.startswith(fault.name):
            raise
        missing = f"there is no module {fault.name!r} here{_read_from(module)}"
        raise UsageError(f"{what} {path!r}: {missing}") from None
    except SystemExit as fault:
        missing = f"{module} ends Python while it is imported (sys.exit({fault.code!r}))"
        raise UsageError(f"{what} {path!r}: {missing}{_read_from(module)}") from fault
    found = members.get(name)
    if callable(found):
        return found
    own = [n for n, v in members.items() if getattr(v, "__module__", "") == members["__name__"]]
    names = [n for n in own if callable(members[n])]
    missing = f"no class or function {name!r} in {module!r}; {possible(name, names)}"
    raise UsageError(f"{what} {path!r}: {missing}{_read_from(module)}")


def _read_from(module: str) -> str:
    """Return the end of an error sentence: the file of a module, or of the package around it."""
    own = module_named(module)
    for name in (own, own.partition(".")[0]):
        with suppress(ImportError, ValueError):  # a missing module, or one without a specification
            if (spec := importlib.util.find_spec(name)) and spec.has_location:
                return f" (read from {spec.origin})"
    return ""
