"""How many decisions a second do lanes play, and how does looking ahead grow with the horizon?

    python experiments/benchmark.py --section lanes --section look_ahead

In processor time. Lanes and `play` have the same policies, so that their decisions are the same.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import count
from typing import Any

from timing import Work, best

from desim import play, tune
from desim.episodes.lineup import resolve
from desim.lanes.lane_protocols import NoLanes
from desim.lanes.play_lanes import answers_all, lanes_of, play_lanes
from models.beer_game import BeerGame
from models.enterprise_arena import EnterpriseArena

#: Lanes that are played at once.
LANES = 1_000

#: Steps of a run of Gymnasium's environment, each of all its episodes.
STEPS = 100

#: Episodes of a search on lanes; one episode after the other plays a tenth of them.
BUDGET = 2_000

Row = tuple[str, ...]

processor_best = partial(best, clock=time.process_time)


def lanes(runs: int) -> list[Row]:
    """Lanes against `play` and against Gymnasium's environment, and a search on lanes."""
    game = BeerGame.preset("poisson")
    seat = {"retailer": "order_up_to"}
    return [
        _lane_row("Beer Game, lanes, demand kept", game, seat, runs, "800"),
        _lane_row("Beer Game, lanes, demand drawn", game, seat, runs, "100", drawn=True),
        _lane_row("EnterpriseArena, lanes", EnterpriseArena(), "raise_below", runs, "200"),
        _cart_row(game, seat, runs),
        _tune_row(),
    ]


def look_ahead(runs: int) -> list[Row]:
    """Rollouts of a horizon of 208 weeks against one of 52."""
    short, long = (partial(play, _horizon(weeks), ROLLOUT, 1) for weeks in (52, 208))
    one, four = processor_best(min(runs, 2), short, long)
    what = "Beer Game, rollout, 208 weeks over 52"
    return [(what, f"{four:.2f} s", f"{one:.2f} s", f"{four / one:.1f}", "at most 4.5")]


#: Two futures of four weeks for each of two candidates.
ROLLOUT = "rollout,samples=2,candidates=2,depth=4"


def _horizon(weeks: int) -> BeerGame:
    return BeerGame.preset("poisson", horizon=weeks)


def _lane_row(
    name: str, model: Any, policies: Any, runs: int, target: str, *, drawn: bool = False
) -> Row:
    """Return decisions a second of lanes over those of `play`.

    Args:
        name: The name of the row.
        model: The model.
        policies: Those of lanes and `play`.
        runs: The number of runs.
        target: The target.
        drawn: Whether each run has seeds that no run before has had.
    """
    name += f", n = {LANES:,}, over play"
    starts = count(0, LANES if drawn else 0)
    try:
        decisions, ours = _lane_rate(model, policies, runs, starts.__next__)
    except NoLanes as reason:
        return (name, "none", "—", str(reason), target)
    played = play(model, policies, 1)
    (seconds,) = processor_best(10 * runs, partial(play, model, policies, 1))
    rate = len(played.steps) / seconds
    return (
        name,
        f"{decisions / ours:,.0f}/s",
        f"{rate:,.0f}/s",
        f"{decisions / ours / rate:.0f}",
        target,
    )


def _lane_rate(model: Any, policies: Any, runs: int, start: Callable[[], int]) -> tuple[int, float]:
    """Return the decisions of a run of lanes, and its least seconds.

    Raises:
        NoLanes: The model has none, or a policy decides for one episode at a time.
    """
    made = resolve(model, policies, 0).policies
    answering = {role: one for role, one in made.items() if answers_all(one)}
    if len(answering) < len(made):
        raise NoLanes("no lanes: the policy decides for one episode at a time")
    decisions: Sequence[int] = ()

    def work() -> None:
        nonlocal decisions
        first = start()
        all_lanes = lanes_of(model, tuple(made), range(first, first + LANES))
        decisions = play_lanes(all_lanes, answering).decisions

    work()
    (seconds,) = processor_best(runs, work)
    return sum(decisions), seconds


def _cart_row(model: Any, policies: Any, runs: int) -> Row:
    """Return decisions a second of lanes over steps a second of Gymnasium's CartPole."""
    what = f"Beer Game, lanes, n = {LANES:,}, over Gymnasium's vector CartPole"
    if not find_spec("gymnasium"):
        return (what, "—", "not installed", "—", "1")
    decisions, ours = _lane_rate(model, policies, runs, lambda: 0)
    (theirs,) = processor_best(runs, _cart_pole())
    rates = decisions / ours, LANES * STEPS / theirs
    return (what, *(f"{rate:,.0f}/s" for rate in rates), f"{rates[0] / rates[1]:.2f}", "1")


def _cart_pole() -> Work:
    import gymnasium

    carts = gymnasium.make_vec("CartPole-v1", LANES, vectorization_mode="vector_entry_point")
    carts.action_space.seed(0)
    actions = [carts.action_space.sample() for _ in range(STEPS)]

    def work() -> None:
        carts.reset(seed=0)
        for each in actions:
            carts.step(each)

    return work


def _tune_row() -> Row:
    """Return the time of an episode in a search on lanes, and in one that plays each episode."""
    what = f"tune, Beer Game, budget {BUDGET:,}, an episode"
    if not find_spec("optuna"):
        return (what, "—", "optuna is not installed", "—", "50")
    search = partial(tune, "beer_game/poisson", "base_stock", ranges={"policy.target": "int:0:60"})
    (ours,) = processor_best(1, partial(search, budget=BUDGET))
    (played,) = processor_best(1, partial(search, budget=BUDGET // 10, digests=True))
    each = ours / BUDGET, played / (BUDGET // 10)
    return (what, *(f"{1e3 * one:.2f} ms" for one in each), f"{each[1] / each[0]:.0f}", "50")
