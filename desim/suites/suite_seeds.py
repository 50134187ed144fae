"""The seeds of a suite: those of its report, and those on which its entries may be tuned."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from desim.errors import UsageError
from desim.studies.sweep import read_seeds
from desim.suites.suite_file import MAX_JOBS, EntryTable, Suite, WorldTable

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
    ordered = sorted(seeds)
    if any(after - before < episodes for before, after in itertools.pairwise(ordered)):
        raise UsageError(
            f"seeds {given!r} and episodes = {episodes} were given, so that two series would play "
            f"the same seed; give seeds {episodes} apart, such as [0, {episodes}]"
        )
    return tuple(seeds)


def for_tuning(suite: Suite) -> Suite:
    """Return a suite whose report seeds are its tuning seeds.

    Raises:
        UsageError: A world has none, or shares one with the report.
    """
    for fault in tuning_faults(suite):
        raise UsageError(fault)
    worlds = {}
    for name, world in suite.worlds.items():
        given = world.tuning_seeds or suite.tuning_seeds
        if not given:
            raise UsageError(f"worlds.{name} has no tuning_seeds; give some, or play its seeds")
        worlds[name] = evolve(world, seeds=given, tuning_seeds="")
    return evolve(suite, worlds=worlds, tuning_seeds="")


def tuning_faults(suite: Suite) -> Iterator[str]:
    """Yield a sentence for each world whose tuning seeds are invalid or in its report."""
    for name, world in suite.worlds.items():
        given = world.tuning_seeds or suite.tuning_seeds
        try:
            tuning = _played(seeds_of(given, world.episodes), world) if given else set()
        except UsageError as fault:
            yield f"worlds.{name}.tuning_seeds: {fault}"
            continue
        if shared := sorted(tuning & _report(world, suite)):
            yield f"worlds.{name}: tuning_seeds and seeds share {listed(shared)}; they must differ"


def tuned_on_report(entry: EntryTable, suite: Suite) -> Mapping[str, list[int]]:
    """Return by world the seeds of the report on which an entry was tuned, by its own words.

    Worlds without such seeds are left out.
    """
    if not entry.tuned_on:
        return {}
    tuned = set(_seeds_in(entry.tuned_on))
    found = {
        name: sorted(tuned & _report(world, suite))
        for name, world in suite.worlds.items()
        if name in (entry.worlds or suite.worlds)
    }
    return {name: seeds for name, seeds in found.items() if seeds}


def entry_seed_faults(entry: EntryTable) -> Iterator[str]:
    """Yield a sentence if an entry's `tuned_on` describes no seeds."""
    try:
        if entry.tuned_on:
            _seeds_in(entry.tuned_on)
    except UsageError as fault:
        yield f"tuned_on: {fault}"


def listed(seeds: Sequence[int]) -> str:
    """Return seeds as a part of a sentence; of many the first ones and their number.

    >>> listed([4]), listed(range(20))
    ('seed 4', 'seeds 0, 1, 2, 3, 4 and 15 more')
    """
    named = ", ".join(str(seed) for seed in seeds[:_MOST_NAMED])
    more = f" and {len(seeds) - _MOST_NAMED:,} more" if len(seeds) > _MOST_NAMED else ""
    return f"seed{'s' if len(seeds) > 1 else ''} {named}{more}"


def _report(world: WorldTable, suite: Suite) -> set[int]:
    """Return the seeds of a world's episodes; none if they are invalid, which is a fault itself."""
    try:
        return _played(seeds_of(world.seeds or suite.seeds, world.episodes), world)
    except UsageError:
        return set()


def _played(seeds: Sequence[int], world: WorldTable) -> set[int]:
    return {seed + place for seed in seeds for place in range(world.episodes)}


def _seeds_in(given: str | list[int]) -> Sequence[int]:
    seeds = read_seeds(given) if isinstance(given, str) else given
    if seeds[MAX_JOBS:]:  # a range may have more than `len` can count
        raise UsageError(
            f"more seeds than {MAX_JOBS:,} were given; a suite has at most {MAX_JOBS:,}"
        )
    return seeds
