"""A redraw replaces what is not drawn yet, and leaves what has happened."""

from typing import Any

import pytest
from attrs import frozen
from support.futures import Cup, Forgetful, Guess, Rolls

from desim import Run, World
from desim.composition import Composite, part_seed
from desim.core.model import UNDECLARED, kept_facts
from desim.errors import ModelFailed, UsageError

BOTH = pytest.mark.parametrize("ahead", [False, True], ids=["lazy", "table"])


def rolls(model: Any, *futures: tuple[int, int], seed: int = 1, redrawn: Any = ()) -> list[int]:
    """Play and return the rolls; *redrawn* are redraws by hand, before the answers of a round."""
    run = Run(model, seed, futures=futures)
    by_hand = dict(redrawn)
    for number in range(1_000):
        if not run.advance():
            break
        if number in by_hand:
            run.redraw(by_hand[number])
        for decision in run.open:
            run.answer(decision, Guess(0))
    found: list[int] = run.result().metrics["rolls"]
    return found


@BOTH
def test_twins_have_one_past_and_two_futures(*, ahead: bool) -> None:
    """The decisions of round 3 are open: three rolls have been seen, and no more."""
    model = Rolls(ahead=ahead)
    true, one, other = rolls(model), rolls(model, (4, 1)), rolls(model, (4, 2))
    assert true[:3] == one[:3] == other[:3]
    for at in range(3, 6):
        assert len({true[at], one[at], other[at]}) == 3
    assert rolls(model, (4, 1)) == one


@BOTH
def test_a_future_may_begin_between_the_decisions_of_one_instant(*, ahead: bool) -> None:
    """Five decisions are the first of round 3; it is the same future as after four."""
    model = Rolls(ahead=ahead)
    assert rolls(model, (5, 1)) == rolls(model, (4, 1)) == rolls(model, redrawn={2: 1})
    assert rolls(model, (6, 1))[:4] == rolls(model)[:4]


@BOTH
def test_a_future_is_another_one_where_its_seed_is_known(*, ahead: bool) -> None:
    """Neither the episode's seed nor the same future again repeats any draw."""
    model = Rolls(ahead=ahead)
    true, same = rolls(model, seed=1), rolls(model, (0, 1), seed=1)
    assert same[0] == true[0]
    assert len({*true, *same}) == 11
    twice = rolls(model, (4, 1), (8, 1))
    assert twice[:5] == rolls(model, (4, 1))[:5]
    assert len({*twice, *rolls(model, (4, 1))}) == 7
    assert rolls(model, (4, 1), (4, 1)) != rolls(model, (4, 1))


def test_a_future_behind_the_end_is_never_drawn() -> None:
    """Nothing is drawn for nobody."""
    assert rolls(Rolls(), (12, 1)) == rolls(Rolls())


def test_a_table_of_a_model_that_declares_nothing_stays() -> None:
    """Draws that it makes when they are needed do not."""
    assert rolls(Forgetful(ahead=True), (4, 1)) == rolls(Forgetful(ahead=True))
    assert rolls(Forgetful(), (4, 1)) == rolls(Rolls(), (4, 1)) != rolls(Rolls())


def test_a_stream_begins_anew_in_place() -> None:
    """Its holder draws new numbers, and who claims its name again shares it."""
    world, other = World(7), World(7)
    held = world.stream("dice", 1)
    held.random()
    held.integers(9, dtype="uint32")  # half of a 64-bit draw is kept for the next one
    world.redraw(3)
    other.redraw(3)
    assert world.seed == other.seed == 7
    assert world.draw_seed == other.draw_seed
    assert world.stream("dice", 1) is held
    assert held.random(4).tolist() == other.stream("dice", 1).random(4).tolist()
    with pytest.raises(ModelFailed):
        world.stream("dice", 1)
    assert other.stream("new").random() != World(7).stream("new").random()


def test_parts_have_futures_of_their_own() -> None:
    """A part's future is that of the model alone with the part's seeds."""
    pair = Composite({"a": Rolls(ahead=True), "b": Rolls()})
    futures = [Run(pair, 1, futures=[(4, future)]) for future in (1, 2)]
    ends = []
    for run in (*futures, Run(pair, 1)):
        while run.advance():
            for decision in run.open:
                run.answer(decision, Guess(0))
        ends.append(run.result().metrics)
    for part in "ab":
        one, other, true = [end[f"{part}.rolls"] for end in ends]
        assert one[:2] == other[:2] == true[:2]
        assert not {*one[2:]} & {*other[2:]}
    alone = Run(pair.models["a"], part_seed(1, "a"))
    alone.advance()
    for decision in alone.open:
        alone.answer(decision, Guess(0))
    alone.advance()
    alone.redraw(part_seed(futures[0].world.draw_seed, "a"))
    while alone.open:
        for decision in alone.open:
            alone.answer(decision, Guess(0))
        alone.advance()
    assert alone.result().metrics["rolls"] == ends[0]["a.rolls"]


def test_a_part_that_begins_later_begins_in_the_future() -> None:
    """Its repetition is drawn after the redraw as well."""
    twice = Composite({"a": {"model": "support.futures:Rolls", "times": 2}})
    found = []
    for future in (None, 1, 2):
        run = Run(twice, 1, futures=() if future is None else [(10, future)])
        while run.advance():
            for decision in run.open:
                run.answer(decision, Guess(0))
        found.append(run.result().metrics["a.rolls"])
    assert len({roll for rolls in found for roll in rolls}) == 18


@frozen
class Keeps(Rolls):
    """One that keeps something."""

    kept = ("who cheats",)


def test_what_a_model_keeps_is_named_by_part() -> None:
    """A model that declares nothing counts as one that keeps something."""
    assert kept_facts(Rolls()) == ()
    assert kept_facts(Forgetful()) == (UNDECLARED,)
    parts = Composite({"a": Keeps(), "b": Rolls(), "c": Forgetful()})
    assert kept_facts(parts) == ("a: who cheats", f"c: {UNDECLARED}")


@frozen
class Fails(Rolls):
    """A model whose redraw fails."""

    def redraw(self, world: World, cup: Cup) -> None:
        """Fail."""
        raise ZeroDivisionError(len(cup.rolls))


def test_a_failing_redraw_is_the_failure_of_the_model() -> None:
    """Its part is named, and the run is dead."""
    run = Run(Composite({"a": Fails()}), 1, futures=[(2, 5)])
    run.advance()
    for decision in run.open:
        run.answer(decision, Guess(0))
    with pytest.raises(ModelFailed, match="in part 'a' at its t=1"):
        run.advance()
    with pytest.raises(ModelFailed):
        run.redraw(1)


@pytest.mark.parametrize("future", [-1, 1.0, True, "1", None, float("nan")])
def test_a_future_is_a_seed(future: Any) -> None:
    """Nothing has changed after a wrong one."""
    run = Run(Rolls(), 1)
    run.advance()
    with pytest.raises(UsageError, match="a seed is a whole number of at least 0"):
        run.redraw(future)
    with pytest.raises(UsageError, match="a seed is a whole number of at least 0"):
        run.world.redraw(future)
    assert run.world.draw_seed == 1
    with pytest.raises(UsageError, match="a seed is a whole number of at least 0"):
        Run(Rolls(), 1, futures=[(0, future)])


def test_futures_are_in_order() -> None:
    """The error says what is possible."""
    with pytest.raises(UsageError, match=r"future after 3 decisions was given; .* of at least 4"):
        Run(Rolls(), 1, futures=[(4, 1), (3, 1)])
    with pytest.raises(UsageError, match=r"future after -1 decisions was given; .* of at least 0"):
        Run(Rolls(), 1, futures=[(-1, 1)])
