"""Redrawn futures: the order of the items that nobody has seen."""

from desim import Run
from models.reasoning import ReasoningTasks, Reply
from models.reasoning.desk import Desk


def order(future: int | None, **changes: object) -> list[str]:
    """Return the ids of all questions of an episode whose fifth question is open at the redraw."""
    run: Run[Desk] = Run(ReasoningTasks.preset("small", **{"order": "shuffled", **changes}), 1)
    ids = []
    while run.advance():
        ids.append(run.open[0].observation.id)
        if len(ids) == 5 and future is not None:
            run.redraw(future)
        run.answer(run.open[0], Reply("1"))
    assert [item.id for item in run.state.items] == ids
    return ids


def test_seen_items_stay_in_their_places() -> None:
    """The others come in another order."""
    true, one, other = order(None), order(1), order(2)
    assert true[:5] == one[:5] == other[:5]
    assert len({tuple(true), tuple(one), tuple(other)}) == 3
    assert sorted(true) == sorted(one) == sorted(other)
    assert order(1) == one


def test_seen_items_of_a_window_are_those_that_were_put() -> None:
    """A window of four arrives at once, and its questions come one by one."""
    assert order(None, window=4)[:5] == order(1, window=4)[:5]
    assert order(None, window=4)[5:] != order(1, window=4)[5:]


def test_a_given_order_stays_and_is_named() -> None:
    """So do the answers, which a look-ahead with feedback could learn."""
    assert order(None, order="given") == order(1, order="given")
    assert len(ReasoningTasks().kept) == 2
    assert len(ReasoningTasks(order="shuffled").kept) == 1
