"""What the episodes that are left will use, from episodes of the same kind that were played.

The same kind is the same entry in the same world. Where an entry has played none, episodes of
other language models in that world stand for their calls and tokens, at the entry's own prices.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from attrs import frozen

from desim.suites.outcome import Outcome, Played
from desim.suites.plan import Plan, PlannedEntry

__all__ = ["Expectation", "expectations", "expected_cost"]

_MILLION = 1_000_000


@frozen
class Expectation:
    """What one entry is expected to use in one world.

    Attributes:
        world: Its name.
        entry: Its name.
        left: Episodes left.
        calls: Calls expected of all of them; None where nothing is known.
        cost: Money expected of all of them; likewise.
        basis: On how many episodes this rests, and whose.
    """

    world: str
    entry: str
    left: int
    calls: float | None
    cost: float | None
    basis: str


def expectations(plan: Plan, outcomes: Mapping[str, Outcome]) -> list[Expectation]:
    """Return what each entry is expected to use in each world where it has episodes left."""
    left: dict[tuple[str, str], int] = {}
    ended: dict[tuple[str, str], list[Played]] = {}
    for job in plan.jobs:
        pair = (job.world.name, job.entry.name)
        outcome = outcomes.get(job.name) or Outcome(job=job.name)
        ended.setdefault(pair, []).extend(one for one in outcome.each if one.score is not None)
        if not outcome.final:
            left[pair] = left.get(pair, 0) + job.world.episodes - outcome.ended_episodes
    return [
        _expected(world, entry, left[world, entry.name], ended)
        for world, entry in itertools.product(plan.worlds, plan.entries.values())
        if (world, entry.name) in left
    ]


def expected_cost(lines: Sequence[Expectation]) -> float | None:
    """Return the money that all are expected to use; None where that of one is not known."""
    costs = [line.cost for line in lines]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _expected(
    world: str,
    entry: PlannedEntry,
    count: int,
    ended: Mapping[tuple[str, str], Sequence[Played]],
) -> Expectation:
    if not entry.host:
        return Expectation(world, entry.name, count, 0.0, 0.0, "no language model")
    own = ended.get((world, entry.name), ())
    known = own or list(_others(world, ended))
    basis = f"{len(own)} of its own" if own else f"{len(known)} of other models"
    cost = _cost(entry, known)
    return Expectation(
        world,
        entry.name,
        count,
        count * _calls(known) if known else None,
        None if cost is None else count * cost,
        basis if known else "none",
    )


def _others(world: str, ended: Mapping[tuple[str, str], Sequence[Played]]) -> Iterator[Played]:
    """Yield the ended episodes of language models in a world."""
    for (name, _), outcomes in ended.items():
        if name == world:
            yield from (outcome for outcome in outcomes if outcome.usage.get("calls"))


def _calls(outcomes: Sequence[Played]) -> float:
    return fmean(outcome.usage.get("calls", 0.0) for outcome in outcomes)


def _cost(entry: PlannedEntry, outcomes: Sequence[Played]) -> float | None:
    """Return the money of one episode by the entry's prices; None where it is not known."""
    price_in, price_out = entry.table.price_in, entry.table.price_out
    if price_in == price_out == 0:
        return 0.0
    if price_in is None or price_out is None or not outcomes:
        return None
    read = fmean(outcome.usage.get("prompt_tokens", 0.0) for outcome in outcomes)
    written = fmean(outcome.usage.get("completion_tokens", 0.0) for outcome in outcomes)
    return (read * price_in + written * price_out) / _MILLION
