"""What a redrawn future is in every preset: twins have one past, and futures of their own."""

from pathlib import Path
from typing import Any

import pytest

from desim import Episode, catalog, play, replay
from desim.catalog.policy_spec import read_policies
from desim.catalog.presets import presets
from desim.core.model_protocols import (
    HasFuture,
    is_deterministic,
    kept_facts,
    offers,
)
from desim.episodes.futures.branched_record import play_branch
from desim.schema import tagged
from desim.studies.boards.leaderboard import everything

WORLDS = everything()

#: The seed chooses the case alone, which the candidate knows from the first message on.
NOTHING_LEFT = {"consulting"}

#: The first preset of each model is always tested.
FIRST = {f"{name}/{presets(cls)[0]}" for name, cls in catalog.models().items()}


#: A quick rule that meets chance in every preset; of the other models the first baseline does.
RULES = {"edt": "greedy", "enterprise_arena": "treasurer", "yc_bench": "focus,tasks=1"}

#: Shorter episodes of what takes seconds.
SHORTER = {"enterprise": {"months": "6"}}


def seen(episode: Episode, count: int) -> list[Any]:
    """Return the first observations, by role and tick."""
    return [(s.t, s.role, tagged(s.observation)) for s in episode.steps[:count]]


#: Played among the quick tests: one preset of each model whose episodes are short.
QUICK = {world for world in FIRST if not world.startswith("enterprise/")}


@pytest.mark.parametrize(
    "world",
    [world if world in QUICK else pytest.param(world, marks=pytest.mark.slow) for world in WORLDS],
)
def test_twins(world: str, tmp_path: Path) -> None:
    """Up to and including the decision at the branch they observe the same."""
    name, _, preset = world.partition("/")
    model = catalog.model(name, preset, SHORTER.get(name))
    file, branch = tmp_path / "whole.jsonl", tmp_path / "branch.jsonl"
    rule = RULES.get(name) or catalog.baselines(model)[0]
    whole = play(model, read_policies([rule]), 3, record=file)
    at = len(whole.steps) // 3
    assert play_branch(file, at).result == whole.result
    twins = [play_branch(file, at, future=1, record=branch)]
    twins += [play_branch(file, at, future=future) for future in (2, 3)]
    for twin in twins:
        assert seen(twin, at + 1) == seen(whole, at + 1)
    digests = {twin.ledger_digest for twin in twins}
    if is_deterministic(model) or name in NOTHING_LEFT:
        assert digests == {whole.ledger_digest}
    else:
        assert len(digests) > 1
    assert replay(branch).result == twins[0].result


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(world, marks=pytest.mark.slow) if world == "yc_bench/default" else world
        for world in sorted(FIRST)
    ],
)
def test_every_model_says_what_it_keeps(world: str) -> None:
    """A table of rollouts names it."""
    model = catalog.model(world)
    assert offers(model, HasFuture)
    facts = kept_facts(model)
    assert len(set(facts)) == len(facts)
    assert all(fact == fact.strip() and fact for fact in facts)
