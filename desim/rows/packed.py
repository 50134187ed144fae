"""Rows kept as compressed JSON, a tenth of their size as mappings, and decoded on access."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import msgspec

from desim.engine.plan import Row

#: Rows of a block, which is compressed and decompressed as a whole.
_BLOCK = 256

#: Of zlib: the fastest, which is enough for rows that repeat their keys.
_LEVEL = 1

_decode = msgspec.json.Decoder(Row).decode


class PackedRows:
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

    def __getitem__(self, index: int) -> Row:
        block, within = divmod(index, _BLOCK)
        if self._open[0] != block:
            self._open = block, self._lines(block)
        return _decode(self._open[1][within])

    def __iter__(self) -> Iterator[Row]:
        return map(_decode, chain.from_iterable(map(self._lines, range(len(self._blocks)))))

    def __len__(self) -> int:
        return self._count

    def _lines(self, block: int) -> list[bytes]:
        return zlib.decompress(self._blocks[block]).split(b"\n")
