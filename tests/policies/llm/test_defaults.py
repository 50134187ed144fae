"""Decisions that are not the model's are counted, in every world and by every method."""

from typing import Any

import pytest
from click.testing import CliRunner
from support.scripted import player, seat_of, worded
from support.stub import serving, text

from desim import catalog, play
from desim.cli.main import main
from desim.episodes.usage import default_share, is_played
from policies.llm.methods.build import METHODS

NONSENSE = "Lorem ipsum dolor sit amet."

#: World, role, changed parameters, and what a model says that decides nothing there.
WORLDS: list[tuple[str, str, dict[str, str], str]] = [
    ("beer_game", "retailer", {"horizon": "3"}, NONSENSE),
    ("beer_game", "retailer", {"horizon": "3"}, '<think>{"order_qty": 9}'),
    ("consulting", "candidate", {"messages": "4"}, NONSENSE),
    ("consulting", "interviewer", {"messages": "4"}, "<think>Well"),
    ("consulting", "judge", {"messages": "4"}, NONSENSE),
    ("edt", "manager", {}, NONSENSE),
    ("edt/interactive", "manager", {}, NONSENSE),
    ("enterprise", "controller", {}, NONSENSE),
    ("enterprise", "treasury.cfo", {}, NONSENSE),
    ("enterprise_arena", "cfo", {"horizon": "3"}, NONSENSE),
    ("reasoning", "analyst", {"limit": "3"}, NONSENSE),
    ("yc_bench", "founder", {"max_turns": "4"}, NONSENSE),
]

#: Policies of roles that have to be played.
OTHERS = {
    "consulting": {"candidate": "silent"},
    "enterprise": {"treasury.cfo": "greedy", "startup.founder": "greedy"},
}


@pytest.mark.parametrize(("world", "role", "changes", "said"), WORLDS)
def test_a_model_that_decides_nothing_is_counted_in_every_world(
    world: str, role: str, changes: dict[str, str], said: str
) -> None:
    """All its decisions are defaults, whether it is silent or talks nonsense."""
    for words in (said, ""):
        model = catalog.model(world, changes=changes)
        llm, _ = player(seat_of(model, role), lambda _, words=words: worded(words), retries=0)
        episode: Any = play(model, {**OTHERS.get(world, {}), role: llm})
        usage = episode.result.usage[role]
        assert usage["default_actions"] == usage["decisions"] > 0
        assert default_share(usage) == 1
        assert not is_played(usage)


@pytest.mark.parametrize("method", METHODS)
def test_a_silent_model_is_counted_with_every_method(method: str) -> None:
    """Whatever calls a method makes, no decision is the model's."""
    with serving(text("")) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method={method},retries=0"
        episode: Any = play(catalog.model("beer_game", changes={"horizon": "2"}), spec)
    assert default_share(episode.result.usage["retailer"]) == 1


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], "retailer 2 of 2 decisions, not played"),
        (["--episodes", "2"], "4 of 4 decisions by default (not played)"),
    ],
)
def test_desim_run_shows_how_many_decisions_were_defaults(options: list[str], shown: str) -> None:
    """And above one half that the episode was not played."""
    with serving(text("")) as stub:
        policy = f"--policy=llm,model=stub,base_url={stub.url},retries=0"
        world = ["run", "beer_game", "--set", "horizon=2", policy, *options]
        done = CliRunner().invoke(main, world, prog_name="desim")
    assert done.exit_code == 0, done.stderr
    assert shown in " ".join(done.stdout.split())
