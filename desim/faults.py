"""Where an exception of a model was raised, in words for an error."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any

from simpy import Process
from simpy.events import Condition, Event, Interruption

from desim.errors import DesimError, PolicyFailed
from desim.short_repr import shortened

#: Exceptions that are caught of a model or a policy; `exit()` would end a command without a text.
RAISED = (Exception, SystemExit)

#: Modules whose frames say nothing about the model, and the files of methods that attrs generates.
_MACHINERY = ("attr.", "desim.core", "desim.composition.parts", "desim.faults", "simpy")
_GENERATED = "<attrs generated"


def place(fault: BaseException) -> str:
    """Return the function of the model in which an exception was raised, its line and file."""
    # The innermost frame that is not the clock's. Its own line moves on in a `finally`; the
    # traceback has the line that raised.
    frames = [(f, line) for f, line in walk_tb(fault.__traceback__) if not _is_machinery(f)]
    return _code_place(frames[-1][0].f_code, frames[-1][1]) if frames else "the clock"


def _code_place(code: CodeType, line: int) -> str:
    return f"{code.co_qualname} ({Path(code.co_filename).name}, line {line})"


def _is_machinery(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith(_MACHINERY) or frame.f_code.co_filename.startswith(_GENERATED)


def fault_text(fault: BaseException) -> str:
    """Return the class and the shortened text of an exception."""
    try:
        text = shortened(str(fault))
    except Exception:  # noqa: BLE001 (a model's exception class may raise anything)
        text = "(its text cannot be made)"
    return f"{type(fault).__name__}: {text}"


def process_place(process: Any) -> str:
    """Return the place at which a SimPy process waits, in its innermost generator."""
    generator: Any = process._generator  # noqa: SLF001 (SimPy has no public name for it)
    while hasattr(inner := getattr(generator, "gi_yieldfrom", None), "gi_frame"):
        generator = inner
    frame = getattr(generator, "gi_frame", None)
    return str(process.name) if frame is None else _code_place(frame.f_code, frame.f_lineno)


def resumed_by(event: Event) -> str:
    """Return in words the first process that an event resumes, else its first callback."""
    owners = [getattr(each, "__self__", None) for each in event.callbacks or ()]
    for owner in owners:
        if isinstance(owner, Condition) and owner is not event:
            return resumed_by(owner)
        process = owner.process if isinstance(owner, Interruption) else owner
        if isinstance(process, Process):
            return f"process {process.name!r} in {process_place(process)}"
    return f"callback {function_name(event.callbacks[0])}" if event.callbacks else ""


class Noted:
    """Adds a note to an exception that leaves the block, such as "in part 'plant' at its t=3".

    Not a function of `contextlib`, which takes as long as an event.
    """

    __slots__ = ("_where",)

    def __init__(self, where: Callable[[], str]) -> None:
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, fault: BaseException | None, _trace: object) -> None:
        if isinstance(fault, RAISED):
            note = self._where()
            if note not in getattr(fault, "__notes__", ()):
                fault.add_note(note)


@contextlib.contextmanager
def policy_failing(policy: str, where: str) -> Iterator[None]:
    """Raise `PolicyFailed` for an exception of a policy, such as "in seated as 'cfo'"."""
    try:
        yield
    except DesimError:
        raise
    except RAISED as fault:
        raise PolicyFailed(f"policy {policy} failed {where}: {fault_text(fault)}") from fault


def notes_text(fault: BaseException) -> str:
    """Return the notes of an exception in brackets, with a space before; empty without notes."""
    notes = getattr(fault, "__notes__", ())
    return f" ({shortened(', '.join(map(str, notes)))})" if notes else ""


def function_name(function: Any) -> str:
    """Return the qualified name of a function, which may be wrapped in a `partial`."""
    inner = function
    while hasattr(inner, "func"):
        inner = inner.func
    return str(getattr(inner, "__qualname__", type(inner).__name__))
