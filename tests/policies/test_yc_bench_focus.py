"""The focus rules of YC-Bench: what they know, what they learn, how they grow with the staff."""

from functools import lru_cache
from typing import Any

import pytest

from desim import Episode, play
from desim.core.policy import knows
from models.yc_bench import YCBench
from models.yc_bench.actions import TaskAccept, TaskAssign
from policies.heuristics.yc_bench import Focus, LearningFocus, Planner, PublishedRandom

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
def test_more_staff_earns_more(spec: str) -> None:
    """On the same tasks (common random numbers), twelve people earn far more than eight."""
    eight, twelve = (played(spec, 0, num_employees=n).score for n in (8, 12))
    assert twelve > 1.2 * eight


def test_the_whole_market_is_looked_at_where_the_first_rows_are_all_avoided() -> None:
    """Forty rows of avoided clients must not end a year's work: this one stopped in August."""
    episode = played("focus", 1, num_employees=12)
    assert episode.metrics["idle_since"] is None
    assert episode.ended == "horizon_end"
