"""Texts of cells, folded between words."""

import re
from collections.abc import Iterable, Iterator

#: A text is broken after a space, or after a mark that joins the words of a spec or a path; the
#: comma before three digits belongs to its number.
_PIECE = re.compile(r"(?:[^\s,=/+]|(?<=\d),(?=\d{3}(?!\d)))*[\s,=/+]*")


def text_width(texts: Iterable[str]) -> int:
    """Return how many columns of a console the longest line of some texts takes."""
    from rich.cells import cell_len

    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def piece_width(texts: Iterable[str]) -> int:
    """Return how many columns the longest piece takes that is not broken."""
    return text_width(piece.rstrip() for text in texts for piece in _PIECE.findall(text))


def folded(text: str, width: int) -> str:
    r"""Return a text with line ends, so that no line is wider than *width*.

    >>> folded("constant,quantity=400 or more", 12)
    'constant,\nquantity=400\nor more'
    >>> folded("training, 1,161 units", 12)
    'training,\n1,161 units'
    """
    return "\n".join(line for each in text.split("\n") for line in _lines(each, width))


def _lines(text: str, width: int) -> Iterator[str]:
    line = ""
    for piece in _PIECE.findall(text):
        if line and text_width([(line + piece).rstrip()]) > width:
            yield line.rstrip()
            line = ""
        line += piece
        while text_width([line.rstrip()]) > width:  # a word that fits in no line
            yield line[:width]
            line = line[width:]
    yield line.rstrip()
