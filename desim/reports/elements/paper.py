"""The printed length of a report: blocks beyond a number of A4 pages stay on the screen."""

import base64
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve

from desim.reports.elements.page import Block, Facts, Figure, Folded, Gallery, Section
from desim.show.table import Table

#: Inches: the printed height of a page, the width of a picture and of the page that shows it.
_PAGE, _PICTURE, _PAPER = 10.6, 8.2, 7.2

#: Inches: a line of a table, a line of text, the head of a section, and the caption of a figure.
_ROW, _LINE, _HEAD, _CAPTION = 0.19, 0.2, 0.55, 0.3

#: Characters of a printed line of text.
_CHARACTERS = 100

#: The height of a picture in points, in the first characters of its data URI.
_START, _HEIGHT, _POINTS = 2_000, re.compile(rb'<svg[^>]* height="([\d.]+)pt"', re.DOTALL), 72


def printed_within(
    sections: Sequence[Section], pages: int, long: AbstractSet[str]
) -> tuple[Section, ...]:
    """Return sections of which at most so many pages are printed.

    Args:
        sections: All sections, in order.
        pages: A4 pages.
        long: Words with which the titles of sections begin that are printed last, as far as there
            is room.
    """
    places = range(len(sections))
    last = [at for at in places if any(sections[at].title.startswith(word) for word in long)]
    found, cursor = list(sections), 0.0
    for at in [*(at for at in places if at not in last), *last]:
        fits, cursor = 0, cursor + _HEAD
        for block in sections[at].blocks:
            end = _end(cursor, block, has_tables=not sections[at].is_brief)
            if end > pages * _PAGE:
                break
            fits, cursor = fits + 1, end
        found[at] = evolve(sections[at], printed=fits)
    return tuple(found)


def _end(cursor: float, block: Block, *, has_tables: bool) -> float:
    """Return where a block ends that begins at a place, in inches from the first page's top."""
    match block:
        case Figure():
            picture = _picture_height(block) + _CAPTION + _LINE * _lines(block.text)
            rest = _PAGE - cursor % _PAGE
            # A picture that does not fit on the rest of a page is printed on the next one.
            begin = cursor + rest if rest < picture < _PAGE else cursor
            return begin + picture + (_table_height(block.table) if has_tables else 0.0)
        case Gallery():
            across = block.figures[::2]
            return cursor + sum(_picture_height(one) + _CAPTION for one in across)
        case Table():
            return cursor + _table_height(block)
        case Folded():
            return cursor + _table_height(block.table)
        case Facts():
            return cursor + sum(_ROW * _lines(value) for _, value in block.lines)
        case _:
            return cursor + _LINE * 2


def _table_height(table: Table) -> float:
    return _ROW * (len(table.lines) + 2) + _LINE * sum(_lines(note) for note in table.notes)


def _lines(text: object) -> int:
    return -(-len(str(text)) // _CHARACTERS)


def _picture_height(figure: Figure) -> float:
    start = base64.b64decode(figure.image.partition(",")[2][:_START])
    found = _HEIGHT.search(start)
    return float(found[1]) / _POINTS * _PAPER / _PICTURE if found else 0.0
