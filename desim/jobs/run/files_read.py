"""The files that were opened while a row was played, sent from a worker with the row."""

from collections.abc import Iterable, Iterator
from types import ModuleType

import msgspec

from desim.jobs.keep.fingerprint import inside, players
from desim.jobs.plan.job import Cell
from desim.opened_files import Files, opened_by

#: Separates a row from its files; JSON has no such byte outside of texts, and escapes it inside.
_SEPARATOR = b"\n"

_decode = msgspec.json.Decoder(Files).decode


class RowFiles:
    """Adds to the rows of a chunk the files that are new."""

    def __init__(self) -> None:
        self._sent: Files = {}
        self._modules: dict[int, frozenset[str]] = {}

    def added(self, row: bytes, cell: Cell) -> bytes:
        """Return a row, followed by the files that no earlier row of the chunk has."""
        files = opened_by(self._modules_of(cell))
        new = {path: text for path, text in files.items() if self._sent.get(path) != text}
        self._sent |= new
        return row + _SEPARATOR + msgspec.json.encode(new) if new else row

    def _modules_of(self, cell: Cell) -> frozenset[str]:
        key = id(cell)  # the jobs of a chunk hold their cells
        if key not in self._modules:
            model = cell.variant.model
            found = (*inside(model), *players(model, cell.entry.policies))
            self._modules[key] = frozenset(_modules(found))
        return self._modules[key]


def _modules(found: Iterable[object]) -> Iterator[str]:
    for one in found:
        if not isinstance(one, str | bytes):
            yield from _defining_modules(one)


def _defining_modules(maker: object) -> Iterator[str]:
    """Yield the modules of a class and its base classes, of a function, or a module itself."""
    if isinstance(maker, ModuleType):
        yield maker.__name__
        return
    for each in maker.__mro__ if isinstance(maker, type) else (maker,):
        yield each.__module__


def split(rows: Iterable[bytes]) -> tuple[list[bytes], Files]:
    """Return rows without files, and the files of all of them."""
    found: Files = {}
    plain = []
    for each in rows:
        row, _, files = each.partition(_SEPARATOR)
        plain.append(row)
        found |= _decode(files) if files else {}
    return plain, found
