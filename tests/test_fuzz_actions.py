"""Random and extreme actions break no world."""

import json
import random
from collections import Counter
from typing import Any

import pytest
from attrs import define, field
from support.extreme_actions import Extremes

from desim import Model, Run, catalog
from desim.catalog.model_finder import everything
from desim.core.events import Decision
from desim.core.limits import Limits
from desim.episodes.replay import open_decisions
from desim.errors import LimitReached, Stuck, WrongAction
from desim.schema import codec, encode
from desim.short_repr import short_repr

WORLDS = everything()

#: Limits of an episode; the next one has the next seed.
LIMITS = Limits(decisions=400, events=100_000)


@define
class Attack:
    """Answers the roles of a model, and counts accepted and wrong answers by role.

    An exception other than `WrongAction` fails the test where it is raised.
    """

    model: Model[Any]
    chance: random.Random
    counts: Counter[tuple[str, str]] = field(factory=Counter)

    def run(self, actions: int, seed: int) -> None:
        """Give so many answers; every other episode is played by all roles of the model."""
        while self.counts.total() < actions:
            run = Run(self.model, seed, [*self.model.roles] if seed % 2 else None, LIMITS)
            makers = {
                name: Extremes(codec(role.action), self.chance) for name, role in run.roles.items()
            }
            try:
                for decision in open_decisions(run):
                    self._look(run, decision)
                    self._answer(run, decision, makers[decision.role])
                run.result()
            except (Stuck, LimitReached):
                pass
            seed += 1

    def _look(self, run: Run[Any], decision: Decision) -> None:
        """Read all that the framework reads at a decision; tables are slow, so not every time."""
        role, seen, model = run.roles[decision.role], decision.observation, run.model
        encode(seen)
        role.default_for(seen)
        for option in role.options(seen) if role.options else ():
            codec(role.action).take(option.action)
            repr((option.value, option.note))
        if model.tables and self.counts[decision.role, "accepted"] % 7 == 0:
            encode(model.tables(run.state, decision.role))

    def _answer(self, run: Run[Any], decision: Decision, maker: Extremes) -> None:
        """Answer until an action is accepted; of what is recorded the same action is read."""
        name, role = decision.role, run.roles[decision.role]
        maker.know(decision.observation)
        for _ in range(50):
            given = maker.action()
            if self.chance.random() < 0.2:  # a sensible one, so that an episode gets somewhere
                options = role.options(decision.observation) if role.options else ()
                sensible = [one.action for one in options]
                given = self.chance.choice(sensible or [role.default_for(decision.observation)])
            try:
                run.answer(decision, given)
            except WrongAction as wrong:
                assert len(str(wrong)) < 2_000  # noqa: PT017 (most are accepted)
                self.counts[name, "wrong"] += 1
                continue
            self.counts[name, "accepted"] += 1
            again, _ = codec(role.action).take(json.loads(decision.wire))
            assert repr(again) == repr(decision.action), short_repr(given)
            return
        run.answer(decision, role.default_for(decision.observation))


def attacked(world: str, actions: int, seed: int = 0) -> Attack:
    """Attack a world."""
    attack = Attack(catalog.model(world), random.Random(seed))  # noqa: S311 (no secret)
    attack.run(actions, seed)
    return attack


@pytest.mark.parametrize("world", WORLDS)
def test_extreme_actions_are_accepted_or_refused(world: str) -> None:
    """In two episodes at least; roles of a world of parts may be asked later than that."""
    attack = attacked(world, 90)
    asked = {role for role, _ in attack.counts}
    assert asked == set(attack.model.roles) or attack.model.models
    assert all(attack.counts[role, "accepted"] for role in asked)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_many_extreme_actions_are_accepted_or_refused(world: str) -> None:
    """Others than above."""
    attacked(world, 400, seed=7)


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
