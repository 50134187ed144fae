"""The focus rules of YC-Bench: what they know, what they learn, how they grow with the staff."""

from functools import lru_cache
from typing import Any

import pytest

from desim import Episode, play
from desim.core.policy import knows
from models.yc_bench import YCBench
from models.yc_bench.actions import TaskAccept, TaskAssign
from policies.heuristics.yc_bench import (
    Focus,
    LearningFocus,
    Planner,
    PublishedRandom,
    baselines,
)

HIDDEN = {"Vanguard ML", "Equinox Labs"}


@lru_cache
def played(spec: str, seed: int, **changes: Any) -> Episode:
    """An episode, played once for all tests."""
    return play(YCBench(**changes), spec, seed)


def test_rules_declare_what_they_know() -> None:
    """The reference rule has two clients by name, the planner constants."""
    every = (LearningFocus, PublishedRandom, Planner, Focus)
    levels = ["observation", "observation", "rules", "state"]
    assert [*map(knows, every)] == levels
    assert PublishedRandom.draws


def test_the_board_has_the_best_known_rule_and_an_honest_focus() -> None:
    """They are played where no policy is named."""
    assert {"planner", "learning_focus", "focus"} <= set(baselines(YCBench()))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_honest_focus_finds_the_adversarial_clients(seed: int) -> None:
    """One task of each is accepted and left alone; none is late, and it beats the reference."""
    episode = played("learning_focus", seed)
    metrics = episode.metrics
    assert metrics["tasks_failed"] == 0
    assert 0 < metrics["adversarial_share"] * metrics["tasks_accepted"] <= len(HIDDEN)
    assert episode.score > played("focus", seed).score


def test_the_honest_focus_knows_no_client_by_name() -> None:
    """In another world, with other people, it finds the ones that are adversarial there."""
    episode = played("learning_focus", 3, people_seed=5)
    assert episode.metrics["failed_adversarial"] == 0
    assert episode.score > 1_000_000
    accepted = [s.action.task_id for s in episode.steps if isinstance(s.action, TaskAccept)]
    worked_on = {s.action.task_id for s in episode.steps if isinstance(s.action, TaskAssign)}
    assert 0 < len([title for title in accepted if title not in worked_on]) <= len(HIDDEN)


@pytest.mark.parametrize("spec", ["focus", "learning_focus"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_more_staff_earns_more(spec: str, seed: int) -> None:
    """On the same tasks (common random numbers), twelve people earn far more than eight."""
    eight, twelve = (played(spec, seed, num_employees=n).score for n in (8, 12))
    assert twelve > 1.2 * eight


def test_two_tasks_alone_do_not_grow() -> None:
    """The reason: all tasks get the same four people, and the others are paid for nothing."""
    eight, twelve = (played("focus,tasks=2", 1, num_employees=n) for n in (8, 12))
    assert twelve.score < eight.score
    busy = {
        who
        for step in twelve.steps
        if isinstance(step.action, TaskAssign)
        for who in step.action.employees
    }
    assert len(busy) < 12


def test_the_whole_market_is_looked_at_where_the_first_rows_are_all_avoided() -> None:
    """Forty rows of avoided clients must not end a year's work: this one stopped in August."""
    for seed in (1, 2):
        episode = played("focus", seed, num_employees=12)
        assert episode.metrics["idle_since"] is None
        assert episode.ended == "horizon_end"
