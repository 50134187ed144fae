"""Modules that are imported when they are first used."""

from importlib import import_module
from typing import Any


class LateModule:
    """A module that is imported when one of its names is first used.

    It stands for a module that takes long to import or may be missing, as numpy does in a browser:

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = LateModule("numpy")

    Args:
        name: The module's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return the module's *name*.

        Raises:
            ModuleNotFoundError: The module is not installed.
        """
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value
