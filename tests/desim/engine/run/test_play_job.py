"""Jobs: the row of an episode; an episode that fails is a row too."""

import pytest
from support.small_worlds import ENDLESS, FAILS, STRIDE, WALK, Stride, Walk

from desim.core.limits import Limits
from desim.episodes.driver import play
from desim.studies.sweep import sweep


def test_a_row_has_the_results_of_the_episode() -> None:
    """Nested metrics are named by their path, and nan is None."""
    rows = sweep(f"{WALK}/long", f"{STRIDE}, size=0", [4])
    episode = play(f"{WALK}/long", {"walker": Stride(size=0)}, 4)
    assert rows[0] == {
        "model": WALK,
        "preset": "long",
        "revision": 1,
        "params": {},
        "policy": f"{STRIDE},size=0",
        "arguments": {"size": 0},
        "seed": 4,
        "score": episode.score,
        "ended": "walked",
        "decisions": 9,
        "metrics": {
            "far": False,
            "reached.2": False,
            "reached.5": False,
            "first_gust": episode.metrics["first_gust"],
            "ratio": None,
            "gusts": episode.metrics["gusts"],
        },
        "ledger_digest": episode.ledger_digest,
        "error": None,
    }


@pytest.mark.parametrize(
    ("how", "error"),
    [
        (
            "raise",
            f"PolicyFailed: policy {FAILS},how=raise failed as 'walker' at t=0: ValueError: no",
        ),
        ("wrong", "WrongAction: 'walker' answered at t=0: Spot(place=0, step=0); expected Go"),
        (
            "exit",
            f"PolicyFailed: policy {FAILS},how=exit failed as 'walker' at t=0: SystemExit: 4",
        ),
    ],
)
def test_a_failing_episode_is_a_row_and_the_sweep_continues(how: str, error: str) -> None:
    """The error of any exception is one line without memory addresses."""
    rows = sweep(WALK, f"{FAILS},how={how}", range(5))
    assert [row["seed"] for row in rows.failed] == [0, 3]
    failed = rows[0]
    assert failed["error"].startswith(error)
    assert "\n" not in failed["error"]
    assert "0x" not in failed["error"]
    assert [failed[key] for key in ("score", "ended", "decisions", "ledger_digest")] == [None] * 4
    assert failed["metrics"] == {}
    assert [row["decisions"] for row in rows if not row["error"]] == [3, 3, 3]


def test_a_model_that_fails_is_a_row_too() -> None:
    """A world in which time does not pass, and one whose score is infinite."""
    stuck = sweep(WALK, STRIDE, [0], set={"pace": 0, "steps": 99})[0]
    assert stuck["error"].startswith("Stuck: 'walker' was asked 51 times at t=0")
    infinite = sweep(Walk(wind=1e308), STRIDE, range(20)).failed[0]
    assert infinite["error"] in {
        f"ModelFailed: the model's score is {sign}inf; a score is a finite number"
        for sign in ("", "-")
    }


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        (Limits(decisions=2), "LimitReached: the limit of 2 decisions was reached at t=2"),
        (Limits(events=2), "LimitReached: the limit of 2 events was reached at t="),
        (Limits(seconds=0.2), "LimitReached: the limit of 0.2 seconds was reached"),
    ],
)
def test_an_episode_that_reaches_a_limit_is_a_row_too(limits: Limits, error: str) -> None:
    """Of decisions, events or time; in this process, where an alarm interrupts the policy."""
    policy = f"{ENDLESS},how=loop" if limits.seconds else STRIDE
    rows = sweep(WALK, policy, [1], limits=limits)
    assert rows[0]["error"].startswith(error)


def test_an_interrupt_is_no_failed_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the sweep; without a folder there is no checkpoint to mention."""

    def interrupted(_self: object, _spot: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Stride, "decide", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        sweep(WALK, STRIDE, range(3))
    assert str(stop.value) == ""
