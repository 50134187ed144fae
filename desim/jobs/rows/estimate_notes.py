"""The notes and the legend of tables of estimates, which comparisons and boards share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from desim.jobs.rows.failures import missing_text
from desim.jobs.rows.samples import Sample
from desim.show.estimates import ALIKE, EXACT, SAME, TO_TELL, is_equal
from desim.show.labels import estimate_text, value_text
from desim.statistics.intervals import Interval
from desim.statistics.pairing import Difference
from desim.statistics.shape import Shape, unseen

#: Lines that a note lists, and values of a column.
_LISTED, _VALUES = 3, 5

#: A value that so large a share of a sample has is named; and the fewest times that it occurs.
_ATOM, _OFTEN = 0.2, 3

_EXACT = f"{EXACT}: the world is deterministic, so every seed has the same episode"
_SAME_VALUE = f"{SAME}: all seeds have the same value, so there is no interval"
_ALIKE = f"{ALIKE}: all cases have the same mean, so there is no interval"
_WORST = "failed: episodes that failed count with the worst score of their model"
_NO_MEAN = "failed: a mean without the episodes that failed proves nothing: no mean"

#: The column of default actions, in boards and in tables of suites.
DEFAULTS_MEANS = (
    "defaults: share of a language model's decisions that took the default action, as no reply "
    "came or none could be read."
)

#: All of them in their order below a table.
_TERMS = (_EXACT, _SAME_VALUE, _ALIKE, _WORST, _NO_MEAN)


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

    @property
    def sample(self) -> Sample:
        """The values on which the estimate rests."""


def estimate_notes(lines: Sequence[EstimateLine]) -> list[str]:
    """Return the sentences on the figures of some lines of one table."""
    repeated = {
        line.name: line.seeds
        for line in lines
        if line.seeds and line.seeds[1] > 1 and not line.sample.is_clustered
    }
    return [
        *_pairing_notes(lines),
        *dict.fromkeys(note for line in lines for note in unit_note(line.sample)),
        *repeated_note(repeated),
        *_shape_notes(lines),
    ]


def estimate_legend(lines: Iterable[EstimateLine], *, equal: bool = False) -> list[str]:
    """Return the sentences on what heads and cells of some lines mean.

    Args:
        lines: The lines of one table.
        equal: Whether some of its differences are the same on all seeds.
    """
    found: dict[str, None] = {_SAME_VALUE: None} if equal else {}
    for line in lines:
        if line.estimate:
            found |= dict.fromkeys(_estimate_terms(line, line.estimate))
        elif line.failed:
            found[_NO_MEAN] = None
    return sorted(found, key=_TERMS.index)


def to_tell_term(other: str) -> str:
    """Return the sentence on the seeds, cases or items that would tell two lines apart."""
    return (
        f"{TO_TELL}: seeds (or cases, items) with which half the 95 % interval of the difference "
        f"to {other} would be half of it"
    )


def missing_note(counts: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the sentence on numbers that are missing, NaN or infinite, if there are any.

    Args:
        counts: By line, the episodes without a number that have not failed, and all episodes.
    """
    texts = [f"{name}: {missing_text(*of)}" for name, of in counts.items() if of[0]]
    return [f"in no mean, as missing, NaN or infinite: {_listed(texts)}"] if texts else []


def averaged_note(values: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the sentence on the columns over which the groups of a table are means."""
    texts = []
    for name, each in values.items():
        more = f", ... ({len(each):,} values)" if len(each) > _VALUES else ""
        texts.append(f"{name} = {', '.join(map(value_text, each[:_VALUES]))}{more}")
    return [f"mean over {' and '.join(texts)}"] if texts else []


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


def unit_note(sample: Sample) -> Iterator[str]:
    """Yield the sentence on what intervals count, where it is not seeds."""
    n = len(sample.values)
    if sample.is_clustered:
        cases = len(sample.independent)
        text = "one case: no interval" if cases == 1 else f"{cases:,} cases, which intervals count"
        yield f"{n:,} seeds, {text}; seeds that share a case are not independent"
    elif sample.unit != "seeds" and n:
        yield f"intervals are over {n:,} {sample.unit}; seeds only repeat these"


def unseen_text(n: int) -> str:
    """Return how probable an outcome may be that a number of seeds does not hold."""
    return f"{100 * unseen(n):.1f} %"


def _estimate_terms(line: EstimateLine, estimate: Interval) -> Iterator[str]:
    if line.sample.is_exact:
        yield _EXACT
    elif is_equal(estimate):
        yield _ALIKE if estimate.sd else _SAME_VALUE
    if line.failed:
        yield _WORST


def _shape_notes(lines: Sequence[EstimateLine]) -> Iterator[str]:
    """Yield what the samples show that their intervals do not."""
    several = len({line.figure for line in lines}) > 1
    shapes = [
        (f"{line.name} in {line.figure}" if several else line.name, line.sample.shape)
        for line in lines
        if len(line.sample.values) > 1 and not (line.sample.is_exact or line.sample.has_shares)
    ]
    if skewed := [f"{name} {one.needed:,}" for name, one in shapes if one.is_skewed]:
        unit = lines[0].sample.independent_unit
        yield f"skewed; {unit} that a 95 % interval would need: {_listed(skewed)}"
    atoms = [f"{name} {_atom_text(one)}" for name, one in shapes if _has_atom(one)]
    if atoms and lines[0].sample.unit == "seeds":
        yield f"one value is frequent: {_listed(atoms)}"
    constant: dict[int, list[str]] = {}
    for name, one in shapes:
        if one.constant:
            constant.setdefault(one.n, []).append(f"{name} ({value_text(one.atom)})")
    for n, names in constant.items():
        yield (
            f"all {n:,} values are equal: {_listed(names)}; an outcome of up to {unseen_text(n)} "
            "may be unseen"
        )


def _has_atom(one: Shape) -> bool:
    return not one.constant and one.atom_share >= max(_ATOM, _OFTEN / one.n)


def _atom_text(one: Shape) -> str:
    return f"{value_text(one.atom)} ({100 * one.atom_share:.0f} %)"


def _pairing_notes(lines: Sequence[EstimateLine]) -> Iterator[str]:
    """Yield the sentences on lines whose difference pairing has not narrowed, or has widened."""
    several = len({line.figure for line in lines}) > 1
    found: dict[str, list[tuple[str, Difference]]] = {"no gain": [], "widens": []}
    for line in lines:
        if line.difference and line.difference.pairing and line.sample.unit == "seeds":
            name = f"{line.name} in {line.figure}" if several else line.name
            found[line.difference.pairing].append((name, line.difference))
    if pairs := found["no gain"]:
        yield f"shared seeds gain nothing for {_listed([name for name, _ in pairs])}"
    if pairs := found["widens"]:
        texts = [f"{name} {_widths_text(one)}" for name, one in pairs]
        yield (
            "shared seeds widen the interval of the difference (in brackets with different seeds): "
            + _listed(texts)
        )


def _widths_text(found: Difference) -> str:
    """Return half the widths of both intervals of a difference."""
    half = found.paired.half
    assert half is not None
    assert found.unpaired is not None
    mine, other = (f"±{estimate_text(each, each)}" for each in (half, found.unpaired))
    return f"{mine} ({other})"


def _listed(texts: Sequence[str]) -> str:
    """Return texts as a list, cut if it is long."""
    more = f" and {len(texts) - _LISTED:,} more" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + more
