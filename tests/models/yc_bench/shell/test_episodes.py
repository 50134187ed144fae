"""Several episodes: a bankruptcy opens the same seed again, and only the scratchpad is kept."""

from typing import Any

from support.yc_snapshot import snapshot

from desim import Policy, Run, play
from desim.episodes.lineup import resolve
from models.yc_bench import YCBench
from models.yc_bench.actions import EndTurn, ScratchpadWrite, SimResume


def test_states_of_two_episodes_are_equal_after_every_command() -> None:
    """The second episode's dates, tasks, trust and pending events are those of the first."""
    model = YCBench.preset("direct", episodes=2)
    run = Run(model, 1)
    policy = resolve(model, "published_greedy", 1).policies["founder"]
    states: list[list[dict[str, Any]]] = [[], []]
    while handed := run.advance():
        states[run.state.episode - 1].append(snapshot(run.state))
        run.answer(handed[0], policy.decide(handed[0].observation))
    assert states[0] == states[1]
    assert len(states[0]) > 30


def test_the_last_episode_is_the_score() -> None:
    """An episode that reaches the horizon ends the run; earlier losses do not count."""

    class Late(Policy):
        """Idle until the company opens again, then the published rule."""

        def __init__(self) -> None:
            self.rule: Any = None

        def decide(self, desk: Any) -> Any:
            if desk.status is not None and desk.status.kind == "reopened":
                self.rule = resolve(YCBench(), "published_greedy", 1).policies["founder"]
            return EndTurn() if self.rule is None else self.rule.decide(desk)

    run = play(YCBench(episodes=5, idle_limit=3), Late(), 1)
    ends = [(each["episode"], each["ended"]) for each in run.metrics["episodes"]]
    assert ends == [(1, "bankruptcy"), (2, "horizon_end")]
    assert run.score == play(YCBench(), "published_greedy", 1).score


def test_a_new_company_has_an_empty_conversation_and_the_old_scratchpad() -> None:
    """Turns count from 1, no reply is left, and the notes are shown."""
    run = Run(YCBench(episodes=2, initial_funds_cents=0, idle_limit=2), 1)
    [decision] = run.advance()
    run.answer(decision, ScratchpadWrite("avoid Vanguard ML"))
    for _ in range(2):
        [decision] = run.advance()
        run.answer(decision, EndTurn())
    [decision] = run.advance()
    desk = decision.observation
    assert (desk.turn, desk.reply, desk.time) == (1, None, "2025-01-01T09:00:00")
    assert (desk.planned, desk.active, desk.funds_cents) == ((), (), 0)
    assert (desk.status.kind, desk.status.number) == ("reopened", 1)
    assert desk.status.horizon_end == "2026-01-01T09:00:00"
    assert desk.status.scratchpad == "avoid Vanguard ML"
    assert run.world.now > 0


def test_work_of_a_bankrupt_company_is_never_done() -> None:
    """Its tasks, paydays and horizon are gone: the new books hold entries of their own only."""
    model = YCBench.preset("direct", episodes=2)
    run = Run(model, 1)
    policy = resolve(model, "published_greedy", 1).policies["founder"]
    while (handed := run.advance()) and run.state.episode == 1:
        run.answer(handed[0], policy.decide(handed[0].observation))
    for _ in range(10_000):
        run.answer(handed[0], EndTurn() if not handed[0].observation.active else SimResume())
        if not (handed := run.advance()):
            break
    first, second = run.state.ledgers
    assert first.balance("cash") < 0
    kinds = [entry.kind for entry in second.journal]
    assert kinds == ["capital"] + 6 * 8 * ["wages"]
    assert run.result().metrics["ended_on"] == "2025-07-01T09:00:00"


def test_the_digest_covers_the_books_of_all_episodes() -> None:
    """Two episodes have another digest than one, also where the last is the same."""
    one, two = (play(YCBench.preset("direct", episodes=k), "published_greedy", 1) for k in (1, 2))
    assert one.score == two.score
    assert one.ledger_digest != two.ledger_digest
