"""A board as a table for people, with notes below on what is easily misread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from desim.jobs.rows.comparison_table import PRECISION, UNKNOWN, repeated_note, seeds_cell
from desim.show.labels import estimate_text
from desim.statistics.intervals import Interval
from desim.studies.boards.ranking import BoardLine

if TYPE_CHECKING:  # `import desim` must not load rich
    from rich.console import Group
    from rich.table import Table

__all__ = ["board_table"]

#: Spaces between columns, and on a console with fewer columns than this.
_GAP, _NARROW_GAP, _NARROW = 2, 1, 100

#: Least widths of the columns of text, the first and the last; both are folded where they must be.
_POLICY, _ENDED = 12, 9

#: With spaces at which rich does not fold.
_HALF = "±\N{NO-BREAK SPACE}95\N{NO-BREAK SPACE}%"


def board_table(
    title: str, lines: Sequence[BoardLine], reference: str, seeds: int, width: int, known: str = ""
) -> "Group":
    """Return the table, informed policies under a heading of their own, and the notes it needs.

    Args:
        title: In rich's markup.
        lines: As `ranked` returns them.
        reference: The policy with which the others are compared.
        seeds: The largest number of seeds on which a policy was played.
        width: The columns of the console.
        known: The sentence on the best known scores; empty where there is none.
    """
    from rich.console import Group
    from rich.text import Text

    heads = ["policy", "rank", "n", "mean score", _HALF, PRECISION, "difference", _HALF, "ended"]
    cells = [_cells(line, reference) for line in lines if not line.informed]
    informed = [_cells(line, reference, indent="  ") for line in lines if line.informed]
    if informed:
        cells += [["informed:", *[""] * (len(heads) - 1)], *informed]
    notes = _notes(lines, reference, seeds)
    if width < _NARROW:
        # Numbers are never folded, and the others are needed more.
        place = heads.index(PRECISION)
        heads, *cells = [[*row[:place], *row[place + 1 :]] for row in (heads, *cells)]
        notes = [note for note in notes if not note.startswith(PRECISION)]
    if known:
        notes.append(f"{known}.")
    captions = [Text(note, "table.caption") for note in notes]
    return Group(title, _table(heads, cells, width), *captions)


def _cells(line: BoardLine, reference: str, indent: str = "") -> list[str]:
    count = f"{line.episodes:,}"
    paired = line.difference.paired if line.difference else None
    difference = ["", ""] if reference in line.policies else _estimate(paired)
    ended = ", ".join(f"{count:,} {end}" for end, count in line.ended.items())
    names = indent + " = ".join(line.policies)
    rank = UNKNOWN if line.rank is None else str(line.rank)
    needed = seeds_cell(line.estimate)
    return [names, rank, count, *_estimate(line.estimate), needed, *difference, ended]


def _estimate(estimate: Interval | None) -> list[str]:
    """Return the mean and half the width of its interval."""
    if estimate is None:
        return [UNKNOWN, UNKNOWN]
    half = estimate.half
    return [
        estimate_text(estimate.mean, half),
        UNKNOWN if half is None else estimate_text(half, half),
    ]


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]], width: int) -> "Table":
    """Return a table in which no number is folded, and no text is cut or read as markup."""
    from rich.table import Table
    from rich.text import Text

    gap = _NARROW_GAP if width < _NARROW else _GAP
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    last = len(heads) - 1
    # rich counts a gap behind the last column, too.
    widths = _widths(heads, lines, width - len(heads) * gap)
    for place, (head, columns) in enumerate(zip(heads, widths, strict=True)):
        justify = "left" if place in {0, last} else "right"
        table.add_column(Text(head), justify=justify, overflow="fold", width=columns)  # type: ignore[arg-type]
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def _widths(heads: Sequence[str], lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of columns; the first and the last share what the numbers leave over.

    The heads of numbers are folded between words.
    """
    columns = list(zip(*lines, strict=True))
    cells = [max(map(len, column)) for column in columns]
    wanted = [max(len(head), most) for head, most in zip(heads, cells, strict=True)]
    words = [max(map(len, head.split(" "))) for head in heads]
    numbers = [max(word, most) for word, most in zip(words, cells, strict=True)][1:-1]
    left = width - sum(numbers)
    # The policy has up to half of it, more where the end does not need the rest.
    policy = max(_POLICY, min(wanted[0], max(left // 2, left - wanted[-1])))
    ended = max(_ENDED, min(wanted[-1], left - policy))
    for place, most in enumerate(wanted[1:-1]):
        free = max(0, width - policy - ended - sum(numbers))
        numbers[place] += min(most - numbers[place], free)
    return [policy, *numbers, ended]


def _notes(lines: Sequence[BoardLine], reference: str, seeds: int) -> list[str]:
    """Return the sentences that the lines need."""
    counts = {line.episodes for line in lines}
    rivals = sum(reference not in line.policies for line in lines)
    together = f" The {rivals} intervals hold together (Bonferroni)."
    notes = [
        f"difference: to {reference}, on the same seeds. {_HALF}: half the confidence interval."
        + together * (rivals > 1),
        f"{PRECISION}: seeds with which half the interval of the mean is that share of it.",
    ]
    if rivals:
        notes.append("rank: 1 more than the number of policies that are known to be better.")
    if useless := [line for line in lines if line.difference and not line.difference.pairing_helps]:
        names = ", ".join(line.policies[0] for line in useless)
        notes.append(f"the same seeds make the difference no surer for {names}.")
    repeated = {
        line.policies[0]: line.seeds
        for line in lines
        if line.seeds and line.seeds[0] > line.seeds[1]
    }
    if repeated:
        notes.append(f"{repeated_note(repeated)}.")
    if any(len(line.policies) > 1 for line in lines):
        notes.append("a = b: the same scores, ends and ledgers on every seed.")
    if any(line.informed for line in lines):
        notes.append(
            "informed: uses facts that its role cannot observe. It shows what they are worth, and "
            "is no rival of the policies above."
        )
    if seeds > 1 and 1 in counts:
        notes.append(
            f"n = 1: the episode is the same on every seed, so its score is exact ({UNKNOWN})."
        )
    if any(1 < count < seeds for count in counts):
        notes.append(
            f"n below {seeds:,}: played on the first seeds only, as an episode takes long; compare "
            "the difference, not the mean."
        )
    if any(line.failed and line.estimate for line in lines):
        notes.append("failed: counts with the worst score that the world declares.")
    if any(line.failed and not line.estimate for line in lines):
        notes.append("failed: a mean without these proves nothing, so such a line comes last.")
    return notes
