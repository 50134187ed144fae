"""Rows kept as compressed JSON, a tenth of their size as mappings, and decoded on access."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import overload

import msgspec

from desim.engine.plan import Row

#: Rows of a block, which is compressed and decompressed as a whole.
_BLOCK = 256

#: Of zlib: the fastest, which is enough for rows that repeat their keys.
_LEVEL = 1

_decode = msgspec.json.Decoder(Row).decode


class PackedRows(Sequence[Row]):
    """Rows in blocks. A row is decoded whenever it is accessed, so changing one has no effect.

    Args:
        lines: Rows as JSON, without line breaks.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._blocks: list[bytes] = []
        self._count = 0
        left = iter(lines)
        while block := list(islice(left, _BLOCK)):
            self._blocks.append(zlib.compress(b"\n".join(block), _LEVEL))
            self._count += len(block)
        # The block that was read last, as rows are usually accessed in order.
        self._open: tuple[int, list[bytes]] = (-1, [])

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> "SelectedRows": ...

    def __getitem__(self, index: int | slice) -> "Row | SelectedRows":
        place = range(self._count)[index]
        if isinstance(place, range):
            return SelectedRows(self, place)
        block, within = divmod(place, _BLOCK)
        if self._open[0] != block:
            self._open = block, self._lines(block)
        return _decode(self._open[1][within])

    def __iter__(self) -> Iterator[Row]:
        lines = chain.from_iterable(map(self._lines, range(len(self._blocks))))
        return map(_decode, lines)

    def __len__(self) -> int:
        return self._count

    def _lines(self, block: int) -> list[bytes]:
        return zlib.decompress(self._blocks[block]).split(b"\n")


class SelectedRows(Sequence[Row]):
    """Some rows of a sequence, which are looked up there on access.

    Args:
        rows: All rows.
        places: The indices of the selected ones in *rows*, none of them negative.
    """

    def __init__(self, rows: Sequence[Row], places: Sequence[int]) -> None:
        self._rows = rows
        self._places = places

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> "SelectedRows": ...

    def __getitem__(self, index: int | slice) -> "Row | SelectedRows":
        if isinstance(index, slice):
            return SelectedRows(self._rows, self._places[index])
        return self._rows[self._places[index]]

    def __iter__(self) -> Iterator[Row]:
        return map(self._rows.__getitem__, self._places)

    def __len__(self) -> int:
        return len(self._places)
