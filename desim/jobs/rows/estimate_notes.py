"""The notes and the legend of tables of estimates, which comparisons and boards share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from desim.show.estimates import PRECISION, SAME, is_equal, seeds_cell
from desim.show.labels import estimate_text
from desim.statistics.intervals import Interval
from desim.statistics.pairing import Difference

#: Lines that a note lists.
_LISTED = 3

_SEEDS_NEEDED = f"{PRECISION}: seeds with which half the interval is that share of the mean"
_SAME_EPISODE = f"{SAME}: every seed has the same episode, so the figures are exact"
_SAME_VALUE = f"{SAME}: all seeds have the same value, so there is no interval"
_WORST = "failed: episodes that failed count with the worst score of their model"
_NO_MEAN = "failed: a mean without the episodes that failed proves nothing: no mean"

#: All of them in their order below a table.
_TERMS = (_SEEDS_NEEDED, _SAME_EPISODE, _SAME_VALUE, _WORST, _NO_MEAN)


class EstimateLine(Protocol):
    """A line of a table: the mean of a figure over the seeds of a group."""

    @property
    def name(self) -> str:
        """The group as text."""

    @property
    def figure(self) -> str:
        """The column whose mean is estimated."""

    @property
    def estimate(self) -> Interval | None:
        """The mean; None if it is withheld."""

    @property
    def failed(self) -> int:
        """The number of failed episodes."""

    @property
    def difference(self) -> Difference | None:
        """The difference to the reference."""

    @property
    def seeds(self) -> tuple[int, int] | None:
        """The number of seeds played, and of those that have different episodes."""


def estimate_notes(
    lines: Sequence[EstimateLine], against: str, rivals: int, *, widths: bool = True
) -> list[str]:
    """Return the sentences on the figures of some lines.

    Args:
        lines: The lines of one table.
        against: The reference of the differences, or empty.
        rivals: How many lines of each figure are compared with it.
        widths: State both widths of each difference that pairing has not narrowed.
    """
    found = []
    if against:
        together = f"; the {rivals} intervals of a figure hold together (Bonferroni)"
        found.append(f"difference to {against}, paired by seed{together * (rivals > 1)}")
        found += _no_gain_note(lines, widths=widths)
    repeated = {line.name: line.seeds for line in lines if line.seeds and not _is_same(line)}
    return found + repeated_note(repeated)


def estimate_legend(lines: Iterable[EstimateLine]) -> list[str]:
    """Return the sentences on what heads and cells of some lines mean."""
    found: dict[str, None] = {}
    for line in lines:
        if line.estimate:
            found |= dict.fromkeys(_estimate_terms(line, line.estimate))
        elif line.failed:
            found[_NO_MEAN] = None
        if line.difference and is_equal(line.difference.paired):
            found[_SAME_VALUE] = None
    return sorted(found, key=_TERMS.index)


def repeated_note(seeds: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the sentence on groups in which seeds have the same episodes, if there are any.

    Args:
        seeds: By group, the seeds, and how many of them have different episodes.
    """
    counts = [f"{name} ({n:,} of {all_:,})" for name, (all_, n) in seeds.items() if all_ > n]
    if not counts:
        return []
    note = (
        f"seeds with different episodes: {_listed(counts)}; where the others repeat them by "
        "design, as cases that come in turn, and not by chance, the intervals are too narrow"
    )
    return [note]


def _estimate_terms(line: EstimateLine, estimate: Interval) -> Iterator[str]:
    if seeds_cell(estimate) is not None:
        yield _SEEDS_NEEDED
    if _is_same(line):
        yield _SAME_EPISODE
    elif is_equal(estimate):
        yield _SAME_VALUE
    if line.failed:
        yield _WORST


def _is_same(line: EstimateLine) -> bool:
    """Return whether the episodes are the same on each of several seeds."""
    return line.seeds is not None and line.seeds[0] > line.seeds[1] == 1


def _no_gain_note(lines: Iterable[EstimateLine], *, widths: bool) -> list[str]:
    """Return the sentence on lines whose difference pairing has not narrowed, if any."""
    texts = [
        f"{line.name} in {line.figure} {_widths_text(line.difference)}" if widths else line.name
        for line in lines
        if line.difference and not line.difference.pairing_helps
    ]
    return [f"pairing by seed gains nothing for {_listed(texts)}"] if texts else []


def _widths_text(found: Difference) -> str:
    """Return the correlation of a pair, and half the widths of both intervals."""
    half = found.paired.half
    assert half is not None
    assert found.unpaired is not None
    correlation = "" if found.correlation is None else f"correlation {found.correlation:.2f}, "
    widths = " and ".join(f"±{estimate_text(each, each)}" for each in (half, found.unpaired))
    return f"({correlation}paired and unpaired {widths})"


def _listed(texts: Sequence[str]) -> str:
    """Return texts as a list, cut if it is long."""
    more = f" and {len(texts) - _LISTED:,} more" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + more
