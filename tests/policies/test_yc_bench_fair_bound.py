"""The bound on the mean score of founders who do not know which tasks will be drawn."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from models.yc_bench import YCBench
from models.yc_bench.rules.draw_market import draw_replacement
from policies.informed.yc_bench.fair_bound import Draws, FairYear, fair_score_bound
from policies.informed.yc_bench.relaxation import RelaxedYear, relaxed_year, score_bound


def year(seed: int = 0, **changes: Any) -> RelaxedYear:
    """Return the relaxed problem of a drawn world in which one counter numbers replacements."""
    found = relaxed_year(YCBench.preset("direct", **changes), seed)
    assert found
    return found


@pytest.mark.parametrize("changes", [{}, {"payout_prestige": "company"}], ids=str)
def test_the_mean_of_a_draw_is_that_of_the_draws_of_the_world(changes: dict[str, Any]) -> None:
    """The value counts above a threshold, at a price of work; rounding adds less than chance."""
    world = (one := year(**changes)).world
    task = max(world.tasks, key=lambda each: each.required_prestige)
    draws = Draws.of(one, task.client, task.required_prestige)
    threshold, unit = 100_000.0, 1_500.0
    values = []
    for number in range(4_000):
        drawn = draw_replacement(world.params, 3, task, world.clients, number)
        gain = world.gain(drawn)
        values.append(max(0.0, gain.reward - unit * gain.work - threshold))
    error = np.std(values) / sqrt(len(values))
    assert draws.mean_above(threshold, unit) == pytest.approx(np.mean(values), abs=4 * error)
    assert draws.chance[0] == pytest.approx(1)
    assert draws.work_chance.sum() == pytest.approx(1)


def test_a_founder_without_acceptances_keeps_the_capital_less_the_salaries() -> None:
    """More acceptances never lower the bound; without a limit it is below that of known draws."""
    model = YCBench.preset("direct")
    values = [fair_score_bound(model, 0, most) for most in (0, 10, 1_000, 100_000, None)]
    assert values[0] == pytest.approx(year().fixed / 100, abs=1)
    assert values == sorted(values)  # type: ignore[type-var]
    known = score_bound(model, 0)
    assert known
    assert values[-1] < known.value


@pytest.mark.parametrize("threshold", [0.0, 200_000.0, 600_000.0])
def test_no_threshold_of_acceptance_earns_more_on_average(threshold: float) -> None:
    """In the relaxed problem: accept what is worth a threshold, do what pays for its work.

    The founder turns to the next slot where a task is not worth it, and takes the tasks of the
    highest pay for a unit of work until no work is left.
    """
    fair = FairYear(one := year(num_market_tasks=20), 200)
    world, chance, totals = one.world, np.random.default_rng(1), []
    rewards, quantities = world.params.reward_funds_cents, world.params.required_qty
    for _ in range(30):
        taken = []
        slots = [(task, world.gain(task)) for task in world.tasks]
        for number in range(fair.acceptances):
            at = number % len(slots)
            task, gain = slots[at]
            if gain.reward < threshold:
                continue
            taken.append(gain)
            reward, quantity = (
                int(chance.triangular(low, mode, high)) for low, high, mode in (rewards, quantities)
            )
            drawn = world.drawn_gain(task.client, task.required_prestige, reward, quantity)
            slots[at] = task, drawn
        left, paid = float(one.work), 0.0
        for gain in sorted(taken, key=lambda each: each.price, reverse=True):
            part = min(1.0, left / gain.work)
            left, paid = left - part * gain.work, paid + part * gain.reward
        totals.append(one.fixed + paid)
    assert np.mean(totals) <= fair.bound()


def test_where_draws_repeat_there_is_none() -> None:
    """A slot's streams are those of the next slot after 1,000 replacements."""
    assert fair_score_bound(YCBench(), 0) is None
    assert fair_score_bound(YCBench(), 0, 1_001) is None
    assert fair_score_bound(YCBench(), 0, 1_000) is not None
    assert fair_score_bound(YCBench.preset("direct", plays_on=True), 0) is None
