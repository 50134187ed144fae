"""Outcomes of checks, and places of classes and functions in files."""

import inspect
from pathlib import Path
from traceback import walk_tb
from typing import Any, ClassVar, Literal

from desim.errors import DesimError, sentence
from desim.faults import fault_text, function_name, place

#: The outcomes of a check; advice is for a world that works and lacks something optional.
Outcome = Literal["ok", "FAILED", "advice", "skipped"]


class CheckFailed(DesimError):
    """A world that does not keep what a check tests.

    Args:
        text: One sentence.
        at: The class or function that it is about; None where no single one is.
    """

    outcome: ClassVar[Outcome] = "FAILED"

    def __init__(self, text: str, at: Any = None) -> None:
        super().__init__(text)
        self.place = "" if at is None else source_place(at)


class CheckAdvice(CheckFailed):
    """A world that works, and in which people or language models lack something."""

    outcome: ClassVar[Outcome] = "advice"


class NotChecked(DesimError):
    """A check that cannot be made; the text is the reason."""


def source_place(thing: Any) -> str:
    """Return the name, file and line of a class or function; empty for a thing without source.

    >>> source_place(source_place).startswith("source_place (outcomes.py, line ")
    True
    """
    inner: Any = thing.fget if isinstance(thing, property) else thing
    while hasattr(inner, "func"):
        inner = inner.func
    inner = inspect.unwrap(inner)
    try:
        lines, first = inspect.getsourcelines(inner)
        file = Path(inspect.getsourcefile(inner) or "").name
    except (OSError, TypeError):
        return ""
    # The decorators of a definition come first.
    offset = next((n for n, line in enumerate(lines) if not line.lstrip().startswith("@")), 0)
    return f"{function_name(inner)} ({file}, line {first + offset})"


def class_place(cls: type) -> str:
    """Return the name, file and line of a class."""
    found = source_place(cls)
    return f"{cls.__qualname__}{found[found.index(' (') :]}" if found else ""


def fault_place(fault: BaseException) -> str:
    """Return where the innermost cause of an exception was raised; empty for a place in desim."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    frames = [frame for frame, _ in walk_tb(fault.__traceback__)]
    own = not frames or str(frames[-1].f_globals.get("__name__", "")).startswith("desim.")
    return "" if own or isinstance(fault, DesimError) else place(fault)


def fault_sentence(fault: BaseException) -> str:
    """Return the text of an exception, with its class unless it is one of desim's own."""
    if isinstance(fault, DesimError):
        return str(fault)
    # The first argument of an error of attrs is its sentence.
    if isinstance(fault, TypeError | ValueError):
        return f"{type(fault).__name__}: {sentence(fault)}"
    return fault_text(fault)
