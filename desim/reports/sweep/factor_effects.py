"""The effects of the varied parameters and policies of a sweep on the mean of a figure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from math import prod
from typing import Any

from attrs import frozen

from desim.reports.charts import Curve, Panel, lines
from desim.reports.page import Figure, Given, cleaned, note_of_cut
from desim.reports.sweep.varied import VaryingColumn, families
from desim.rows.columns import means_by_seed
from desim.rows.rows import Rows
from desim.rows.samples import Sample
from desim.show.estimates import SEEDED_HEADS, seeded_cells
from desim.statistics.intervals import Interval

#: Lines of a figure, panels of a figure, and values of a parameter that is not a number.
_MOST_CURVES, _MOST_PANELS, _MOST_NAMES = 8, 9, 12

#: Parameters that vary before main effects and interactions say more than `over_parameters`.
_SEVERAL = 2


@frozen
class Estimates:
    """One column of numbers of a sweep, of which groups of rows have means.

    Attributes:
        seeds: The seed of every row.
        values: The figure of every row; a failed one has the worst score of its model, or None.
    """

    seeds: Sequence[int]
    values: Sequence[float | None]

    @classmethod
    def of(cls, rows: Rows, figure: str = "score") -> "Estimates":
        """Return the column of some rows."""
        return cls(rows.column("seed"), rows.counted(figure))

    def mean(self, places: Iterable[int]) -> Interval | None:
        """Return the mean of the rows at some indices, several rows of a seed as one value.

        None without values, or if an episode has none, as it failed and its model declares no worst
        score: a mean without the bad episodes proves nothing.
        """
        each = list(places)
        values = [self.values[place] for place in each]
        if None in values:
            return None
        means = means_by_seed((self.seeds[at] for at in each), values)
        return Sample(means).estimate(0.95)


def over_parameters(
    rows: Rows, factors: Sequence[VaryingColumn], figure: str = "score"
) -> Iterator[Given]:
    """Yield the mean of a figure over each number that varies, a line for each policy."""
    estimates = Estimates.of(rows, figure)
    for factor in factors:
        if not factor.numeric:
            continue
        # Only rows with a value, so that a policy without the argument has no line.
        families_of = families(rows, [factor.name])
        known = [place for place, level in enumerate(factor.levels) if level is not None]
        curves = {
            name: {level: estimates.mean(at) for level, at in factor.places(places).items()}
            for name, places in families_of.places(known).items()
        }
        known_curves = {name: each for name, each in curves.items() if any(each.values())}
        shown = dict(islice((known_curves or curves).items(), _MOST_CURVES))
        about = [factor.text] if factor.text else []
        yield Figure(
            f"Mean {figure} against {factor.name}, with 95 % intervals",
            lines([Panel("", factor.name, _curves(shown))], figure),
            f"Mean {figure} over {len(factor.values())} values of {factor.name}, "
            f"a line for each of {len(shown)} policies.",
            cleaned(
                ["policy", factor.name, *SEEDED_HEADS],
                _level_lines(curves),
                notes=[*about, *note_of_cut(shown, curves, "policies")],
            ),
        )


def main_effects(
    rows: Rows, factors: Sequence[VaryingColumn], figure: str = "score"
) -> Iterator[Given]:
    """Yield the mean of a figure by level of what varies, over everything else; for several."""
    design = _Design.of(rows, factors, figure)
    if not design.factors:
        return
    found = {factor.name: design.means(factor, design.among) for factor in design.factors}
    shown = design.factors[:_MOST_PANELS]
    about = "each mean is over all rows with that level, several rows of a seed as one value"
    yield Figure(
        f"Main effects: mean {figure} by level, with 95 % intervals",
        lines([_panel(factor, {"": found[factor.name]}) for factor in shown], figure),
        f"Mean {figure} by level of {', '.join(factor.name for factor in shown)}.",
        cleaned(
            ["column", "level", *SEEDED_HEADS],
            _level_lines(found),
            left=(0, 1),
            notes=[*note_of_cut(shown, design.factors, "columns"), *design.notes],
            legend=(about,),
        ),
    )


def interactions(
    rows: Rows, factors: Sequence[VaryingColumn], figure: str = "score"
) -> Iterator[Given]:
    """Yield the mean of a figure at each pair of levels of every two columns that vary."""
    design = _Design.of(rows, factors, figure)
    pairs = list(combinations(design.factors, 2))
    for first, second in pairs[:_MOST_PANELS]:
        found = {
            str(level): design.means(first, places)
            for level, places in second.places(design.among).items()
        }
        shown = dict(islice(found.items(), _MOST_CURVES))
        about = "lines that are not parallel show that the two act together"
        cut = note_of_cut(shown, found, f"levels of {second.name}")
        yield Figure(
            f"Interaction of {first.name} and {second.name}: mean {figure}, with 95 % intervals",
            lines([_panel(first, shown, second.name)], figure),
            f"Mean {figure} by level of {first.name}, a line for each level of {second.name}.",
            cleaned(
                [first.name, second.name, *SEEDED_HEADS],
                ([level, other, *texts] for other, level, *texts in _level_lines(found)),
                left=(0, 1),
                notes=[*design.notes, *cut],
                legend=(about,),
            ),
        )
    if len(pairs) > _MOST_PANELS:
        yield cleaned(
            ["further pairs"], ([f"{a.name} and {b.name}"] for a, b in pairs[_MOST_PANELS:])
        )


def _level_lines(found: Mapping[str, Mapping[Any, Interval | None]]) -> Iterator[list[Any]]:
    """Yield a line for each mean: its name, its level, and its cells."""
    for name, means in found.items():
        for level, mean in means.items():
            yield [name, level, *seeded_cells(mean)]


@frozen
class _Design:
    """The factors that vary, and the rows among which levels can be compared.

    Attributes:
        factors: Two parameters at least, and perhaps policies; empty if fewer vary.
        among: The rows of policies that have every argument that varies, and whose means are not
            withheld; all rows if no policy is like this.
        estimates: The estimates of all rows.
        notes: What is left out, and whether levels meet unevenly.
    """

    factors: Sequence[VaryingColumn] = ()
    among: Sequence[int] = ()
    estimates: Estimates | None = None
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, rows: Rows, factors: Sequence[VaryingColumn], figure: str) -> "_Design":
        """Return the design of a sweep."""
        few = [one for one in factors if one.numeric or len(one.values()) <= _MOST_NAMES]
        if len(few) < _SEVERAL:
            return cls()
        estimates = Estimates.of(rows, figure)
        by_policy = families(rows, [factor.name for factor in few])
        groups = by_policy.places()
        whole = {
            policy: places
            for policy, places in groups.items()
            if estimates.mean(places)
            and all(f.levels[at] is not None for f in few for at in places)
        } or groups
        among = sorted(place for places in whole.values() for place in places)
        out = [policy for policy in groups if policy not in whole]
        left = "left out, as they failed or lack an argument that varies: "
        notes = [left + ", ".join(out)] if out else []
        if 1 < len(whole) <= _MOST_NAMES:
            few.append(by_policy)
        return cls(few, among, estimates, [*notes, *_uneven(few, among)])

    def means(self, factor: VaryingColumn, among: Iterable[int]) -> dict[Any, Interval | None]:
        """Return the mean at each level of a factor among some rows."""
        assert self.estimates is not None
        return {level: self.estimates.mean(at) for level, at in factor.places(among).items()}


def _uneven(factors: Sequence[VaryingColumn], among: Iterable[int]) -> Iterator[str]:
    """Yield the sentence for rows in which not all levels meet equally often."""
    counts = Counter(tuple(factor.levels[place] for factor in factors) for place in among)
    seen = [len({key[number] for key in counts}) for number in range(len(factors))]
    if len(counts) != prod(seen) or len(set(counts.values())) > 1:
        yield "the levels do not all meet equally often, so a mean may show another column's effect"


def _panel(
    factor: VaryingColumn, by_curve: dict[str, dict[Any, Interval | None]], legend: str = ""
) -> Panel:
    """Return curves over the levels of a factor."""
    if factor.numeric:
        return Panel("", factor.name, _curves(by_curve), legend=legend)
    names = [name for name in factor.values() if any(name in each for each in by_curve.values())]
    place = {name: number for number, name in enumerate(names)}
    placed = {
        label: {place[level]: mean for level, mean in each.items()}
        for label, each in by_curve.items()
    }
    return Panel("", factor.name, _curves(placed), [str(name) for name in names], legend)


def _curves(by_label: dict[str, dict[Any, Interval | None]]) -> list[Curve]:
    return [Curve(name, list(each), list(each.values())) for name, each in by_label.items()]
