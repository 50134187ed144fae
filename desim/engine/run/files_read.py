"""The files that were opened while a row was played, sent from a worker with the row."""

from collections.abc import Iterable, Iterator
from types import ModuleType

import msgspec

from desim.engine.opened_files import Files, opened, opened_by

#: Separates a row from its files; JSON has no such byte outside of texts, and escapes it inside.
_SEPARATOR = b"\n"

_decode = msgspec.json.Decoder(Files).decode


def with_files(row: bytes, parts: Iterable[object]) -> bytes:
    """Return a row, followed by the files that the code of its cell has opened in this process."""
    files = opened_by(modules_of(parts)) if opened() else {}
    return row + _SEPARATOR + msgspec.json.encode(files) if files else row


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
