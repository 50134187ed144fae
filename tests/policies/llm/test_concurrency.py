"""Many decisions wait at once, and a server that is busy holds all of them up."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from support.stub import Served, Stub, serving, text

from desim import Episode, catalog, play, play_async, replay, resume
from desim.engine.budget import CommandBudget, spending
from desim.errors import PolicyFailed
from policies.llm.wires import calling as gates
from policies.llm.wires.calling import Gate

#: Seconds after which a test gives up; nothing takes so long.
LONG = 60

ORDER = text('{"order_qty": 120}')


def spec(stub: Stub, **more: Any) -> str:
    """Return the policy that asks a stub."""
    return ",".join([f"llm,model=m,base_url={stub.url}", *(f"{k}={v}" for k, v in more.items())])


def short_game(weeks: int) -> Any:
    """Return a game of a few weeks."""
    return catalog.model("beer_game", changes={"horizon": str(weeks)})


# -- at once ---------------------------------------------------------------------------------------


def test_as_many_requests_are_under_way_as_there_are_episodes() -> None:
    """No reply is sent before a request of every episode has come."""
    many = 40
    meeting = threading.Barrier(many)
    with serving(lambda *_: evolve(ORDER, before=lambda: meeting.wait(LONG))) as stub:

        async def all_of_them() -> list[Episode]:
            games = (play_async(short_game(3), spec(stub), seed) for seed in range(many))
            return await asyncio.gather(*games)

        episodes = asyncio.run(all_of_them())
        assert len(stub.requests) == 3 * many
    assert all(episode.result for episode in episodes)


@pytest.mark.parametrize(("more", "calls"), [({}, 1), ({"method": "debate"}, 3)])
def test_seats_that_decide_at_one_instant_are_asked_at_once(
    more: dict[str, Any], calls: int, tmp_path: Path
) -> None:
    """Their replies come once both were asked; the decisions are those of `play`."""
    meeting = threading.Barrier(2)
    model = catalog.model("beer_game/classic", changes={"horizon": "9"})
    game: dict[str, Any] = {"before": lambda: meeting.wait(LONG)}
    with serving(lambda *_: evolve(ORDER, **game)) as stub:
        both = dict.fromkeys(("retailer", "factory"), spec(stub, **more))
        file = tmp_path / "both.jsonl"
        episode = asyncio.run(play_async(model, both, record=file))
        asked = len(stub.requests)
        game.clear()
        alone = play(model, both)
    assert [step.action for step in episode.steps] == [step.action for step in alone.steps]
    assert asked == calls * len(episode.steps) >= 10
    assert counts(episode) == counts(alone)
    assert replay(file).score == alone.score


def counts(episode: Episode) -> dict[str, dict[str, float]]:
    """What the seats used, times apart."""
    assert episode.result is not None
    return {
        role: {name: value for name, value in usage.items() if name != "seconds"}
        for role, usage in episode.result.usage.items()
    }


def test_a_limit_of_calls_at_once_holds_for_the_seats_of_an_episode() -> None:
    """The second waits for a place."""
    at_once, most, lock = [0], [0], threading.Lock()

    def counted() -> None:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.02)
        with lock:
            at_once[0] -= 1

    model = catalog.model("beer_game/classic", changes={"horizon": "9"})
    with (
        serving(lambda *_: evolve(ORDER, before=counted)) as stub,
        spending(CommandBudget(calls_at_once=1)),
    ):
        asyncio.run(play_async(model, dict.fromkeys(("retailer", "factory"), spec(stub))))
    assert most == [1]


def test_a_cancelled_episode_goes_on_from_its_record(tmp_path: Path) -> None:
    """The request that was under way is counted, and sent again."""
    file, came = tmp_path / "game.jsonl", threading.Event()

    def script(number: int, _: Any) -> Served:
        return evolve(ORDER, before=came.set, slow=0.5) if number == 2 else ORDER

    with serving(script) as stub:

        async def cancelled() -> None:
            task = asyncio.create_task(play_async(short_game(4), spec(stub), record=file))
            await asyncio.to_thread(came.wait, LONG)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        episode = resume(file, trust=True)
        assert len(stub.requests) == 5
    assert counts(episode)["retailer"]["calls"] == 5
    assert counts(episode)["retailer"]["replies"] == 4


# -- a busy server ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_nothing_is_sent_while_a_server_asks_to_wait(status: int) -> None:
    """At most what is under way arrives before the wait is over; then all episodes go on."""
    many, wait = 8, 1.0
    refused: list[float] = []
    arrivals: list[float] = []

    def script(number: int, _: Any) -> Served:
        arrivals.append(time.monotonic())
        if number == 2 * many:
            refused.append(time.monotonic())
            return Served({}, status, {"Retry-After": str(wait)})
        return evolve(ORDER, slow=0.02)

    with serving(script) as stub:

        async def all_of_them() -> None:
            games = (play_async(short_game(5), spec(stub), seed) for seed in range(many))
            await asyncio.gather(*games)

        asyncio.run(all_of_them())
        assert len(stub.requests) == 5 * many + 1
    [start] = refused
    assert sum(start < at < start + wait for at in arrivals) <= many - 1
    assert sum(at > start + wait for at in arrivals) >= many


def test_a_wait_beyond_the_timeout_fails_every_call_without_a_request() -> None:
    """The server has said that it would not answer; each record can be resumed later."""
    with serving(Served({}, 429, {"Retry-After": "50"})) as stub:
        with pytest.raises(PolicyFailed, match="asks to wait 50 s, which is beyond the timeout"):
            play(short_game(3), spec(stub, timeout=20))
        with pytest.raises(PolicyFailed, match=r"has too much to do and asks to wait 4\d"):
            play(short_game(3), spec(stub, timeout=20))
        assert len(stub.requests) == 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of gates, which passes only where one waits."""
    now = [100.0]
    monkeypatch.setattr(gates.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(gates.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def test_a_gate_opens_gradually(clock: list[float]) -> None:
    """One request after the other, and without gaps once none waits."""
    gate = Gate()
    assert gate.passed(101)
    gate.close(5)
    gate.close(4)
    assert gate.seconds_closed == 5
    assert not gate.passed(104)
    for opens in (105, 105 + gates.GAP, 105 + 2 * gates.GAP):
        assert gate.passed(200)
        assert clock[0] == pytest.approx(opens)
    clock[0] = 120
    assert all(gate.passed(200) for _ in range(3))
    assert clock[0] == 120


def test_no_server_closes_its_gate_for_ever(clock: list[float]) -> None:
    """Whatever it says, an hour at most."""
    gate = Gate()
    gate.close(1e9)
    assert gate.seconds_closed == gates.LONGEST_CLOSED
    assert gate.passed(100 + 2 * gates.LONGEST_CLOSED)
    assert clock[0] == 100 + gates.LONGEST_CLOSED
