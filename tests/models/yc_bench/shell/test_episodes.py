"""Several episodes: a bankruptcy opens the same seed again, and only the scratchpad is kept."""

from typing import Any

import pytest
from support.yc_snapshot import snapshot

from desim import Policy, Run, play
from desim.episodes.lineup import resolve
from models.yc_bench import YCBench
from models.yc_bench.actions import EndTurn, ScratchpadWrite, SimResume


def figures(episode: dict[str, Any]) -> dict[str, Any]:
    """Return what two equal episodes of one run share."""
    return {key: value for key, value in episode.items() if key not in ("episode", "ended")}


@pytest.mark.parametrize("preset", ["direct", "default"])
def test_a_rule_that_learns_nothing_repeats_its_bankruptcy(preset: str) -> None:
    """Same seed, same world, same dates: all episodes are equal to the cent and the microsecond."""
    model = YCBench.preset(preset, episodes=4)
    seed = 1 if preset == "direct" else 3
    alone = play(YCBench.preset(preset), "published_greedy", seed)
    run = play(model, "published_greedy", seed)
    episodes = run.metrics["episodes"]
    assert [each["episode"] for each in episodes] == [1, 2, 3, 4]
    assert {each["ended"] for each in episodes} == {"bankruptcy"}
    assert [figures(each) for each in episodes] == 4 * [figures(alone.metrics["episodes"][0])]
    assert run.score == alone.score
    ours, theirs = dict(run.metrics), dict(alone.metrics)
    del ours["episodes"], theirs["episodes"]
    assert ours == theirs


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


def test_years_of_all_episodes_fit_a_calendar() -> None:
    """Dates have four digits, and the refusal names both parameters."""
    with pytest.raises(ValueError, match=r"episodes=11 of horizon_years=100 were given; .*1,000"):
        YCBench(episodes=11, horizon_years=100)
    with pytest.raises(ValueError, match="episodes"):
        YCBench(episodes=0)
