"""The entries of a suite over all its worlds: ranks, and the seeds that tell any two apart."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import asdict, frozen

from desim.jobs.keep.outcome import JobOutcome
from desim.show.estimates import ends_cell, number_cell
from desim.show.table import Printed, Table
from desim.statistics.across_worlds import AcrossWorlds, across_worlds
from desim.statistics.variance import MOST_RUNS
from desim.suites.suite_plan import Plan, PlannedWorld, SuiteJob

#: Fewer worlds, or entries, give no table over worlds.
_FEWEST = 2

_HEADS = ("entry", "score", "95 %", "ranks", "ranks elsewhere")

_RANKS = (
    "ranks: all that the seeds leave possible on these worlds, together with 95 %",
    "ranks elsewhere: on other worlds of which these are a sample (whole worlds resampled)",
)

#: The values of an entry in a world by seed; by repeat where there is a single seed.
_Values = dict[Hashable, float]


@frozen
class EntryComparison:
    """The entries of a suite over its worlds.

    Attributes:
        here: On these worlds.
        elsewhere: On worlds like these.
        left_out: Entries that have no scores in some of the worlds.
        own_scale: Worlds whose scores have no known floor and best, so that 0 and 1 are the lowest
            and the highest mean of the entries.
    """

    here: AcrossWorlds
    elsewhere: AcrossWorlds
    left_out: tuple[str, ...]
    own_scale: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            name: {
                **asdict(one, filter=lambda field, _: field.name not in ("halves", "needed")),
                "pairs": [
                    {"entry": a, "other": b, "half": half, "seeds_needed": one.needed[a, b]}
                    for (a, b), half in one.halves.items()
                ],
            }
            for name, one in (("here", self.here), ("elsewhere", self.elsewhere))
        }


def compared(plan: Plan, outcomes: Mapping[str, JobOutcome]) -> EntryComparison | None:
    """Return the comparison of all entries that have scores in every world.

    Scores are normalised by world as boards do it: 0 is the floor of each seed, 1 is as far above
    the mean floor as the mean of the best known scores.

    Returns:
        None for fewer than two worlds or entries, or fewer than two seeds of a world.
    """
    scores = _scores(plan, outcomes)
    worlds = [plan.worlds[name] for name in plan.worlds if name in {w for w, _ in scores}]
    played = [name for name in plan.entries if name in {e for _, e in scores}]
    whole = [entry for entry in played if all((w.name, entry) in scores for w in worlds)]
    if min(len(worlds), len(whole)) < _FEWEST:
        return None
    by_world = {
        world.name: _normalised(world, {entry: scores[world.name, entry] for entry in whole})
        for world in worlds
    }
    scaled = {e: {w: found[e] for w, found in by_world.items() if found} for e in whole}
    here, elsewhere = across_worlds(scaled), across_worlds(scaled, drawn=True)
    if here is None or elsewhere is None:
        return None
    left_out = tuple(entry for entry in played if entry not in whole)
    own = tuple(world.name for world in worlds if not world.scale)
    return EntryComparison(here, elsewhere, left_out, own)


def comparison_tables(found: EntryComparison | None) -> Iterator[Table]:
    """Yield the table of ranks, and that of the seeds that tell any two entries apart."""
    if found is None:
        return
    here = found.here
    order = sorted(range(len(here.names)), key=lambda i: -here.means[i])
    rows = [
        [
            here.names[i],
            number_cell(here.means[i], (here.high[i] - here.low[i]) / 2),
            ends_cell(here.low[i], here.high[i]),
            _ranks(here.ranks[i]),
            _ranks(found.elsewhere.ranks[i]),
        ]
        for i in order
    ]
    yield Table(_HEADS, rows, (0,), title="Across worlds", notes=_notes(found), legend=_RANKS)
    yield _pair_table(here, [here.names[i] for i in order])


def _pair_table(found: AcrossWorlds, names: Sequence[str]) -> Table:
    """Return the seeds that tell each entry from each that is above it."""
    *above, _ = names
    rows = [
        [name, *(_needed(found, name, other) for other in above[:place])]
        + [None] * (len(above) - place)
        for place, name in enumerate(names)
        if place
    ]
    fewest, most = min(found.seeds), max(found.seeds)
    played = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return Table(
        ("entry", *above),
        rows,
        (0,),
        title="Seeds in each world that tell two entries apart",
        notes=[f"95 %, power 0.8; played: {played}"],
    )


def _scores(
    plan: Plan, outcomes: Mapping[str, JobOutcome]
) -> dict[tuple[str, str], dict[Hashable, float]]:
    """Return the scores by world and entry, and by seed or, with a single seed, by repeat."""
    found: dict[tuple[str, str], dict[Hashable, list[float]]] = {}
    for job in plan.jobs:
        each = outcomes[job.name].each if job.name in outcomes else ()
        values = [one.score for one in each if one.state == "done" and one.score is not None]
        if values:
            by_unit = found.setdefault((job.world, job.entry), {})
            by_unit.setdefault(_unit(plan, job), []).extend(values)
    return {
        key: {unit: fmean(values) for unit, values in by_unit.items()}
        for key, by_unit in found.items()
    }


def _unit(plan: Plan, job: SuiteJob) -> Hashable:
    alone = len(plan.worlds[job.world].seeds) == 1
    return (job.seed, job.repeat) if alone else job.seed


def _normalised(world: PlannedWorld, values: Mapping[str, _Values]) -> dict[str, _Values]:
    """Return values on the scale of a world; none where all entries have the same mean."""
    if world.scale:
        room = fmean(best - floor for floor, best in world.scale.values())
        floors = {seed: floor for seed, (floor, _) in world.scale.items()}
    else:
        means = [fmean(each.values()) for each in values.values()]
        room, floors = max(means) - min(means), dict.fromkeys(world.seeds, min(means))
    if room <= 0:
        return {}
    return {
        entry: {unit: (value - floors[_seed(unit)]) / room for unit, value in each.items()}
        for entry, each in values.items()
    }


def _seed(unit: Any) -> int:
    return int(unit[0] if isinstance(unit, tuple) else unit)


def _ranks(ends: tuple[int, int]) -> Printed:
    low, high = ends
    return Printed(low, f"{low}" if low == high else f"{low}-{high}")


def _needed(found: AcrossWorlds, mine: str, other: str) -> Any:
    places = found.names.index(mine), found.names.index(other)
    first, second = (found.names[place] for place in sorted(places))
    if (number := found.needed[first, second]) is not None:
        return number
    equal = found.means[places[0]] == found.means[places[1]]
    return Printed(MOST_RUNS, "equal" if equal else f"over {MOST_RUNS:,}")


def _notes(found: EntryComparison) -> Iterator[str]:
    count = len(found.here.worlds)
    yield f"{count} worlds, which count alike: 0 is a world's floor, 1 its best known score"
    if found.own_scale:
        yield (
            f"no known scores: {', '.join(found.own_scale)}; there 0 is the lowest and 1 the "
            "highest mean of these entries"
        )
    if found.left_out:
        yield f"not in every world, so left out: {', '.join(found.left_out)}"
