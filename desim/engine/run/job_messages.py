"""Jobs as messages to workers: pickled here, read and played there.

A message is only ever read by a worker of the process that made it. Nothing that is kept, such as a
record or a checkpoint, holds a pickle.
"""

import inspect
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from desim.engine.opened_files import noting
from desim.engine.plan import Job
from desim.errors import UsageError

#: Plays jobs in order and yields their rows as JSON; it may stop before the last job.
Work = Callable[[Iterable[Any]], Iterator[bytes]]

_NAME = re.compile(r"[^\W\d]\w*")


def import_path() -> list[str]:
    """Return `sys.path` for a process in another folder: an empty entry is the current folder."""
    return [each or os.getcwd() for each in sys.path]  # noqa: PTH109 (entries are texts)


def pickled(work: Work, chunk: Sequence[Job]) -> bytes:
    """Pickle a chunk.

    Classes and functions of `__main__` (a script, a notebook), and those made inside functions, are
    sent by value, with the globals that they use: a worker cannot import them. All others are sent
    by name.

    Raises:
        UsageError: The model or a policy cannot be pickled.
    """
    import cloudpickle

    try:
        message: bytes = cloudpickle.dumps((_annotated(), work, chunk), pickle.HIGHEST_PROTOCOL)
    except Exception as fault:  # noqa: BLE001 (pickling runs users' code)
        raise UsageError(
            f"a job cannot be sent to a worker ({fault}); what its model and policies hold and the "
            "globals they use are pickled, so make locks, files and connections where they are "
            "used, or use jobs=1"
        ) from None
    return message


def rows_of(message: bytes) -> Iterator[bytes]:
    """Play a chunk in a worker, and yield each row as it is played."""
    try:
        with noting():  # it imports the modules of models and policies
            names, work, chunk = pickle.loads(message)  # noqa: S301 (it comes from our own parent)
    except Exception as fault:  # noqa: BLE001 (unpickling runs users' code)
        raise UsageError(
            f"a worker cannot load a job ({type(fault).__name__}: {fault}); the modules of its "
            "model and policies must be importable where the worker runs; or use jobs=1"
        ) from None
    vars(sys.modules["__main__"]).update(names)
    yield from work(chunk)


def rows_elsewhere(message: bytes, path: Sequence[str]) -> list[bytes]:
    """Play a chunk in a worker on another machine, which may lack folders of the import path."""
    sys.path.extend(each for each in path if each not in sys.path)
    return list(rows_of(message))


def _annotated() -> dict[str, Any]:
    """Return by name the objects that annotations of classes of `__main__` name as texts.

    A text such as `"Move | None"` is resolved in `__main__` only when a type is needed, so a class
    that is sent by value does not contain its objects.
    """
    main = vars(sys.modules["__main__"])
    classes = [each for each in [*main.values()] if isinstance(each, type)]
    own = [inspect.get_annotations(each) for each in classes if each.__module__ == "__main__"]
    texts = [text for each in own for text in each.values() if isinstance(text, str)]
    return {name: main[name] for text in texts for name in _NAME.findall(text) if name in main}
