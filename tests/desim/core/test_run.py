"""The clock, the questions that stop it, and what they refuse."""

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from simpy import Interrupt
from support.stage import Bid, Seen, Stage, Story

from desim import Model, Run, World
from desim.core.streams import generator
from desim.errors import (
    ModelFailed,
    Stuck,
    UsageError,
    Withdrawn,
    WrongAction,
)


@frozen
class Scored(Model[None]):
    """A model whose score and metrics are given."""

    given: Any
    reported: Any = field(factory=dict)
    roles = {}  # noqa: RUF012 (never written to)

    def begin(self, world: World) -> None:
        """Do nothing."""

    def score(self, state: None) -> Any:
        """Return the score given."""
        return self.given

    def metrics(self, state: None) -> Any:
        """Return the metrics given."""
        return self.reported


def asking(name: str, times: int = 1, wait: int = 1) -> Story:
    """Return a process that asks a role again and again."""

    def story(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        for n in range(times):
            bid = yield world.ask(name, lambda n=n: Seen(n))
            log.append((world.now, name, bid.n))
            yield world.timeout(wait)

    return story


def test_a_process_receives_the_answer_at_the_tick_it_asked() -> None:
    """Asking takes no simulated time."""
    run = Run(Stage((asking("ann", times=2, wait=5),)))
    (decision,) = run.advance()
    assert (decision.role, decision.observation, run.world.now) == ("ann", Seen(0), 0)
    run.answer(decision, Bid(7))
    (decision,) = run.advance()
    assert (decision.observation, run.world.now) == (Seen(1), 5)
    run.answer(decision, Bid(8))
    assert run.advance() == []
    assert run.state == [(0, "ann", 7), (5, "ann", 8)]
    assert run.result().ended == "finished"


def test_decisions_of_one_instant_are_handed_out_together() -> None:
    """No process receives its answer before every role of the tick was asked."""

    def late(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.timeout(0)
        yield world.timeout(0)
        bid = yield world.ask("bob", lambda: Seen(len(log)))
        log.append((world.now, "bob", bid.n))

    run = Run(Stage((asking("ann"), late), names=("ann", "bob")))
    first, second = run.advance()
    assert (first.role, second.role) == ("ann", "bob")
    run.answer(second, Bid(2))
    run.answer(first, Bid(1))
    assert second.observation == Seen(0)
    assert run.advance() == []
    assert run.state == [(0, "ann", 1), (0, "bob", 2)]


def test_an_observation_is_taken_when_the_instant_has_settled() -> None:
    """It includes what happens later at the same tick."""

    def asks(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.ask("ann", lambda: Seen(len(log)))

    def writes(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        log.append("later at the same tick")
        yield world.timeout(0)
        log.append("and later still")

    (decision,) = Run(Stage((asks, writes))).advance()
    assert decision.observation == Seen(2)


def test_a_question_can_come_before_events_of_its_instant() -> None:
    """A question `before` a rank is handed out before events of that rank, any other after them."""

    def hurries(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        bid = yield world.ask("bob", lambda: Seen(len(log)), before=2)
        log.append(bid.n)

    def writes(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.timeout(0, rank=1)
        log.append("of a lower rank")
        yield world.timeout(0, rank=2)
        log.append("of this rank")

    run = Run(Stage((asking("ann"), hurries, writes), names=("ann", "bob")))
    (first,) = run.advance()
    assert (first.role, first.observation, run.state) == ("bob", Seen(1), ["of a lower rank"])
    run.answer(first, Bid(7))
    (second,) = run.advance()
    assert (second.role, run.state) == ("ann", ["of a lower rank", 7, "of this rank"])
    run.answer(second, Bid(1))
    assert run.advance() == []


def test_the_clock_waits_for_every_answer() -> None:
    """Advancing with an open decision names the role that has not answered."""
    run = Run(Stage((asking("ann"), asking("bob")), names=("ann", "bob")))
    first, _ = run.advance()
    run.answer(first, Bid(1))
    with pytest.raises(UsageError, match="'bob' has not answered at t=0"):
        run.advance()


@pytest.mark.parametrize("action", [3, None, "bid", Seen(1), {"do": "bid"}, {"do": "bid", "n": -1}])
def test_a_wrong_action_changes_nothing(action: object) -> None:
    """The error names role, tick, action and what is expected; the decision stays open."""
    run = Run(Stage((asking("ann"),)))
    (decision,) = run.advance()
    with pytest.raises(WrongAction, match=r"'ann' answered at t=0: .*expected Bid"):
        run.answer(decision, action)
    run.answer(decision, {"do": "bid", "n": 4})
    run.advance()
    assert run.state == [(0, "ann", 4)]


def test_an_answer_is_given_once() -> None:
    """A second answer is refused, and so is one to an earlier decision."""
    run = Run(Stage((asking("ann"),)))
    (decision,) = run.advance()
    run.answer(decision, Bid(1))
    with pytest.raises(UsageError, match="is not open"):
        run.answer(decision, Bid(2))
    run.advance()
    with pytest.raises(UsageError, match="is not open"):
        run.answer(decision, Bid(3))


def test_endless_asking_is_stopped() -> None:
    """A role is asked more often at one tick than the model's `max_questions_per_tick`."""
    run = Run(Stage((asking("ann", times=100, wait=0),), max_questions_per_tick=5))
    for _ in range(5):
        (decision,) = run.advance()
        run.answer(decision, Bid(0))
    with pytest.raises(Stuck, match="'ann' was asked 6 times at t=0"):
        run.advance()


def test_questions_are_counted_anew_at_every_tick() -> None:
    """A hundred questions at a hundred ticks are within a limit of one a tick."""
    run = Run(Stage((asking("ann", times=100, wait=1),), max_questions_per_tick=1))
    while decisions := run.advance():
        run.answer(decisions[0], Bid(0))
    assert run.result().decisions == 100


def test_an_interrupt_withdraws_an_open_question() -> None:
    """No process waits for the answer any more, so the decision is not handed out."""

    def asks(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        question = world.ask("ann", lambda: Seen(0))
        try:
            yield question
        except Interrupt as interrupt:
            log.append(interrupt.cause)
        yield world.timeout(1)
        try:
            yield question
        except Withdrawn as gone:
            log.append(str(gone))

    def begin(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        asked = world.process(asks(world, log))
        yield world.timeout(0)
        asked.interrupt("fire alarm")

    run = Run(Stage((begin,)))
    assert run.advance() == []
    assert run.state == [
        "fire alarm",
        "the question to 'ann' was withdrawn, as no process waited for it; ask again",
    ]


def test_a_question_that_lost_a_race_is_withdrawn() -> None:
    """With `ask | timeout(0)` the timeout wins, since the tick settles before a role is asked."""

    def asks(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.ask("ann", lambda: Seen(0)) | world.timeout(0)
        log.append("went on")

    run = Run(Stage((asks,)))
    assert run.advance() == []
    assert run.state == ["went on"]


@pytest.mark.parametrize("delay", [1.5, float("nan"), float("inf"), "1", None])
def test_time_is_whole(delay: Any) -> None:
    """A delay that is no whole number of ticks is refused."""
    with pytest.raises((ModelFailed, TypeError)):
        World().timeout(delay)


@pytest.mark.parametrize("delay", [2, 2.0, np.int64(2)])
def test_whole_delays_of_any_type_keep_time_an_int(delay: Any) -> None:
    """Floats and numpy integers that are whole become Python integers."""
    world = World()
    world.timeout(delay)
    world.run()
    assert (world.now, type(world.now)) == (2, int)


def test_ranks_order_the_events_of_a_tick() -> None:
    """Lower ranks come first; what one event sets off comes before the next rank."""

    def at(rank: int, name: str) -> Story:
        def story(world: World, log: list[Any]) -> Generator[Any, Any, None]:
            yield world.timeout(1, rank=rank)
            log.append(name)
            yield world.timeout(0)
            log.append(f"{name} again")

        return story

    run = Run(Stage((at(2, "c"), at(1, "a"), at(1, "b"))))
    run.advance()
    assert run.state == ["a", "a again", "b", "b again", "c", "c again"]


@pytest.mark.parametrize(("delay", "woken"), [(2, 3), (0, 1), (30, 31)])
def test_a_wait_can_be_moved(delay: int, woken: int) -> None:
    """A process that waits is resumed once, at the new tick."""
    world = World()
    log: list[Any] = []
    wait = world.timeout(10)

    def sleeps() -> Generator[Any, Any, None]:
        yield wait
        log.append(world.now)

    def moves() -> Generator[Any, Any, None]:
        yield world.timeout(1)
        world.moved(wait, delay)

    world.process(sleeps())
    world.process(moves())
    world.run()
    assert log == [woken]


def test_a_moved_wait_can_be_interrupted() -> None:
    """SimPy detaches the process from the event that it waits for now."""
    world = World()
    log: list[Any] = []
    wait = world.event()

    def sleeps() -> Generator[Any, Any, None]:
        try:
            yield wait
        except Interrupt as interrupt:
            log.append((world.now, interrupt.cause))

    sleeper = world.process(sleeps())
    world.run(until=1)
    world.moved(wait, 9)
    world.run(until=3)
    sleeper.interrupt("alarm")
    world.run()
    assert log == [(3, "alarm")]


def test_an_event_that_has_happened_cannot_be_moved() -> None:
    """No process waits for it any more."""
    world = World()
    wait = world.timeout(1)
    world.run()
    with pytest.raises(UsageError, match="the event has happened; only a pending event"):
        world.moved(wait, 1)


def test_a_stream_depends_on_seed_and_name_alone() -> None:
    """Other streams, claimed before or after, do not shift its draws."""
    alone = World(seed=3).stream("demand").integers(1 << 60, size=4)
    crowded = World(seed=3)
    crowded.stream("prices").integers(1 << 60, size=100)
    assert (crowded.stream("demand").integers(1 << 60, size=4) == alone).all()
    assert (World(seed=4).stream("demand").integers(1 << 60, size=4) != alone).any()
    assert (generator(3, "demand").integers(1 << 60, size=4) == alone).all()


def test_names_of_streams_do_not_run_together() -> None:
    """("a", "bc") and ("ab", "c") are two streams."""
    world = World()
    first, second = world.stream("a", "bc"), world.stream("ab", "c")
    assert first.integers(1 << 60) != second.integers(1 << 60)


def test_a_stream_has_one_owner() -> None:
    """A second claim is refused, also when the parts are numbers."""
    world = World()
    world.stream("gate", 3)
    with pytest.raises(ModelFailed, match="random stream 'gate/3' is in use; choose another name"):
        world.stream("gate", 3)


def test_the_first_reason_to_end_stands_and_nothing_happens_after_it() -> None:
    """Events left on the calendar are not processed."""

    def ends(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.timeout(3)
        world.end("bankrupt")
        world.end("horizon")
        log.append("last")
        yield world.timeout(1)
        log.append("never")

    run = Run(Stage((ends, asking("ann", times=9, wait=2))))
    while decisions := run.advance():
        run.answer(decisions[0], Bid(0))
    assert (run.result().ended, run.world.now) == ("bankrupt", 3)
    assert run.state == [(0, "ann", 0), (2, "ann", 0), "last"]


def test_a_failing_process_ends_the_run_with_its_own_exception_as_the_cause() -> None:
    """Also one whose constructor takes two arguments, which SimPy alone cannot raise again."""

    class TwoArguments(Exception):
        def __init__(self, a: int, b: int) -> None:
            super().__init__(f"{a} and {b}")

    def fails(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.timeout(1)
        raise TwoArguments(1, 2)

    run = Run(Stage((fails,)))
    with pytest.raises(
        ModelFailed, match=r"failed at t=1 in .*fails .*: TwoArguments: 1 and 2"
    ) as dead:
        run.advance()
    assert isinstance(dead.value.__cause__, TwoArguments)
    for again in (run.advance, run.result):
        with pytest.raises(ModelFailed) as same:
            again()
        assert same.value is dead.value


@pytest.mark.parametrize("seed", [-1, 1.0, True, "1", None])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    """Anything else is refused before the world begins."""
    with pytest.raises(UsageError, match="a seed is a whole number of at least 0"):
        Run(Stage(()), seed)


def test_roles_are_checked() -> None:
    """An unknown role, and a role without a policy that is not optional, are refused."""
    with pytest.raises(UsageError, match="no role 'anne'; did you mean 'ann'"):
        Run(Stage(()), seats=["anne"])
    with pytest.raises(UsageError, match="role 'ann' needs a policy"):
        Run(Stage(()), seats=[])
    assert Run(Stage((), optional=True), seats=[]).advance() == []


def test_a_role_without_a_policy_is_not_asked() -> None:
    """The model must look at `world.seats` before it asks an optional role."""
    run = Run(Stage((asking("ann"),), optional=True), seats=[])
    with pytest.raises(UsageError, match="no policy plays 'ann'"):
        run.advance()


def test_a_result_needs_an_end() -> None:
    """Before the end there is none."""
    with pytest.raises(UsageError, match="still runs"):
        Run(Stage((asking("ann"),))).result()


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None, "high", np.float64("nan")])
def test_a_score_is_a_finite_number(score: Any) -> None:
    """A score that a record cannot hold is the model's fault."""
    run = Run(Scored(score))
    run.advance()
    with pytest.raises(ModelFailed, match="a score is a finite number"):
        run.result()


def test_metrics_become_plain_values() -> None:
    """Numpy scalars and tuples become JSON values; other objects are refused."""
    run = Run(Scored(np.float32(2), {"a": np.int64(3), "b": (1, 2)}))
    run.advance()
    result = run.result()
    assert (result.score, type(result.score)) == (2.0, float)
    assert result.metrics == {"a": 3, "b": [1, 2]}
    run = Run(Scored(1, {"a": object()}))
    run.advance()
    with pytest.raises(ModelFailed, match="value of type object cannot be written"):
        run.result()
