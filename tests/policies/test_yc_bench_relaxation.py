"""The upper bounds of YC-Bench: no founder passes them, and none of them is empty talk."""

from functools import lru_cache
from itertools import islice, product
from random import Random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from desim import Episode, play
from desim.errors import UsageError
from models.yc_bench import (
    EndTurn,
    FounderDesk,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskCancel,
    TaskDispatch,
    Tier,
    YCBench,
)
from models.yc_bench.rules.draw_market import draw_replacement
from policies.heuristics.yc_bench.generator_policy import Commands, GeneratorPolicy, rows
from policies.informed.yc_bench.oracle import MarketForesight
from policies.informed.yc_bench.relaxation import score_bound, score_bound_within
from policies.informed.yc_bench.task_gains import DrawnWorld
from policies.informed.yc_bench.work_capacity import least_wages

#: Everybody works at 10 units an hour from the first day.
TRAINED = Tier(name="junior", share=1, published=1, salary_cents=(1_000, 1_000), rate=(10, 10))
#: One trained person, honest clients, every task open to all, no trust.
PLAIN: dict[str, Any] = {
    "num_employees": 1,
    "tiers": [TRAINED],
    "adversarial_loyalty": -1.0,
    "required_prestige": (1, 1.5, 1),
    "trust_gating_fraction": 0.0,
    "trust_work_reduction_max": 0.0,
}
#: Two slots of tasks that each take months.
LONG = YCBench(
    **PLAIN,
    num_market_tasks=2,
    num_clients=1,
    required_qty=(10_000, 20_000, 12_000),
    deadline_qty_per_day=1,
    initial_funds_cents=1_000_000,
    idle_limit=2,
)
#: All tasks are alike: 400 units, $5,000, no hurry.
ALIKE = {
    **PLAIN,
    "required_qty": (400, 401, 400),
    "reward_funds_cents": (500_000, 500_001, 500_000),
    "client_multiplier": (1, 1.01, 1),
    "deadline_min_biz_days": 60,
    "initial_funds_cents": 1_000_000,
}


class Script(GeneratorPolicy):
    """Accept tasks of given slots one after another, and finish those that are to be done.

    Args:
        steps: Slot and whether the task is done, or only accepted.
    """

    def __init__(self, steps: tuple[tuple[int, bool], ...]) -> None:
        self.steps = steps

    def commands(self, _: FounderDesk) -> Commands:
        """Play the steps, naming the team anew at every stop, and then do nothing."""
        titles = {slot: f"Task-{slot + 1}" for slot in range(2)}
        for slot, done in self.steps:
            title = titles[slot]
            desk = yield TaskAccept(title)
            assert desk.reply is not None
            titles[slot] = desk.reply.out["replacement_task_id"]
            if done:
                yield TaskAssign(title, ("Emp_1",))
                desk = yield TaskDispatch(title)
                while desk.active:
                    yield SimResume()
                    desk = yield TaskAssign(title, ("Emp_1",))
        while True:
            yield EndTurn()


class Restless(GeneratorPolicy):
    """Random sensible commands, so that tasks are parked, shared, cancelled, late and unfinished.

    Args:
        seed: Of its own draws.
        staff: How many there are.
        tasks: Tasks under way at most.
        waste: Chance that an accepted task is left alone.
    """

    def __init__(self, seed: int, staff: int, tasks: int, waste: float) -> None:
        self.chance = Random(seed)  # noqa: S311 (no secrets)
        self.staff = [f"Emp_{number + 1}" for number in range(staff)]
        self.tasks, self.waste = tasks, waste

    def commands(self, desk: FounderDesk) -> Commands:
        """Start tasks, change teams, give up, resume."""
        chance = self.chance
        while True:
            for _ in range(self.tasks - len(desk.active)):
                desk = yield MarketBrowse()
                listed = rows(desk, "tasks")
                if not listed:
                    break
                title = chance.choice(listed)["task_id"]
                desk = yield TaskAccept(title)
                if chance.random() < self.waste:
                    continue
                yield TaskAssign(title, self._team())
                desk = yield TaskDispatch(title)
            if desk.active and chance.random() < 0.5:
                yield TaskAssign(chance.choice(desk.active), self._team())
            if desk.planned and chance.random() < 0.3:
                yield TaskAssign(chance.choice(desk.planned), self._team())
            if desk.active and chance.random() < self.waste / 4:
                yield TaskCancel(chance.choice(desk.active), "why not")
            yield SimResume()
            desk = yield EndTurn()

    def _team(self) -> tuple[str, ...]:
        return tuple(self.chance.sample(self.staff, self.chance.randint(1, len(self.staff))))


@lru_cache
def played(spec: str, seed: int, preset: str = "default") -> Episode:
    """An episode, played once for all tests."""
    return play(YCBench.preset(preset), spec, seed=seed)


def bound(model: YCBench, seed: int) -> float:
    """Return the bound for every founder."""
    found = score_bound(model, seed)
    assert found is not None
    assert found.kind == "relaxation"
    return found.value


def within(model: YCBench, seed: int, acceptances: int) -> float:
    """Return the bound for founders of few acceptances."""
    found = score_bound_within(model, seed, acceptances)
    assert found is not None
    return found.value


def check(model: YCBench, episode: Episode) -> None:
    """Compare a score with both bounds."""
    accepted, seed = episode.metrics["tasks_accepted"], episode.header.seed
    assert episode.score <= bound(model, seed)
    if accepted <= 200 and model.replacement_stream == "slot":
        assert episode.score <= within(model, seed, accepted) <= bound(model, seed)


# -- no founder passes them ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_no_sequence_of_acceptances_passes_the_bound_for_as_many(seed: int) -> None:
    """Of all ways to work on, or only accept, three tasks of two slots, the best comes close."""
    choices = list(product((0, 1), (True, False)))
    scores = [play(LONG, Script(steps), seed).score for steps in product(choices, repeat=3)]
    # The bound may sell a part of a last task, and knows of no payday on the first of a month.
    assert 0.8 * within(LONG, seed, 3) < max(scores) <= within(LONG, seed, 3)


@pytest.mark.parametrize("seed", [0, 1])
def test_where_time_is_plenty_the_bound_is_the_pay_of_a_slot_s_first_tasks(seed: int) -> None:
    """Only the salary is paid more often than the bound counts."""
    game = evolve(LONG, num_market_tasks=1, required_qty=(5_000, 10_000, 6_000))
    score = play(game, Script(((0, True),) * 3), seed).score
    assert score <= within(game, seed, 3) < score + 1_000


@pytest.mark.parametrize("seed", [0, 1])
def test_where_all_tasks_are_alike_a_busy_founder_nearly_attains_the_bound(seed: int) -> None:
    """With plans and progress in office hours hardly an hour is lost."""
    game = YCBench(**ALIKE, evening_progress=False)
    score = play(game, Restless(0, staff=1, tasks=1, waste=0), seed).score
    assert 0.95 * bound(game, seed) < score <= bound(game, seed)


@pytest.mark.parametrize(
    "changes",
    [
        {"evening_progress": True},
        {"trust_work_reduction_max": 0.5},
        {"payout_prestige": "company", "initial_prestige_level": 12.0},
        {"client_multiplier": (2, 2.01, 2)},
        {"skill_rate_max": 20.0},
        {"num_employees": 2},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_the_bound_counts_what_makes_a_founder_richer(changes: dict[str, Any]) -> None:
    """With it a busy founder passes the bound of the same world without it."""
    plain = {**ALIKE, "num_clients": 1, "evening_progress": False}
    without, game = YCBench(**plain), YCBench(**{**plain, **changes})
    score = play(game, Restless(0, staff=game.num_employees, tasks=6, waste=0), 0).score
    assert bound(without, 0) < score <= bound(game, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        "published_greedy",
        "published_random",
        "published_throughput",
        "published_prestige",
        "focus",
        "learning_focus",
        "greedy",
        "random",
    ],
)
def test_no_shipped_rule_passes_them(spec: str) -> None:
    """The bound for every founder, and the one for as many acceptances as the rule makes."""
    for seed in range(10):
        assert played(spec, seed).score <= bound(YCBench(), seed)
    check(YCBench(), played(spec, 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "preset"),
    [
        ("planner", "default"),
        ("oracle,rehearse=false", "default"),
        ("planner,rerolls=0", "paper"),
        ("planner,rerolls=0", "direct"),
    ],
)
def test_no_planner_passes_the_bound(spec: str, preset: str) -> None:
    """They come closest of the shipped rules."""
    score = played(spec, 1, preset).score
    assert 0.02 * bound(YCBench.preset(preset), 1) < score <= bound(YCBench.preset(preset), 1)


@examples(15)
@given(
    chance=st.integers(0, 10**6),
    tasks=st.integers(1, 6),
    waste=st.sampled_from([0.0, 0.3]),
    changes=st.fixed_dictionaries(
        {
            "evening_progress": st.booleans(),
            "planned_tasks_split": st.booleans(),
            "reassignment_replans": st.booleans(),
            "cancel_fails": st.booleans(),
            "efficient_team": st.sampled_from([0, 1]),
            "task_progress_milestones": st.sampled_from([(), (0.25, 0.5, 0.75)]),
            "payout_prestige": st.sampled_from(["required", "company"]),
            "trust_work_reduction_max": st.sampled_from([0.0, 0.5]),
            "initial_prestige_level": st.sampled_from([1.0, 12.0]),
            "replacement_stream": st.sampled_from(["slot", "run"]),
        }
    ),
)
def test_no_random_founder_passes_them(
    chance: int, tasks: int, waste: float, changes: dict[str, Any]
) -> None:
    """Under any of the switches that change time, teams, cancelling, payouts and replacements."""
    game = YCBench(**{**ALIKE, "num_employees": 2, "num_market_tasks": 4, **changes})
    check(game, play(game, Restless(chance, 2, tasks, waste), seed=chance % 5))


def test_a_bankrupt_founder_is_below_a_bound_below_nothing() -> None:
    """Salaries that nobody earns are not all paid, so they may not all be subtracted."""
    poor = YCBench(**PLAIN, initial_funds_cents=0, reward_funds_cents=(0, 1, 0))
    assert play(poor, "greedy", 0).score < bound(poor, 0) == within(poor, 0, 3) == -0.01


# -- what they are made of -------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_no_draw_beats_the_best_draw(preset: str) -> None:
    """Neither in reward nor in work, for any client and level of prestige."""
    world = DrawnWorld.of(YCBench.preset(preset), 3)
    kinds = {(task.client, task.required_prestige): task for task in world.tasks}
    assert len(kinds) == len(world.drawn())
    for (_, task), best in zip(sorted(kinds.items()), world.drawn(), strict=True):
        for number in range(50):
            drawn = draw_replacement(world.params, world.seed, task, world.clients, number)
            gain = world.gain(drawn)
            assert gain.reward <= best.reward
            assert gain.work >= best.work


def test_payouts_count_the_highest_prestige_there_can_be() -> None:
    """It may be that of the start, which is above the highest that a success leaves."""
    for start, most in ((1.0, 10), (12.0, 12)):
        game = YCBench(payout_prestige="company", initial_prestige_level=start)
        assert DrawnWorld.of(game, 0).payout == 1 + 0.3 * (most - 1)
    assert DrawnWorld.of(YCBench(), 0).payout == 1


def test_the_chain_of_a_slot_holds_what_foresight_holds() -> None:
    """A task of the first market, then its replacements in turn."""
    world = DrawnWorld.of(YCBench(), 3)
    foresight = MarketForesight.of(YCBench(), 3)
    for task in world.tasks[5:9]:
        later = [row["reward_funds_cents"] for row in foresight.after(task.title, 6)]
        rewards = [gain.reward for gain in islice(world.chain(task), 7)]
        assert rewards == [task.reward_cents, *later]


def test_only_paydays_that_nobody_can_skip_are_paid() -> None:
    """Of the eleven of the year, seven are on the first of a month."""
    for spare, paydays in ((False, 4), (True, 11)):
        game = YCBench(payday_at_horizon=spare)
        assert least_wages(game, DrawnWorld.of(game, 0).staff) == paydays * 3_800_503
    assert least_wages(YCBench(max_turns=5), DrawnWorld.of(YCBench(), 0).staff) == 0


def test_more_acceptances_never_lower_the_bound() -> None:
    """With none only the capital less salaries is left; with many the bound of all holds."""
    game = YCBench(num_market_tasks=20)
    values = [within(game, 2, most) for most in (0, 1, 5, 25, 125, 1500)]
    assert values == sorted(values)
    assert values[0] == (20_000_000 - 4 * 3_800_503) / 100
    assert values[0] < values[1]
    assert values[-1] <= bound(game, 2)


# -- where there is none ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"plays_on": True},
        {"reward_funds_cents": (-1, 10, 5)},
        {"required_qty": (0, 10, 5)},
        {"skill_rate_max": 1e9},
        {"required_qty": (1, 2, 1), "minimum_qty": 1, "skill_rate_max": 1e4},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_rules_that_break_the_argument_have_no_bound(changes: dict[str, Any]) -> None:
    """A bound that might be wrong is not returned."""
    assert score_bound(YCBench(**changes), 0) is None
    assert score_bound_within(YCBench(**changes), 0, 3) is None


def test_without_chains_there_is_no_bound_for_few_acceptances() -> None:
    """One counter numbers all replacements of the published runner."""
    assert score_bound_within(YCBench.preset("direct"), 0, 3) is None
    assert score_bound(YCBench.preset("direct"), 0) is not None


@pytest.mark.parametrize("acceptances", [-1, 25_001])
def test_acceptances_have_limits(acceptances: int) -> None:
    """The error says which."""
    with pytest.raises(UsageError, match=r"it is between 0 and 25,000"):
        score_bound_within(YCBench(), 0, acceptances)
