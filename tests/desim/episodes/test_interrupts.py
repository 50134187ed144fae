"""The first Ctrl-C stops an episode, and so does a limit, whatever its policies do."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from support.forked import desim_process
from support.recorded import GAME
from support.small_worlds import Go, Spot, Walk

from desim import Episode, play, play_async, resume
from desim.core.limits import Limits
from desim.errors import LimitReached
from models.beer_game import Order, Stage

ENDLESS = """
import time
from desim import Policy
from models.beer_game import Order

class Computes(Policy):
    def decide(self, stage):
        if stage.week == 2:
            print("computes", flush=True)
            while True:
                pass
        return Order(1)

class ComputesInACoroutine(Policy):
    async def decide(self, stage):
        return Computes().decide(stage)

class Sleeps(Policy):
    async def decide(self, stage):
        import asyncio
        if stage.week == 2:
            print("sleeps", flush=True)
            await asyncio.sleep(1e6)
        return Order(1)
"""


@pytest.mark.parametrize(
    "policy",
    [
        "Computes",
        *(pytest.param(p, marks=pytest.mark.slow) for p in ("ComputesInACoroutine", "Sleeps")),
    ],
)
def test_the_first_ctrl_c_stops_a_run(tmp_path: Path, policy: str) -> None:
    """Exit code 130, one sentence, and a record that can be resumed."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    arguments = ["run", "beer_game", "--policy", f"endless:{policy}", "--record", "run"]
    with desim_process(*arguments, cwd=tmp_path) as run:
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(0.1)
        begun = time.monotonic()
        os.kill(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=30)
    assert time.monotonic() - begun < 5
    assert (run.returncode, err) == (130, "desim: stopped; desim resume run goes on\n")
    assert len(Episode.read(tmp_path / "run", whole=False).steps) == 2
    assert resume(tmp_path / "run", lambda stage: Order(1)).result is not None


def endless(stage: Stage) -> Order:
    """Compute without end."""
    while stage.week == 2:
        pass
    return Order(1)


async def endless_coroutine(stage: Stage) -> Order:
    """Wait without end."""
    if stage.week == 2:
        await asyncio.sleep(1e6)
    return Order(1)


@pytest.mark.parametrize("policy", [endless, endless_coroutine], ids=["computes", "waits"])
@pytest.mark.parametrize("driver", ["play", "play_async"])
def test_a_limit_of_time_stops_a_policy(tmp_path: Path, policy: object, driver: str) -> None:
    """The decisions before that are on record, which can be resumed."""
    file, limits = tmp_path / "run", Limits(seconds=0.3)
    with pytest.raises(LimitReached, match=r"limit of 0\.3 seconds"):  # noqa: PT012 (two drivers)
        if driver == "play":
            play(GAME, policy, record=file, limits=limits)  # type: ignore[arg-type]
        else:
            asyncio.run(play_async(GAME, policy, record=file, limits=limits))  # type: ignore[arg-type]
    assert len(Episode.read(file, whole=False).steps) == 2
    assert resume(file, lambda stage: Order(1)).result is not None


def test_limits_count_decisions_and_events() -> None:
    """They reach the run."""
    with pytest.raises(LimitReached, match="limit of 3 decisions"):
        play(GAME, "typical", limits=Limits(decisions=3))
    with pytest.raises(LimitReached, match="limit of 9 events"):
        play(GAME, "typical", limits=Limits(events=9))


def go(spot: Spot) -> Go:
    """Walk on."""
    return Go(1)


@pytest.mark.slow
def test_memory_does_not_grow_with_recorded_decisions(tmp_path: Path) -> None:
    """A long episode whose steps stay on disk takes less than a quarter of what they would."""
    import tracemalloc

    peaks = {}
    for keeps in (True, False):
        tracemalloc.start()
        world = Walk(steps=20_000)
        episode = play(world, go, record=tmp_path / f"{keeps}.gz", keep_steps=keeps)
        assert len(episode.steps) == 20_000
        peaks[keeps] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[False] < peaks[True] / 2
