"""The seeds of a suite: those of its report, and those on which its entries may be tuned."""

import itertools
from collections.abc import Mapping, Sequence

from attrs import evolve

from desim.errors import UsageError
from desim.studies.sweep import read_seeds
from desim.suites.suite_file import MAX_JOBS, EntryTable, Suite, WorldTable, at

#: Seeds of a sentence at most; it counts the others.
_MOST_NAMED = 5


def seeds_of(given: str | list[int], episodes: int) -> tuple[int, ...]:
    """Return the seeds of a world, each of which begins a number of episodes in a row.

    Args:
        given: "A:B" without B, or a list.
        episodes: Episodes in a row.

    Raises:
        UsageError: They have another form, or two series would play one seed.
    """
    seeds = _seeds_in(given)
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise UsageError(f"seeds {given!r} were given; they are different numbers of at least 0")
    if any(after - before < episodes for before, after in itertools.pairwise(sorted(seeds))):
        raise UsageError(
            f"seeds {given!r} and episodes = {episodes} were given, so that two series would play "
            f"the same seed; give seeds {episodes} apart, such as [0, {episodes}]"
        )
    return tuple(seeds)


def checked(suite: Suite) -> Suite:
    """Return a suite whose worlds all name seeds and repeats, and no seed of the report for tuning.

    Raises:
        UsageError: Seeds have another form, or are in both.
    """
    worlds = {}
    for name, world in suite.worlds.items():
        with at(f"worlds.{name}"):
            seeds = world.seeds or suite.seeds
            report = _played(seeds_of(seeds, world.episodes), world)
            tuning = world.tuning_seeds or suite.tuning_seeds
            others = _played(seeds_of(tuning, world.episodes), world) if tuning else set()
            if shared := sorted(report & others):
                text = f"tuning_seeds and seeds share {listed(shared)}; they must differ"
                raise UsageError(text)
        repeats = world.repeats or suite.repeats
        worlds[name] = evolve(world, seeds=seeds, tuning_seeds=tuning, repeats=repeats)
    for name, entry in suite.entries.items():
        with at(f"entries.{name}.tuned_on"):
            _seeds_in(entry.tuned_on or [])
    return evolve(suite, worlds=worlds)


def for_tuning(suite: Suite) -> Suite:
    """Return a checked suite whose report seeds are its tuning seeds.

    Raises:
        UsageError: A world has none.
    """
    for name, world in suite.worlds.items():
        if not world.tuning_seeds:
            raise UsageError(f"worlds.{name} has no tuning_seeds; give some, or play its seeds")
    worlds = {n: evolve(w, seeds=w.tuning_seeds) for n, w in suite.worlds.items()}
    return evolve(suite, worlds=worlds)


def tuned_on_report(entry: EntryTable, suite: Suite) -> Mapping[str, list[int]]:
    """Return by world the seeds of the report on which an entry was tuned, by its own words."""
    tuned = set(_seeds_in(entry.tuned_on or []))
    return {
        name: sorted(tuned & _played(seeds_of(world.seeds, world.episodes), world))
        for name, world in suite.worlds.items()
        if name in (entry.worlds or suite.worlds)
    }


def listed(seeds: Sequence[int]) -> str:
    """Return seeds as a part of a sentence; of many the first ones and their number.

    >>> listed([4]), listed(range(20))
    ('seed 4', 'seeds 0, 1, 2, 3, 4 and 15 more')
    """
    named = ", ".join(str(seed) for seed in seeds[:_MOST_NAMED])
    more = f" and {len(seeds) - _MOST_NAMED:,} more" if len(seeds) > _MOST_NAMED else ""
    return f"seed{'s' if len(seeds) > 1 else ''} {named}{more}"


def _played(seeds: Sequence[int], world: WorldTable) -> set[int]:
    return {seed + place for seed in seeds for place in range(world.episodes)}


def _seeds_in(given: str | list[int]) -> Sequence[int]:
    seeds = read_seeds(given) if isinstance(given, str) else given
    if seeds[MAX_JOBS:]:  # a range may have more than `len` can count
        raise UsageError(
            f"more seeds than {MAX_JOBS:,} were given; a suite has at most {MAX_JOBS:,}"
        )
    return seeds
