"""The files that were opened while a row was played, sent from a worker with the row."""

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Protocol

import msgspec

from desim.opened_files import Files, opened_by

#: Separates a row from its files; JSON has no such byte outside of texts, and escapes it inside.
_SEPARATOR = b"\n"

_decode = msgspec.json.Decoder(Files).decode


class PlayedCell(Protocol):
    """A model and policies that play one or many jobs."""

    def parts(self) -> Iterator[Any]:
        """Yield its classes and functions; texts among them do not count here."""
        ...


class RowFiles:
    """Adds to the rows of a chunk the files that are new for their cells."""

    def __init__(self) -> None:
        self._sent: dict[int, Files] = {}
        self._modules: dict[int, frozenset[str]] = {}

    def added(self, row: bytes, cell: PlayedCell) -> bytes:
        """Return a row, followed by the files that no earlier row of its cell has."""
        key = id(cell)  # the jobs of a chunk hold their cells
        if key not in self._modules:
            self._modules[key] = modules_of(cell.parts())
        files, sent = opened_by(self._modules[key]), self._sent.setdefault(key, {})
        new = {path: text for path, text in files.items() if sent.get(path) != text}
        sent |= new
        return row + _SEPARATOR + msgspec.json.encode(new) if new else row


def modules_of(parts: Iterable[object]) -> frozenset[str]:
    """Return the modules of classes, their base classes, and functions; texts do not count."""
    made = [one for one in parts if not isinstance(one, str | bytes)]
    return frozenset(name for one in made for name in _defining_modules(one))


def _defining_modules(maker: object) -> Iterator[str]:
    """Yield the modules of a class and its base classes, of a function, or a module itself."""
    if isinstance(maker, ModuleType):
        yield maker.__name__
        return
    made = maker if hasattr(maker, "__qualname__") else type(maker)
    for each in made.__mro__ if isinstance(made, type) else (made,):
        yield each.__module__


def split(rows: Iterable[bytes]) -> tuple[list[bytes], list[Files]]:
    """Return rows without files, and the files of each."""
    parts = [row.partition(_SEPARATOR) for row in rows]
    return [row for row, _, _ in parts], [_decode(files) if files else {} for *_, files in parts]
