"""Python's collector runs rarely during episodes, and after the next collection as before."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import define, frozen
from support.small_worlds import STRIDE, Go, Spot, Walk

from desim.collector import THRESHOLD, rare_collections
from desim.episodes.driver import play, play_async
from desim.errors import PolicyFailed
from desim.studies.sweep import sweep

USUAL = (700, 10, 10)
RARE = (THRESHOLD, 10, 10)


@pytest.fixture(autouse=True)
def usual_thresholds() -> Iterator[None]:
    """Start each test with Python's own thresholds, and restore those of the test run."""
    SEEN.clear()
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.enable()
    gc.set_threshold(*before)


def restored() -> tuple[int, ...]:
    """Return the thresholds after the next collection."""
    gc.collect()
    return gc.get_threshold()


#: What `Watching` has noted; not in its instances, which a sweep copies.
SEEN: list[tuple[int, ...]] = []


@frozen
class Watching:
    """Notes the threshold at each decision, and fails at the last one on demand."""

    fails: bool = False

    def decide(self, spot: Spot) -> Go:
        """Take a step of one."""
        SEEN.append(gc.get_threshold())
        if self.fails and spot.step:
            raise ValueError("tired")
        return Go(1)


def test_collections_are_rare_during_an_episode() -> None:
    """Alone, in an event loop, and in a sweep; the next collection restores the threshold."""
    play(Walk(), Watching())
    assert restored() == USUAL
    asyncio.run(play_async(Walk(), Watching()))
    assert restored() == USUAL
    sweep(Walk(), Watching(), [1, 2])
    assert restored() == USUAL
    assert SEEN == [RARE] * 12


def test_short_episodes_share_a_collection() -> None:
    """Several hundred containers that an episode leaves alive start none at its end."""
    starts: list[str] = []

    def note(phase: str, _info: object) -> None:
        starts.append(phase)

    gc.collect()
    gc.callbacks.append(note)
    try:
        for _ in range(2):
            play(Walk(steps=800), STRIDE)
    finally:
        gc.callbacks.remove(note)
    assert starts == []
    assert restored() == USUAL


def test_the_threshold_is_restored_after_a_failure() -> None:
    """Of a policy, in the driver and in a sweep."""
    with pytest.raises(PolicyFailed):
        play(Walk(), Watching(fails=True))
    assert restored() == USUAL
    assert sweep(Walk(), Watching(fails=True), [1]).failed
    assert restored() == USUAL


def test_an_episode_inside_an_episode_changes_nothing() -> None:
    """A policy may look ahead by playing; the outer episode goes on as it was."""
    seen: list[Any] = []

    def looks_ahead(_spot: Spot) -> Go:
        play(Walk(), STRIDE)
        seen.append(gc.get_threshold())
        return Go(1)

    play(Walk(), looks_ahead)
    assert seen == [RARE] * 3
    assert restored() == USUAL


def test_the_last_of_several_threads_restores_the_threshold() -> None:
    """In whatever order they begin and end."""
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with rare_collections():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with rare_collections():
        thread.start()
        assert entered.wait(60)
    assert restored() == RARE
    leave.set()
    thread.join()
    assert restored() == USUAL


@pytest.mark.parametrize("own", [(THRESHOLD * 2, 5, 5), (0, 10, 10)], ids=str)
def test_a_threshold_of_the_program_is_kept(own: tuple[int, int, int]) -> None:
    """If it is higher, or 0, which switches the collector off."""
    gc.set_threshold(*own)
    play(Walk(), Watching())
    assert [own] * 3 == SEEN
    assert restored() == own


def test_a_collector_that_is_off_stays_off() -> None:
    """It was switched off by the program, which may have its reasons."""
    gc.disable()
    play(Walk(), STRIDE)
    assert not gc.isenabled()


def test_what_is_set_inside_is_kept() -> None:
    """By a policy or a model that knows better."""
    with rare_collections():
        gc.set_threshold(1_000, 10, 10)
    assert gc.get_threshold() == (1_000, 10, 10)


@define(eq=False)
class Knot:
    """Refers to itself, so that only the collector frees it."""

    itself: Any = None


@frozen
class Knots:
    """Leaves some garbage at each decision, and notes how much of it is alive."""

    alive: "weakref.WeakSet[Knot]"
    most: list[int]

    def decide(self, _spot: Spot) -> Go:
        """Leave a hundred knots."""
        for _ in range(100):
            knot = Knot()
            knot.itself = knot
            self.alive.add(knot)
        self.most.append(len(self.alive))
        return Go(0)


def test_the_garbage_of_a_long_episode_is_bounded() -> None:
    """However long it is."""
    knots = Knots(weakref.WeakSet(), [])
    play(Walk(steps=1_500), knots, keep_steps=False)
    assert THRESHOLD / 10 < max(knots.most) <= THRESHOLD
