"""The page of a board: its tables by class of trust, what they prove, and its log."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import msgspec

from desim.errors import UsageError
from desim.reports.elements.charts import dots
from desim.reports.elements.html import rendered
from desim.reports.elements.page import (
    Facts,
    Figure,
    Given,
    Page,
    Section,
    check_installed,
    cleaned,
)
from desim.show.estimates import SEEDED_HEADS, seeded_cells
from desim.show.files import write_whole
from desim.show.table import csv_lines
from desim.statistics.intervals import Interval
from desim.verification.boards.board_log import SignedLine
from desim.verification.boards.entry_board import EntryBoard
from desim.verification.signed.keys import PublicKey
from desim.verification.verified_tables import BoardClass, BoardEntry, board_tables, shown_table

#: Entries of a figure that are shown, and lines of the log.
_MOST_SHOWN, _MOST_LINES = 40, 500

#: The limits of every check, on every board.
_NOT_PROVED = (
    "Not proved by anything: who or what wrote a model's replies or played a sealed session; that "
    "client and server of a session do not collude; the best of many private runs on public or "
    "fresh seeds; several identities of one person; training on public worlds."
)


def board_page(board: EntryBoard) -> Page:
    """Return the page of a board.

    Raises:
        BadRecord: The folder does not hold what its log names.
    """
    tables = board_tables(board)
    entries = {line.digest for lines in tables.values() for line in lines}
    lead = (
        f"{len(entries):,} entries, each verified when it was entered; headings say how.",
        "Classes of trust and of knowledge have tables and ranks of their own.",
        _NOT_PROVED,
    )
    sections = [Section.of(key.title, _table(key, lines)) for key, lines in tables.items()]
    shown = [shown_table(key, lines) for key, lines in tables.items()]
    legend = dict.fromkeys(sentence for table in shown for sentence in table.legend)
    facts = Facts.of((head, text) for head, _, text in (one.partition(": ") for one in legend))
    terms = Section.of("Terms", [facts] if legend else [])
    log = Section.of("Log", [*_facts(board), _log(board)])
    return Page.of(board.title, lead, [*sections, terms, log])


def _table(key: BoardClass, lines: list[BoardEntry]) -> Iterator[Given]:
    table = shown_table(key, lines)
    yield cleaned(table.heads, table.texts, sorted(table.left), table.notes)
    shown = [line for line in lines if line.ranks][:_MOST_SHOWN]
    if len(shown) > 1:
        names, scores = [line.name for line in shown], [line.score for line in shown]
        yield Figure(
            "Score of each entry with its 95 % interval",
            dots(names, scores, "score"),
            f"Mean scores with intervals of {len(shown)} entries.",
            cleaned(["entry", *SEEDED_HEADS], _rows(names, scores)),
        )


def _rows(names: list[str], scores: list[Interval]) -> list[list[Any]]:
    return [[name, *seeded_cells(score)] for name, score in zip(names, scores, strict=True)]


def _facts(board: EntryBoard) -> Iterator[Facts]:
    yield Facts.of(
        [
            ("public key of the board", board.log.key.hex),
            ("lines", f"{len(board.log.lines):,}"),
            ("digest of the last line", board.log.end),
        ]
    )


def _log(board: EntryBoard) -> Given:
    heads = ["line", "day (UTC)", "event", "subject", "key", "note"]
    lines = list(reversed(board.log.lines))
    return cleaned(heads, map(_log_line, lines), range(1, 6), most=_MOST_LINES)


def _log_line(signed: SignedLine) -> list[object]:
    line = signed.line
    day = dt.datetime.fromtimestamp(line.time, dt.UTC).date().isoformat()
    key = PublicKey(bytes.fromhex(line.key)).id[:16] if line.key else ""
    return [line.number, day, line.event, line.subject[:16], key, line.note]


def write_board(board: EntryBoard, out: Path) -> list[Path]:
    """Write the page of a board, and its tables as CSV and JSON; files of that name are replaced.

    Raises:
        UsageError: A file cannot be written, or matplotlib or jinja2 is not installed.
        BadRecord: See `board_page`.
    """
    check_installed("a board's page needs", "jinja2", "matplotlib")
    tables = {key: shown_table(key, lines) for key, lines in board_tables(board).items()}
    plain = [{"class": attrs.asdict(key), **table.plain()} for key, table in tables.items()]
    heads = [*dict.fromkeys(head for table in tables.values() for head in table.heads)]
    rows = [
        [*attrs.astuple(key), *map(dict(zip(table.heads, line, strict=True)).get, heads)]
        for key, table in tables.items()
        for line in table.lines
    ]
    names = [field.name for field in attrs.fields(BoardClass)]
    files = {
        "index.html": rendered(board_page(board)),
        "board.json": msgspec.json.format(msgspec.json.encode(plain), indent=1),
        "board.csv": b"".join(csv_lines([*names, *heads], rows)),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {out}: {fault.strerror}") from None
    for name, content in files.items():
        write_whole(out / name, [content])
    return [out / name for name in files]
