"""The elements of a report: plain texts in sections, tables and figures, without markup."""

from collections.abc import Iterable, Sequence, Sized
from importlib import import_module
from itertools import islice

from attrs import field, frozen

from desim.errors import UsageError
from desim.short_repr import shortened, visible_text
from desim.show.table import Table, cell_text

#: Lines of a table that are shown.
MOST_LINES = 200

#: Characters of one text that are shown.
_LONGEST = 300


def clean(text: object, width: int = _LONGEST) -> str:
    r"""Return a text that any page and picture can hold: cut, on one line, without control codes.

    >>> clean("a\x00b\nc")
    'a�b c'
    """
    # Cut before it is looked at, as a record from a stranger may hold a very long one.
    one_line = " ".join(shortened(str(text), width).split())
    return "".join(each if each.isprintable() else "\ufffd" for each in one_line)


def check_installed(what: str, *modules: str) -> None:
    """Check that modules of the extra can be imported, before minutes of playing or reading.

    Args:
        what: Subject and verb of the error text.
        modules: Their names.

    Raises:
        UsageError: One cannot be imported.
    """
    try:
        for module in modules:
            import_module(module)
    except ImportError as fault:
        raise UsageError(
            f"{what} {fault.name}; install the extra, as in: pip install 'desim[report]'"
        ) from None


def note_of_cut(shown: Sized, of: Sized, what: str) -> list[str]:
    """Return the note that a figure shows only some of several; empty if it shows all."""
    if len(of) <= len(shown):
        return []
    return [f"the figure shows {len(shown)} of {len(of):,} {what}"]


@frozen
class Fold:
    """A long text in a cell of a table, of which a reader opens the rest.

    Attributes:
        head: What is always shown.
        rest: The text; it keeps its lines.
    """

    head: str
    rest: str

    @classmethod
    def of(cls, text: str, head: int, most: int) -> "Fold | str":
        """Return a text as a cell: folded if it is long, and cut if it is very long.

        Args:
            text: Any text.
            head: Characters that are always shown; a text of one line and so few is not folded.
            most: Characters of all; a longer text says how long it is.
        """
        if len(text) <= head and "\n" not in text:
            return clean(text, head)
        rest = "\n".join(clean(line, most) for line in text[:most].splitlines())
        if len(text) > most:
            rest += f"\n... the first {most:,} of {len(text):,} characters"
        line = "; ".join(text[: 4 * head].split("\n"))
        return cls(f"{clean(line[:head], head)}\u2026", rest)


def cleaned(
    heads: Iterable[object],
    lines: Iterable[Iterable[object]],
    left: Iterable[int] = (0,),
    notes: Iterable[object] = (),
    most: int = MOST_LINES,
    legend: Iterable[object] = (),
) -> Table:
    """Return a table of clean texts, at most *most* lines; a note says how many are left out."""
    each = iter(lines)
    shown = [map(_cell, line) for line in islice(each, most)]
    more = sum(1 for _ in each)
    sentences = [f"{len(shown):,} of {len(shown) + more:,} lines are shown"] if more else []
    sentences += [clean(note, 2_000) for note in notes]
    terms = [clean(term, 2_000) for term in legend]
    return Table(map(clean, heads), shown, left, notes=sentences, legend=terms)


def _cell(value: object) -> str | Fold:
    return value if isinstance(value, Fold) else clean(cell_text(value))


def facts_table(facts: Iterable[tuple[object, object]]) -> Table:
    """Return names with their values, each value folded if it is long."""
    return cleaned(
        (), ((name, Fold.of(str(value), _LONGEST, 2_000)) for name, value in facts), (0, 1)
    )


@frozen
class Figure:
    """A picture, and the numbers that it shows.

    Attributes:
        title: What it shows, as a caption.
        image: The picture as a data URI.
        alt: The picture in words.
        table: The numbers.
    """

    kind = "figure"
    title: str = field(converter=clean)
    image: str
    alt: str
    table: Table


@frozen
class Gallery:
    """Figures of one size side by side, as many as the page is wide.

    Attributes:
        title: Above them; empty for none.
        figures: In order.
    """

    kind = "gallery"
    title: str = field(converter=clean)
    figures: tuple[Figure, ...]


@frozen
class Folded:
    """A table that a reader opens.

    Attributes:
        title: What is always shown.
        table: What is opened.
        is_open: Whether it is open at first.
    """

    kind = "folded"
    title: str = field(converter=clean)
    table: Table
    is_open: bool = False


def _said(texts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((clean(label), visible_text(text)) for label, text in texts)


@frozen
class Talk:
    """Long texts that a reader opens together, such as a request and its reply.

    Attributes:
        title: What is always shown.
        texts: Each with what it is; they keep their lines, and control characters are escaped.
    """

    kind = "talk"
    title: str = field(converter=clean)
    texts: tuple[tuple[str, str], ...] = field(converter=_said)


#: A block of a section: a plain text is a paragraph.
Given = Table | Figure | Gallery | Folded | Talk | str


@frozen
class Section:
    """A part of a report: its head, and its blocks from top to bottom."""

    title: str = field(converter=clean)
    blocks: tuple[Given, ...] = ()

    @classmethod
    def of(cls, title: str, blocks: Iterable[Given]) -> "Section":
        """Return a section of clean texts."""
        return cls(title, tuple(clean(b, 2_000) if isinstance(b, str) else b for b in blocks))


@frozen
class Page:
    """A report.

    Attributes:
        title: What it is about.
        lead: Sentences below the title.
        sections: Its parts; those without a block are left out.
    """

    title: str = field(converter=clean)
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    @classmethod
    def of(cls, title: str, lead: Iterable[str], sections: Sequence[Section]) -> "Page":
        """Return a report of the sections that hold something."""
        return cls(
            title,
            tuple(clean(one, 2_000) for one in lead),
            tuple(section for section in sections if section.blocks),
        )
