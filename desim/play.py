"""Drivers: one episode with policies, the same with coroutines, several with a learning policy."""

from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any

from desim.episode import Episode
from desim.protocols import Model
from desim.seating import Policies, seat_all
from desim.table import Table, built, labels_of

__all__ = ["finish_async", "play", "play_async", "play_series"]


def play(
    model: Model[Any] | str,
    policies: Policies = None,
    seed: int = 0,
    *,
    record: str | Path | None = None,
) -> Episode:
    """Play one episode.

    Args:
        model: A model, or its name in the catalog, perhaps with `/preset` behind.
        policies: A policy for the lead seats, or a mapping of roles to policies. A policy is an
            instance, a class, or a spec such as "base_stock,target=1200".
        seed: A whole number of at least 0.
        record: A new file that receives the episode line by line.

    Raises:
        UsageError: Something named does not exist.
        WrongAction: A policy answered what its role cannot do.
        PolicyFailed: A policy raised an exception or answered with a coroutine.
    """
    with Table(model, policies, seed, record) as table:
        return table.played()


async def play_async(
    model: Model[Any] | str,
    policies: Policies = None,
    seed: int = 0,
    *,
    record: str | Path | None = None,
) -> Episode:
    """Play one episode with policies of which some are coroutines.

    Decisions of one instant are gathered concurrently. Otherwise as `play`.
    """
    with Table(model, policies, seed, record) as table:
        return await finish_async(table)


async def finish_async(table: Table) -> Episode:
    """Play a table to its end, gathering the decisions of one instant concurrently.

    They are recorded in the order in which they were handed out, once all are in; what must not
    be lost if the run is killed in between, a policy puts on record itself (`journal`).
    """
    while decisions := table.run.advance():
        actions = await _gathered([table.decide_async(d) for d in decisions])
        for decision, action in zip(decisions, actions, strict=True):
            table.take(decision, action)
    return table.episode()


def play_series(
    model: Model[Any] | str,
    policies: Policies,
    seeds: Iterable[int],
    *,
    record: str | Path | None = None,
) -> list[Episode]:
    """Play several episodes with the same policy instances, which may learn in between.

    After every episode each policy that has `after(episode)` is shown it.

    Args:
        model: As in `play`.
        policies: As in `play`; specs and classes are built once, for the first seed.
        seeds: One episode each, in this order. They need not differ.
        record: A folder that receives one file an episode, `episode-001.jsonl` and so on.
    """
    seeds = list(seeds)
    model = built(model)
    players = seat_all(model, policies, seeds[0]) if seeds else {}
    named = labels_of(model, policies)
    episodes = []
    for number, seed in enumerate(seeds, 1):
        file = Path(record) / f"episode-{number:03d}.jsonl" if record else None
        with Table(model, players, seed, file, named) as table:
            episodes.append(table.played())
        for player in players.values():
            if after := getattr(player, "after", None):
                after(episodes[-1])
    return episodes


async def _gathered(answers: list[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Wait for all answers; when one fails, nobody goes on thinking for nothing."""
    # Its sockets and certificates take longer to import than desim itself.
    import asyncio

    tasks = [asyncio.ensure_future(answer) for answer in answers]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
