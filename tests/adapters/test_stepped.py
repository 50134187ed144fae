"""The session under all adapters, and what it plays."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.adapters import CASES, Case, played
from support.agents import answered
from support.failing_world import BadCarter, Grind, Mill
from support.recorded import played_lines

import desim
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.errors import PolicyFailed, UsageError, WrongAction
from models.beer_game import Order

ALL = ("retailer", "wholesaler", "distributor", "factory")


def beer(**options: Any) -> Setup:
    """Return the retailer of a short Beer Game."""
    return Setup.of(
        "beer_game/poisson", **{"params": {"horizon": 6}, "seats": "retailer", **options}
    )


def finished(session: SteppedSession, quantity: int = 4) -> SteppedSession:
    """Order the same quantity everywhere until the episode is over."""
    while session.open and not session.done:
        for decision in list(session.open):
            session.answer(decision, {"do": "order", "quantity": quantity})
        session.advance()
    return session


# -- rewards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rewards_add_up_to_the_change_of_the_score(case: Case) -> None:
    """From the start of the world to its end."""
    direct = played(case, 3)
    left = {seat: iter(each) for seat, each in direct.answers.items()}
    with case.setup().begin(3) as session:
        sums = dict.fromkeys(case.seats, 0.0)
        while session.open:
            for decision in list(session.open):
                session.answer(decision, next(left[decision.role]))
            session.advance()
            for seat, reward in session.rewards().items():
                sums[seat] += reward
        assert session.run.score() == direct.score
    opening = desim.Run(case.setup().model, 3, {*case.seats, *case.setup().others}).score()
    assert list(sums.values()) == pytest.approx([direct.score - opening] * len(sums))


def test_a_metric_can_be_the_reward_and_a_minus_turns_its_sign() -> None:
    """By seat, where the seats have different aims."""
    rewards = {"retailer": "-cost_retailer", "factory": "-cost_factory"}
    with beer(seats=("retailer", "factory"), reward=rewards).begin(1) as session:
        total = dict.fromkeys(rewards, 0.0)
        while session.open:
            for decision in list(session.open):
                session.answer(decision, Order(3))
            session.advance()
            for seat, reward in session.rewards().items():
                total[seat] += reward
        assert session.result is not None
        costs = session.result.metrics
    assert total == {
        "retailer": pytest.approx(-costs["cost_retailer"]),
        "factory": pytest.approx(-costs["cost_factory"]),
    }


@pytest.mark.parametrize(
    ("reward", "message"),
    [("cost_retailor", "did you mean 'cost_retailer'"), ({"brewer": "score"}, "brewer")],
)
def test_an_unknown_reward_is_refused(reward: Any, message: str) -> None:
    """What was given, and what is possible."""
    with pytest.raises(UsageError, match=message):
        beer(reward=reward).begin()


# -- answers ---------------------------------------------------------------------------------------


def test_a_wrong_answer_changes_nothing() -> None:
    """The decision stays open, and the next answer counts."""
    with beer().begin(2) as session, beer().begin(2) as other:
        (decision,) = session.open
        with pytest.raises(WrongAction, match="expected Order"):
            session.answer(decision, {"do": "order", "quantity": "many"})
        assert (session.open, session.answered) == ([decision], 0)
        assert finished(session).result == finished(other).result


def test_several_seats_answer_in_any_order() -> None:
    """The record and the ledgers do not depend on it; a wrong one of them is refused at once."""
    results = []
    for order in (list, lambda each: list(reversed(each))):
        with beer(seats=ALL).begin(2) as session:
            while session.open:
                for decision in order(session.open):
                    with pytest.raises(WrongAction):
                        session.answer(decision, {"do": "order", "quantity": None})
                    session.answer(decision, {"do": "order", "quantity": len(decision.role)})
                session.advance()
            results.append(session.result)
    assert results[0] == results[1]


def test_an_episode_is_truncated_after_its_decisions() -> None:
    """The open decision shows what the last answer led to, and takes no answer."""
    with beer(max_decisions=3).begin() as session:
        finished(session)
        assert (session.truncated, session.done, session.result) == (True, True, None)
        assert session.open[0].observation.week == 4
        with pytest.raises(UsageError, match="truncated after 3 decisions"):
            session.answer(session.open[0], Order(1))


# -- records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers", [0, 1, 7, 16])
def test_a_cut_record_goes_on(tmp_path: Path, answers: int) -> None:
    """Also one that was cut between the answers of one instant."""
    whole, file = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    setup = beer(seats=("retailer", "factory"), others="order_up_to")
    with setup.begin(4, record=whole) as session:
        expected = finished(session).result
    lines = whole.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: 1 + answers]))
    past = desim.Episode.read(file, whole=False)
    with setup.begin(4, record=file, past=past) as session:
        assert finished(session).result == expected
    assert played_lines(file) == played_lines(whole)
    assert desim.Episode.read(file).resumed == (answers,)


# -- policies of other roles -----------------------------------------------------------------------


async def _waiting(_: Any) -> Order:
    await asyncio.sleep(0)
    return Order(4)


def test_coroutines_of_others_are_awaited_with_and_without_an_event_loop() -> None:
    """The same episode."""

    async def stepped(setup: Setup) -> Any:
        session = SteppedSession(
            setup.model, 2, seats=setup.seats, others=setup.others, rewards=setup.rewards
        )
        with session:
            while decisions := await session.advance_async():
                session.answer(decisions[0], Order(4))
            return session.result

    waits = beer(others={"wholesaler": _waiting})
    at_once = beer(others={"wholesaler": "constant,quantity=4"})
    with waits.begin(2) as session:
        result = finished(session).result
    with at_once.begin(2) as session:
        assert finished(session).result == result
    assert asyncio.run(stepped(waits)) == result


def test_a_policy_that_fails_is_asked_again() -> None:
    """The caller's answers are kept."""
    setup = Setup.of(Mill(days=3), seats="miller", others={"carter": BadCarter("raise")})
    with setup.begin() as session:
        session.answer(session.open[0], Grind(2))
        with pytest.raises(PolicyFailed, match="carter"):
            session.advance()
        session.advance()
        session.answer(session.open[0], Grind(3))
        session.advance()
        session.answer(session.open[0], Grind(1))
        session.advance()
        assert session.result is not None
        assert session.result.score == 6


# -- setups ----------------------------------------------------------------------------------------


def test_every_role_without_a_policy_gets_one() -> None:
    """Optional roles are left to the model."""
    assert beer().others == {}
    group = Setup.of("enterprise/small", seats="plant.retailer")
    assert set(group.others) == {"controller", "treasury.cfo", "startup.founder"}
    named = beer(others={"factory": "typical"})
    assert named.others == {"factory": "typical"}
    assert set(beer(others="typical").others) == {"wholesaler", "distributor", "factory"}


WRONG: tuple[tuple[str, Callable[[], Setup]], ...] = (
    ("no role 'retailor'", lambda: beer(seats="retailor")),
    ("'retailer' is a seat", lambda: beer(others={"retailer": "typical"})),
    ("whole number from 1", lambda: beer(max_decisions=0)),
    ("no preset 'poison'", lambda: Setup.of("beer_game", "poison")),
    ("no parameter 'horizont'", lambda: beer(params={"horizont": 3})),
    ("belongs to a model's name; a built model", lambda: Setup.of(Mill(), "small")),
    ("no policy 'ordr_up_to'", lambda: beer(others="ordr_up_to").begin()),
)


@pytest.mark.parametrize(("message", "make"), WRONG)
def test_wrong_arguments_are_refused(message: str, make: Callable[[], Any]) -> None:
    """What was given, and what is possible."""
    with pytest.raises(UsageError, match=message):
        make()


def test_a_record_is_written_by_one_session_at_a_time(tmp_path: Path) -> None:
    """Also one that goes on; a session that cannot begin leaves nothing locked."""
    file = tmp_path / "a.jsonl"
    with beer().begin(record=file) as session:
        answered(session, Order(1))
        past = desim.Episode.read(file, whole=False)
        with pytest.raises(UsageError, match="is being played"):
            beer().begin(record=file, past=past)
    with pytest.raises(UsageError, match="exists"):
        beer().begin(record=file)
    with beer().begin(record=file, past=past) as session:
        assert session.answered == 1
