"""Random and extreme actions break no world."""

from typing import Any

import pytest

from desim import Run, catalog
from desim.core.model_protocols import HasParts, offers
from desim.errors import WrongAction
from desim.studies.boards.leaderboard import everything
from experiments.attack_actions import attacked

WORLDS = everything()


@pytest.mark.parametrize("world", WORLDS)
def test_extreme_actions_are_accepted_or_refused(world: str) -> None:
    """In two episodes at least; roles of a world of parts may be asked later than that."""
    [(_, attack)] = attacked([world], 90)
    assert attack.faults == []
    asked = {role for role, _ in attack.counts}
    assert asked == set(attack.model.roles) or offers(attack.model, HasParts)
    assert all(attack.counts[role, "accepted"] for role in asked)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_many_extreme_actions_are_accepted_or_refused(world: str) -> None:
    """Others than above."""
    [(_, attack)] = attacked([world], 400, seed=7)
    assert attack.faults == []


@pytest.mark.parametrize(
    ("world", "action"),
    [
        ("enterprise_arena", {"do": "recall_notes", "limit": 9223372036854775808}),
        ("enterprise_arena", {"do": "recall_notes", "limit": 9223372036854775807}),
        ("enterprise_arena", {"do": "save_note", "content": "x" * 100_001}),
        ("enterprise_arena", {"do": "save_note", "content": "a", "tags": ["x" * 1_001]}),
        ("enterprise_arena", {"do": "fund_raising_request", "type": "debt", "amount": 10**400}),
        ("yc_bench", {"do": "market_browse", "offset": 10**19}),
        ("yc_bench", {"do": "scratchpad_write", "content": "\ud800"}),
        ("edt/interactive", {"do": "hire", "consultants": 10**30}),
        ("edt", {"do": "decide", "consultants": 10**19, "revenue_risk": 0.5, "projects": []}),
        ("edt", {"do": "answer", "given": "x" * 1_000_001}),
        ("beer_game", {"do": "order", "quantity": 1e300}),
    ],
)
def test_what_no_world_can_stand_is_wrong(world: str, action: dict[str, Any]) -> None:
    """It is refused where it crosses the kernel, in a short text, and the game goes on."""
    run = Run(catalog.model(world), 1)
    [decision, *_] = run.advance()
    with pytest.raises(WrongAction) as wrong:
        run.answer(decision, action)
    assert len(str(wrong.value)) < 2_000
    run.answer(decision, run.roles[decision.role].default_for(decision.observation))


def test_a_line_of_the_console_keeps_to_the_same_bounds() -> None:
    """A number that JSON cannot hold is a usage error of the console, not a fault of the world."""
    run = Run(catalog.model("yc_bench"), 1)
    [decision] = run.advance()
    run.answer(
        decision, {"do": "run_command", "command": f"yc-bench market browse --offset {10**30}"}
    )
    [decision] = run.advance()
    assert decision.observation.reply.exit_code == 2
    assert "'offset' must be <= 1000000000000000000" in decision.observation.reply.stderr


def test_notes_are_kept_up_to_a_limit() -> None:
    """The scratchpad refuses the text that is too long as a whole, and keeps what it has."""
    run = Run(catalog.model("yc_bench"), 1)
    [decision] = run.advance()
    codes = []
    for _ in range(11):
        run.answer(decision, {"do": "scratchpad_append", "content": "x" * 99_999})
        [decision] = run.advance()
        codes.append(decision.observation.reply.exit_code)
    assert codes == [0] * 10 + [1]
