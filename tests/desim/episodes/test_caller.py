"""An episode that is driven from outside: the order of the answers, and faults of other roles."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.failing_world import BadCarter, Carter, Grind, Mill, Rest

from desim import Episode, Policy, replay
from desim.episodes.driver import CallerSeat, CallerSession
from desim.errors import BadRecord, LimitReached, PolicyFailed, UsageError, WrongAction
from models.beer_game import BeerGame, Order

GAME = BeerGame.preset("poisson", horizon=3)


def mill(*seats: str, **options: Any) -> CallerSession:
    """Return a mill of two days that waits for its first decision."""
    session = CallerSession(Mill(days=2), seats=seats, **options)
    session.advance()
    return session


def roles_on_record(file: Path) -> list[str]:
    """Return the roles of the decisions on record."""
    return [step.role for step in Episode.read(file, whole=False).steps]


def test_policies_before_the_caller_have_decided_on_record_when_it_has_to(tmp_path: Path) -> None:
    """So every answer of the caller is on record as soon as it is taken."""
    file = tmp_path / "a.jsonl"
    with mill("miller", others={"carter": Carter()}, record=file) as session:
        assert roles_on_record(file) == ["carter"]
        session.answer(session.open[0], Grind(2))
        assert roles_on_record(file) == ["carter", "miller"]


def test_an_answer_out_of_turn_is_recorded_in_turn(tmp_path: Path) -> None:
    """A policy between two seats is asked when the first one has answered."""
    file = tmp_path / "a.jsonl"
    seats, others = ("retailer", "distributor"), {"wholesaler": "typical", "factory": "typical"}
    with CallerSession(GAME, 1, seats=seats, others=others, record=file) as session:
        first, second = session.advance()
        session.answer(second, Order(2))
        assert session.advance() == [first]
        assert roles_on_record(file) == []
        session.answer(first, {"do": "order", "quantity": 3})
        session.advance()
        assert roles_on_record(file) == ["retailer", "wholesaler", "distributor", "factory"]
        while session.open:
            session.answer(session.open[0], Order(1))
            session.advance()
    assert session.episode is not None
    assert replay(file).result == session.episode.result


@pytest.mark.parametrize("how", ["raise", "wrong", "exit"])
def test_every_fault_of_another_policy_is_its_failure(how: str) -> None:
    """The policy is asked again by the next call, and the caller's answers are kept."""
    with mill("miller", others={"carter": BadCarter(how)}) as session:
        session.answer(session.open[0], Grind(2))
        with pytest.raises(PolicyFailed, match="carter"):
            session.advance()
        session.answer(session.open[0], Grind(3))
        session.advance()
        assert session.episode is not None
        assert session.episode.result is not None
        assert session.episode.result.score == 5


def test_an_error_of_desim_in_another_policy_is_its_failure() -> None:
    """Such as a budget that is used up; it is no fault of the model."""

    def carter(_: Any) -> Any:
        raise LimitReached("no calls are left")

    with pytest.raises(PolicyFailed, match="no calls are left"):
        mill("miller", others={"carter": carter})


def test_a_policy_whose_notes_are_wrong_has_not_decided(tmp_path: Path) -> None:
    """Its decision stays open, so that the record has no gap."""

    class Noting(Policy):
        notes: Any = 3

        def decide(self, _: Any) -> Rest:
            return Rest()

    carter, file = Noting(), tmp_path / "a.jsonl"
    session = CallerSession(Mill(days=2), seats=["miller"], others={"carter": carter}, record=file)
    with session:
        with pytest.raises(PolicyFailed, match="carter"):
            session.advance()
        carter.notes = {"tokens": 1}
        (decision,) = session.advance()
        session.answer(decision, Grind(1))
        assert roles_on_record(file) == ["carter", "miller"]


def test_awaitables_of_one_instant_are_awaited_together() -> None:
    """Of policies before and after the caller; each is asked once."""
    asked: list[str] = []
    together = asyncio.Barrier(3)

    def waiting(role: str) -> Any:
        async def decide(_: Any) -> Order:
            asked.append(role)
            async with asyncio.timeout(30):
                await together.wait()
            return Order(4)

        return decide

    async def played() -> None:
        others = {role: waiting(role) for role in ("retailer", "distributor", "factory")}
        with CallerSession(GAME, 1, seats=["wholesaler"], others=others) as session:
            while decisions := await session.advance_async():
                session.answer(decisions[0], Order(4))
            assert session.done

    asyncio.run(played())
    assert len(asked) == 9


def test_an_action_on_record_that_the_role_has_not_is_named(tmp_path: Path) -> None:
    """With the number of the decision."""
    file = tmp_path / "a.jsonl"
    with mill("miller", record=file) as session:
        session.answer(session.open[0], Grind(2))
    file.write_text(file.read_text().replace('"sacks":2', '"sacks":"two"'))
    past = Episode.read(file, whole=False)
    with (
        CallerSession(Mill(days=2), seats=["miller"], record=file, past=past) as session,
        pytest.raises(BadRecord, match=r"decision 1: 'miller' answered at t=0: .*sacks"),
    ):
        session.advance()


def test_a_wrong_answer_of_the_caller_is_refused_and_a_seat_has_no_policy() -> None:
    """Neither changes anything."""
    with mill("miller") as session:
        with pytest.raises(WrongAction):
            session.answer(session.open[0], {"do": "fly"})
        assert session.answered == 0
    with pytest.raises(UsageError, match="the caller"):
        CallerSeat().decide(None)
