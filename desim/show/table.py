"""A table of values: printed as text and on a console, and written as HTML, CSV and JSON."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain, pairwise
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from desim.short_repr import visible_text
from desim.show.folding import folded, piece_width, text_width
from desim.show.labels import NOTHING, value_text

if TYPE_CHECKING:  # `import desim` must not load rich
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment
    from rich.table import Table as RichTable

#: A table wider than the page of a notebook scrolls by itself.
_SCROLLS = '<div style="overflow-x: auto">'
#: Styles of columns: words, the head of numbers, and numbers, which stay on one line.
_LEFT = "text-align: left"
_RIGHT = "text-align: right"
_NUMBER = f"{_RIGHT}; white-space: nowrap"

#: Characters of a console on which no line is folded.
_UNLIMITED = 100_000

#: The most notes below a table; those that change most for a reader are first.
MOST_NOTES = 3

#: Spaces between columns, and on a console with fewer columns than this.
_GAP, _NARROW_GAP, _NARROW = 2, 1, 100


@frozen
class Printed:
    """A value of a table, and the text that is printed for it.

    Attributes:
        value: A plain value, as CSV and JSON have it.
        text: What people read.
    """

    value: Any
    text: str

    def __str__(self) -> str:
        return self.text


class Tabular:
    """The base of classes that are printed as tables.

    `print` aligns the tables, rich folds them to the width of its console, a prompt of Python shows
    them within the width of its terminal, and notebooks show them as HTML. The sentences of their
    legends are below the last one, each once. Derived attrs classes are made without a `repr`.
    """

    __slots__ = ()

    def tables(self) -> "Sequence[Table]":
        """Return the tables from top to bottom."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self._text_within(_UNLIMITED)

    def __repr__(self) -> str:
        return self._text_within(get_terminal_size().columns if _is_prompt() else _UNLIMITED)

    def _text_within(self, width: int) -> str:
        from desim.show.console import SafeConsole

        console = SafeConsole(width=width, color_system=None, force_jupyter=False)
        with console.capture() as capture:
            console.print(self)
        return capture.get().removesuffix("\n")

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator[Any]:
        for place, table in enumerate(tables := self.tables()):
            yield from [""] * (place > 0)
            for shown in table.rendered(options.max_width):
                yield from _without_trailing_blanks(console.render(shown, options))
        yield from _captions(legend(tables, options.max_width))

    def _repr_html_(self) -> str:
        tables = self.tables()
        return "\n".join([*(table.html() for table in tables), *map(_paragraph, legend(tables))])


def _is_prompt() -> bool:
    """Return whether values are printed on a terminal."""
    return sys.stdout is not None and not sys.stdout.closed and sys.stdout.isatty()


def _line_tuples(lines: Iterable[Iterable[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, lines))


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(texts)


def _first_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(texts)[:MOST_NOTES]


def _places(places: Iterable[int]) -> frozenset[int]:
    return frozenset(places)


@frozen(repr=False)
class Table(Tabular):
    """A table of values with the sentences that it needs.

    Attributes:
        heads: The heads of the columns; none for a table without a line of heads.
        lines: Plain values, `Printed` or None, one for each column.
        left: The places of the columns of words, from 0; the others hold numbers. On a narrow
            console words are folded, and numbers never.
        title: Above it; empty for none.
        notes: Sentences about its figures, without which a line could be misread; the first
            `MOST_NOTES` are kept.
        legend: Sentences that say what a head or a mark means, the same in other tables.
        spare: The places of columns that are left out on a console of less than 100 columns, with
            the sentences of the legend that begin with their heads.
        breaks: The places of columns before which a table that is too wide for its console is
            continued below, with its first column repeated; where this is not enough, before any.
    """

    heads: tuple[str, ...] = field(converter=_texts)
    lines: tuple[tuple[Any, ...], ...] = field(converter=_line_tuples)
    left: frozenset[int] = field(default=(0,), converter=_places)
    title: str = ""
    notes: tuple[str, ...] = field(default=(), converter=_first_texts)
    legend: tuple[str, ...] = field(default=(), converter=_texts)
    spare: frozenset[int] = field(default=(), converter=_places)
    breaks: frozenset[int] = field(default=(), converter=_places)

    def tables(self) -> "Sequence[Table]":
        """Return the table itself."""
        return (self,)

    @property
    def texts(self) -> list[list[str]]:
        """The texts of the lines."""
        return [[cell_text(value) for value in line] for line in self.lines]

    def plain(self) -> dict[str, Any]:
        """Return it as a plain object, for JSON."""
        return {
            "title": self.title,
            "heads": list(self.heads),
            "lines": [[_plain_value(cell) for cell in line] for line in self.lines],
            "notes": list(self.notes),
            "legend": list(self.legend),
        }

    def csv(self) -> str:
        """Return heads and values as CSV."""
        return b"".join(csv_lines(self.heads, self.lines)).decode()

    def html(self) -> str:
        """Return title, table and notes as HTML, without the legend."""
        heads = [_LEFT if place in self.left else _RIGHT for place in range(self._width)]
        cells = [_LEFT if place in self.left else _NUMBER for place in range(self._width)]
        rows = [_html_row("td", texts, cells) for texts in self.texts]
        head = [f"<thead>{_html_row('th', self.heads, heads)}</thead>"] if self.heads else []
        title = [f"<p><strong>{escape(self.title)}</strong></p>"] if self.title else []
        # Without colours of its own, a table is readable on a light page and on a dark one.
        table = [f"{_SCROLLS}<table>", *head, "<tbody>", *rows, "</tbody></table></div>"]
        return "\n".join([*title, *table, *map(_paragraph, self.notes)])

    def rendered(self, width: int) -> Iterator[Any]:
        """Yield what rich prints of title, table and notes at a width, without the legend."""
        from rich.text import Text

        if self.title:
            yield Text(self.title, "bold")
        heads = [self.heads] if self.heads else []
        # Escaped before their widths are measured: `SafeConsole` would escape what is laid out.
        columns = [[*map(visible_text, each)] for each in zip(*heads, *self.texts, strict=True)]
        gap = _NARROW_GAP if width < _NARROW else _GAP
        left_out = self.left_out(width)
        kept = [at for at in range(self._width) if at not in left_out]
        ends = [0, *sorted(self.breaks), self._width]
        blocks = [[at for at in kept if start <= at < end] for start, end in pairwise(ends)]
        wanted = [text_width(column) + gap for column in columns]
        least = [self._least(at, column) for at, column in enumerate(columns)]
        narrow = [size + gap for size in least]
        for part in _packed(blocks, wanted, width) if self.breaks else [kept]:
            for piece in _packed([[at] for at in part], narrow, width):
                yield self._rich_table(columns, least, piece, width, gap)
        yield from _captions(self.notes)

    def left_out(self, width: int) -> frozenset[int]:
        """Return the places of the columns that are not printed at a width."""
        return self.spare if width < _NARROW else frozenset()

    @property
    def _width(self) -> int:
        """The number of columns."""
        return len(self.heads or next(iter(self.lines), ()))

    def _least(self, place: int, column: Sequence[str]) -> int:
        """Return the width of a column whose words, or whose head, are folded."""
        if place in self.left:
            return piece_width(column)
        heads = bool(self.heads)
        return text_width([*column[heads:], *column[0].split(" ")])

    def _rich_table(
        self,
        all_columns: Sequence[Sequence[str]],
        least: Sequence[int],
        part: Sequence[int],
        width: int,
        gap: int,
    ) -> "RichTable":
        """Return some of the columns, no narrower than their least widths, as a table of rich."""
        from rich.table import Table as RichTable
        from rich.text import Text

        columns, words = [all_columns[at] for at in part], [at in self.left for at in part]
        # rich counts a gap behind the last column, too.
        widths = _widths(columns, words, [least[at] for at in part], width - gap * len(part))
        table = RichTable(
            box=None, pad_edge=False, padding=(0, gap, 0, 0), show_header=bool(self.heads)
        )
        for place, (column, most) in enumerate(zip(columns, widths, strict=True)):
            head = Text(column[0] if self.heads else "")
            side: Any = "left" if words[place] else "right"
            style = "" if self.heads or place else "bold"
            table.add_column(head, justify=side, style=style, overflow="fold", width=most)
        for line in list(zip(*columns, strict=True))[bool(self.heads) :]:
            # As Text, because a bracket is not markup.
            table.add_row(
                *(Text(folded(text, most)) for text, most in zip(line, widths, strict=True))
            )
        return table


def legend(tables: Iterable[Table], width: int = _UNLIMITED) -> list[str]:
    """Return the sentences of the legends of tables that are printed at a width, each once.

    A sentence that is the beginning of another is left out: the other says more of the same term.
    """
    found: dict[str, None] = {}
    for table in tables:
        heads = tuple(f"{table.heads[at]}: " for at in table.left_out(width))
        found |= dict.fromkeys(one for one in table.legend if not one.startswith(heads))
    return [one for one in found if not any(each != one and each.startswith(one) for each in found)]


def print_tables(out: "Console", found: Iterable[Tabular]) -> None:
    """Print tables as they come, empty lines between them, and their legend at the end."""
    printed: list[Table] = []
    for each in found:
        for table in each.tables():
            if printed:
                out.print()
            out.print(evolve(table, legend=()))
            printed.append(table)
    if sentences := legend(printed, out.width):
        out.print()
        out.print(*_captions(sentences), sep="\n")


def cell_text(value: Any) -> str:
    """Return the text of a value in a table.

    >>> [cell_text(value) for value in (None, "", 1234, 0.5, True, Printed((1, 2), "[1, 2]"))]
    ['—', '', '1,234', '0.5', 'yes', '[1, 2]']
    """
    if value is None:
        return NOTHING
    return str(value) if isinstance(value, str | Printed) else value_text(value)


def csv_lines(heads: Iterable[str], lines: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Yield lines of CSV in UTF-8; None is empty, and truth values and lists are JSON."""
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for values in chain([heads], lines):
        writer.writerow(map(_csv_cell, values))
        yield line.getvalue().encode()
        line.seek(0)
        line.truncate()


def _plain_value(cell: Any) -> Any:
    return cell.value if isinstance(cell, Printed) else cell


def _csv_cell(cell: Any) -> Any:
    value = _plain_value(cell)
    return json.dumps(value) if isinstance(value, bool | list | tuple | dict) else value


def _without_trailing_blanks(segments: "Iterable[Segment]") -> "Iterator[Segment]":
    """Yield the lines of a table, which rich fills up to the width of its columns."""
    from rich.segment import Segment

    for line in Segment.split_lines(segments):
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            text, style, control = line.pop()
            line.append(Segment(text.rstrip(), style, control))
        yield from [*line, Segment.line()]


def _captions(sentences: Iterable[str]) -> Iterator[Any]:
    from rich.text import Text

    for sentence in sentences:
        yield Text(sentence, "table.caption")


def _paragraph(sentence: str) -> str:
    return f"<p><small>{escape(sentence)}</small></p>"


def _html_row(tag: str, texts: Iterable[str], styles: Iterable[str]) -> str:
    # Notebooks differ in the space between columns; some have none.
    cells = (
        f'<{tag} style="{style}; padding: 0.1em 0.6em">{escape(text)}</{tag}>'
        for text, style in zip(texts, styles, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _packed(
    blocks: Iterable[Sequence[int]], sizes: Sequence[int], width: int
) -> Iterator[list[int]]:
    """Yield the places of columns that fit beside each other, each time with the first column."""
    packed: list[int] = []
    for block in blocks:
        if packed[1:] and sum(sizes[at] for at in (*packed, *block)) > width:
            yield packed
            packed = packed[:1]
        packed = [*packed, *block]
    if packed:
        yield packed


def _widths(
    columns: Sequence[Sequence[str]], words: Sequence[bool], least: Sequence[int], width: int
) -> list[int]:
    """Return the widths of columns, which together take no more than *width* where they can.

    Columns of words share what numbers leave over.
    """
    wanted, found = [text_width(column) for column in columns], list(least)
    free = width - sum(found)
    if free < 0 and any(words):
        numbers = sum(each for each, is_word in zip(least, words, strict=True) if not is_word)
        most = max(1, (width - numbers) // sum(words))
        found = [min(n, most) if is_word else n for n, is_word in zip(least, words, strict=True)]
        free = width - sum(found)
    # Narrow columns first, so that what they do not need is left to wide ones.
    order = sorted(range(len(columns)), key=lambda at: (not words[at], wanted[at] - found[at]))
    for place, at in enumerate(order):
        share = max(0, free) // max(1, sum(words) - place)
        more = min(wanted[at] - found[at], share)
        found[at] += more
        free -= more
    return found
