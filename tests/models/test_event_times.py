"""Redrawn futures and the times of events: which of them are drawn anew, and why others stay."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from support.cases import thinned

from desim import catalog
from desim.catalog.model_finder import everything
from desim.composition.parts_model import PartsModel
from desim.core.events import Decision
from desim.core.run import Run
from desim.core.world import World
from desim.episodes.replay import open_decisions

#: By world, why the times of pending events are the same in all futures; None where a redraw draws
#: some of them anew.
SAME = {
    "beer_game": "weeks and lead times are parameters",
    "consulting": "the length of a turn is a parameter",
    "edt": "turns follow from work that the manager sees, but for what an extension adds (`kept`)",
    "enterprise": None,
    "enterprise_arena": None,
    "reasoning": "the seconds of an item are a parameter",
    "yc_bench": "ends of tasks follow from listed rates, but for disloyal clients (`kept`)",
}

#: The most decisions of an episode that are played before a redraw.
_MOST = 200


def worlds_of(run: Run[Any]) -> Iterator[World]:
    """Yield the world of a run and those of its parts."""
    yield run.world
    if isinstance(run.model, PartsModel):
        for part in run.model.group_of(run.state).parts.values():
            assert part.world is not None
            yield part.world


def pending(run: Run[Any]) -> list[list[int]]:
    """Return by world the ticks of the events that have callbacks."""
    return [
        sorted(entry[0] for entry in world._queue if entry[3].callbacks)  # type: ignore[misc]
        for world in worlds_of(run)
    ]


def answers() -> Callable[[Decision], Any]:
    """Return a function that answers decisions with options at random."""
    draws = Random(0)  # noqa: S311 (no secret)
    return lambda one: draws.choice(one.spec.options(one.observation)).action


def times(model: Any, at: int, future: int) -> list[list[int]]:
    """Return the times of the events that are pending after a redraw behind some decisions."""
    run, answer = Run(model, 1, model.default_roles), answers()
    for number, decision in enumerate(open_decisions(run)):
        if number == at:
            break
        run.answer(decision, answer(decision))
    run.redraw(future)
    return pending(run)


def differing(model: Any) -> int:
    """Return after how many of three redraws three futures have other event times."""
    run, answer, asked = Run(model, 1, model.default_roles), answers(), 0
    for decision in open_decisions(run):
        run.answer(decision, answer(decision))
        asked += 1
        if asked == _MOST:
            break
    ats = [asked * share // 4 for share in range(1, 4)]
    return sum(len({str(times(model, at, future)) for future in (1, 2, 3)}) > 1 for at in ats)


@pytest.mark.parametrize("world", thinned(everything(), 3))
def test_times_that_no_role_observes_differ_between_futures(world: str) -> None:
    """An answer of investors comes at another month; all other times are known to a role."""
    found = differing(catalog.model(world))
    assert found == 0 or SAME[world.partition("/")[0]] is None


def test_the_times_of_outcomes_are_drawn_anew() -> None:
    """Of requests for funding that are under way; the officer knows the range of months alone."""
    assert differing(catalog.model("enterprise_arena/regime")) > 0
