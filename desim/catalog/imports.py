"""Imports of models and policies: our namespace packages, and `module:Name` of a user's own."""

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from functools import cache
from types import ModuleType
from typing import Any

from desim.errors import UsageError, possible

__all__ = ["folders", "import_ours", "is_users_module", "load"]


@cache
def folders(package: str) -> tuple[str, ...]:
    """Return the names of the packages inside one of our namespace packages, sorted."""
    path = import_ours(package).__path__
    return tuple(sorted(m.name for m in pkgutil.iter_modules(path) if m.ispkg))


def import_ours(name: str) -> ModuleType:
    """Import a module of one of our namespace packages.

    Raises:
        UsageError: A module or a regular package of the user's has the same name and hides ours.
    """
    package = name.split(".", 1)[0]
    # A namespace package has no file of its own.
    if hiding := getattr(importlib.import_module(package), "__file__", None):
        raise UsageError(
            f"{hiding} hides desim's own {package!r}; remove that file and both folders are used"
        )
    return importlib.import_module(name)


def is_users_module(name: str) -> bool:
    """Return whether a module of that name exists, Python's own apart; nothing is imported."""
    return (
        name.isidentifier()
        and name not in sys.stdlib_module_names
        and importlib.util.find_spec(name) is not None
    )


def load(path: str, what: str) -> Any:
    """Import a user's class or function.

    Args:
        path: `module:Name`; the command line has put the current folder on the import path.
        what: What the error text calls it.

    Raises:
        UsageError: There is no such module, or it has no class or function of that name.
    """
    module, _, name = path.partition(":")
    if not module or module.startswith("."):
        raise UsageError(f"{what} {path!r} names no module; write module:Class")
    try:
        members = vars(importlib.import_module(module))
    except ModuleNotFoundError as fault:
        if fault.name is None or not module.startswith(fault.name):
            raise
        raise UsageError(f"{what} {path!r}: there is no module {fault.name!r} here") from None
    if not _loadable(members.get(name)):
        names = [n for n, v in members.items() if _loadable(v)]
        raise UsageError(
            f"{what} {path!r}: no class or function {name!r} in {module!r}; {possible(name, names)}"
        )
    return members[name]


def _loadable(value: Any) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)
