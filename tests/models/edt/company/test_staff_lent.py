"""Consultants lent to other companies of a group, and borrowed from them."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from support.edt_firms import answered, changed_firm, played_linked, project, small_firm
from support.edt_stepping import dice, random_scenario

from desim import Run, play
from models.edt import Consultant, EnterpriseDigitalTwin, Hire, Release, Scenario, Wait
from models.edt.company.firm import Firm
from models.edt.series import assignments, staffing, states

#: Two consultants; one project with two seats from step 3 on. Without the group both join in step 4
#: and deliver two units a step.
FIRM = small_firm(project("P", 8.0, consultants=2, start_time=3.0), staff=2)
GAME = EnterpriseDigitalTwin(scenario=FIRM)


def seen(run: Run) -> tuple[Any, ...]:
    """All that an episode of a firm leaves behind but the ledger of staff."""
    firm: Firm = run.state
    result = run.result()
    journal = [(e.time, e.text, e.amounts) for e in firm.controlling.book.journal]
    return result.score, result.metrics, journal, states(firm), staffing(firm), assignments(firm)


def lend(count: int) -> Callable[[Run], None]:
    """Lend to the plant."""
    return lambda run: run.model.lend_staff(run.state, count, "plant")


def take_back(count: int) -> Callable[[Run], None]:
    """Take back from the plant."""
    return lambda run: run.model.take_back_staff(run.state, count, "plant")


def borrow(count: int) -> Callable[[Run], None]:
    """Borrow from the plant."""
    return lambda run: run.model.borrow_staff(run.state, count, "plant")


def give_back(count: int) -> Callable[[Run], None]:
    """Return to the plant."""
    return lambda run: run.model.return_staff(run.state, count, "plant")


# -- lending ---------------------------------------------------------------------------------------


def test_lent_consultants_take_no_seat_and_stay_on_the_payroll() -> None:
    """One of two is away from step 2 to 5, and joins in step 6; the work is done in step 8."""
    run = played_linked(GAME, {1: lend(1), 5: take_back(1)})
    assert assignments(run.state) == [
        [None, None, None, 0, 0, 0, 0, 0, None, None],
        [None, None, None, None, None, 0, 0, 0, None, None],
    ]
    costs = [e for e in run.state.controlling.book.journal if e.text == "costs of the step"]
    assert {e.amounts["salaries"] for e in costs} == {200 * 10**12}
    assert run.result().metrics["consultants"] == 2
    assert run.model.staff_lent(run.state) == {"plant": 0}


def test_only_idle_consultants_can_be_lent() -> None:
    """In step 4 both are on the project; a refused call changes nothing."""
    refused: list[str] = []

    def ask_for_one(run: Run) -> None:
        before = [(e.lent_to, e in run.state.idle) for e in run.state.employees]
        with pytest.raises(ValueError, match="are idle") as fault:
            lend(3 if run.world.now == 1 else 1)(run)
        refused.append(str(fault.value))
        assert [(e.lent_to, e in run.state.idle) for e in run.state.employees] == before

    run = played_linked(GAME, {1: ask_for_one, 4: ask_for_one})
    assert refused == [
        "3 consultants were to be lent to plant; 2 are idle",
        "1 consultants were to be lent to plant; 0 are idle",
    ]
    assert seen(run) == seen(played_linked(GAME, {}))
    assert len(run.state.ledgers) == 1


@pytest.mark.parametrize("count", [0, -1, 1.0, True, "2", None])
@pytest.mark.parametrize("call", ["lend_staff", "take_back_staff", "borrow_staff", "return_staff"])
def test_staff_is_counted_in_whole_consultants(call: str, count: Any) -> None:
    """Nothing is moved."""
    run = Run(GAME, seats=[])
    with pytest.raises(ValueError, match="they are a whole number above 0"):
        getattr(GAME, call)(run.state, count, "plant")
    assert GAME.staff_lent(run.state) == {}


@pytest.mark.parametrize("partner", ["", None, 3])
@pytest.mark.parametrize("call", ["lend_staff", "take_back_staff", "borrow_staff", "return_staff"])
def test_a_partner_has_a_name(call: str, partner: Any) -> None:
    """An empty name is that of the firm's own consultants."""
    run = Run(GAME, seats=[])
    with pytest.raises(ValueError, match="it is the name of another company"):
        getattr(GAME, call)(run.state, 1, partner)
    assert GAME.staff_lent(run.state) == {}


def test_no_more_come_back_than_are_away() -> None:
    """By partner, in both directions."""

    def check(run: Run) -> None:
        with pytest.raises(ValueError, match="2 consultants were to come back from plant; 1 are"):
            take_back(2)(run)
        with pytest.raises(ValueError, match="1 consultants were to come back from shop; 0 are"):
            GAME.take_back_staff(run.state, 1, "shop")
        with pytest.raises(ValueError, match="1 consultants were to go back to plant; 0 are borr"):
            give_back(1)(run)

    run = played_linked(GAME, {1: lend(1), 2: check})
    assert GAME.staff_lent(run.state) == {"plant": 1}


def test_consultants_lent_and_taken_back_in_one_instant_were_never_away() -> None:
    """Random firms, at every step."""
    draw = dice(5)
    moved = 0
    for _ in range(100):
        game = EnterpriseDigitalTwin(scenario=random_scenario(draw))

        def there_and_back(run: Run) -> None:
            nonlocal moved
            if idle := len(run.state.idle):
                lend(idle)(run)
                take_back(idle)(run)
                moved += 1

        run = played_linked(game, dict.fromkeys(range(40), there_and_back))
        assert seen(run) == seen(played_linked(game, {}))
    assert moved > 500


def test_who_comes_back_waits_at_their_place_on_the_list() -> None:
    """The last goes to the plant, the one before to the shop, and the last comes back first."""
    scenario = small_firm(project("P", 8.0, consultants=2, start_time=5.0), staff=3)
    game = EnterpriseDigitalTwin(scenario=scenario)
    run = played_linked(
        game,
        {
            1: lambda run: (lend(1)(run), game.lend_staff(run.state, 1, "shop")),
            2: take_back(1),
            3: lambda run: game.take_back_staff(run.state, 1, "shop"),
        },
    )
    assert [0 in line for line in assignments(run.state)] == [True, True, False]


def test_a_lent_consultant_cannot_be_released() -> None:
    """The manager's figures count who is here."""
    run = Run(EnterpriseDigitalTwin.preset("interactive", scenario=FIRM))
    (asked,) = run.advance()
    lend(1)(run)
    run.answer(asked, Release(2))
    (asked,) = run.advance()
    desk = asked.observation
    assert desk.refused == "2 consultants are to go; 1 are on the payroll and not lent"
    assert (desk.hired, desk.idle, desk.free) == (1, 1, 0)
    run.answer(asked, Release(1))
    (asked,) = run.advance()
    take_back(1)(run)
    run.answer(asked, Hire(1))
    (asked,) = run.advance()
    assert (asked.observation.hired, asked.observation.refused) == (2, "")


# -- borrowing -------------------------------------------------------------------------------------


def with_guests(given: Scenario, count: int) -> Scenario:
    """The scenario with consultants who cost nothing at the end of its list."""
    guests = [Consultant(name=f"G{n}", salary=0.0, workplace_cost=0.0) for n in range(count)]
    return evolve(
        given,
        consultants=[*given.consultants, *guests],
        order=[*given.order, ("consultant", count)],
    )


def test_borrowed_consultants_are_as_free_ones_at_the_end_of_the_list() -> None:
    """Random firms: whoever is borrowed before the first step works as published agents do."""
    draw = dice(3)
    worked = 0
    for _ in range(150):
        game = EnterpriseDigitalTwin(scenario=random_scenario(draw))
        count = draw.randint(1, 4)
        run = played_linked(game, {0: borrow(count)})
        longer = evolve(game, scenario=with_guests(game.loaded_scenario, count))
        assert seen(run) == seen(played_linked(longer, {}))
        worked += any(
            any(at is not None for at in line) for line in assignments(run.state)[-count:]
        )
    assert worked > 30


def test_a_borrowed_consultant_delivers_and_goes_back() -> None:
    """One own consultant and one guest on a project of two seats; the seat is free after step 6."""
    game = EnterpriseDigitalTwin(scenario=small_firm(project("P", 20.0, consultants=2)))
    run = played_linked(game, {2: borrow(1), 6: give_back(1)})
    # The guest joins in step 3, behind the project's turn, so that step 4 is the first it reports.
    assert staffing(run.state) == [[0, 1, 2, 2, 2, 1, 1, 1, 1, 1]]
    billed = [
        -e.amounts["revenue"] for e in run.state.controlling.book.journal if "revenue" in e.amounts
    ]
    assert [amount // 10**15 for amount in billed] == [1, 1, 2, 2, 2, 1, 1, 1, 1]
    assert game.staff_lent(run.state) == {"plant": 0}
    assert run.result().metrics["consultants"] == 1
    assert game.series(run.state)["staff"] == [1.0] * 3 + [2.0] * 4 + [1.0] * 3


def test_the_manager_neither_hires_nor_releases_a_borrowed_consultant() -> None:
    """Before, during and after the loan."""
    run = Run(EnterpriseDigitalTwin.preset("interactive", scenario=FIRM, quarter=1))
    (asked,) = run.advance()
    desks = []
    for act in (borrow(1), give_back(1), None):
        if act:
            act(run)
        for command in (Release(3), Hire(1), Wait()):
            run.answer(asked, command)
            (asked,) = run.advance()
            desks.append(
                (asked.observation.hired, asked.observation.free, asked.observation.refused)
            )
    refusals = [
        (2, 0, "3 consultants are to go; 2 are on the payroll"),
        (2, 0, "1 consultants are wanted; 0 can be hired"),
        (2, 0, ""),
    ]
    assert desks == refusals * 3


def test_consultants_borrowed_and_returned_in_one_instant_were_never_here() -> None:
    """And whoever is borrowed again in that instant works once."""
    there = played_linked(GAME, {1: lambda run: (borrow(2)(run), give_back(2)(run))})
    assert seen(there)[:3] == seen(played_linked(GAME, {}))[:3]
    assert [line for line in assignments(there.state)[2:] if set(line) != {None}] == []
    twice = played_linked(
        GAME, {1: lambda run: (borrow(2)(run), give_back(2)(run), borrow(2)(run))}
    )
    assert seen(twice) == seen(played_linked(GAME, {1: borrow(2)}))


def test_a_firm_that_is_not_open_borrows_nobody() -> None:
    """In the published game the decision opens it."""
    run = Run(GAME)
    run.advance()
    with pytest.raises(ValueError, match="the firm opens with its manager's decision"):
        borrow(1)(run)
    with pytest.raises(ValueError, match="0 are idle"):
        lend(1)(run)


def test_a_firm_has_at_most_as_many_consultants_as_a_scenario() -> None:
    """One sentence says how many more can come."""
    run = Run(GAME, seats=[])
    answered(run)
    with pytest.raises(ValueError, match="from plant; with 2 here, 998 can be"):
        borrow(999)(run)


# -- both ------------------------------------------------------------------------------------------


def test_what_leaves_one_firm_enters_another() -> None:
    """The ledgers of staff cancel, and enter the digests of both."""
    north, south = (Run(GAME, seats=[]) for _ in range(2))

    def act(tick: int) -> None:
        if tick == 1:
            GAME.lend_staff(north.state, 2, "south")
            GAME.borrow_staff(south.state, 2, "north")
        if tick == 5:
            GAME.take_back_staff(north.state, 1, "south")
            GAME.return_staff(south.state, 1, "north")

    answered_both(north, south, act)
    assert GAME.staff_lent(north.state) == {"south": 1}
    assert GAME.staff_lent(south.state) == {"north": -1}
    for run in (north, south):
        assert [ledger.name for ledger in run.state.ledgers] == ["", "staff"]


def answered_both(north: Run, south: Run, act: Callable[[int], None]) -> None:
    """Play two runs tick by tick; act behind every tick."""
    for tick in range(GAME.loaded_scenario.steps + 1):
        for run in (north, south):
            while not run.world.ended and run.world.peek() <= tick:
                run.world.step()
        act(tick)


def chaos(draw: random.Random) -> Callable[[Run], None]:
    """Do anything that is possible, and much that is not."""

    def act(run: Run) -> None:
        for _ in range(draw.randint(0, 3)):
            call, count = (
                draw.choice([lend, take_back, borrow, give_back, None]),
                draw.randint(1, 3),
            )
            try:
                if call:
                    call(count)(run)
                else:
                    run.model.lose_project(run.state)
            except ValueError:
                continue

    return act


@pytest.mark.parametrize("seed", range(60))
def test_whatever_a_group_does_nothing_is_created(seed: int) -> None:
    """Effort is at most capacity, seats are enough, and the ledgers agree with the consultants."""
    draw = dice(seed)
    scenario = changed_firm(seed) if seed % 2 else random_scenario(draw)
    game = EnterpriseDigitalTwin(
        scenario=scenario, release=draw.choice(["a_step_later", "at_once"])
    )
    run = played_linked(game, dict.fromkeys(range(96), chaos(draw)))
    firm: Firm = run.state
    effort, capacity = firm.controlling.effort(), firm.controlling.capacity()
    assert all(0 <= e <= c for e, c in zip(effort, capacity, strict=True))
    for each in firm.engagements:
        assert len(each.staff) <= each.seats
    lent = sum(who.lent_to == "plant" for who in firm.employees)
    borrowed = sum(who.hired for who in firm.employees if who.borrowed_from)
    assert game.staff_lent(firm).get("plant", 0) == lent - borrowed
    assert sum(firm.staff.held.values()) == 0
    costs = sum(
        e.amounts["salaries"] for e in firm.controlling.book.journal if "salaries" in e.amounts
    )
    plain = play(game, {}, series=True)
    assert costs / 10**12 == pytest.approx(salaries(game), rel=1e-12)
    assert plain.result.ended == run.result().ended


def salaries(game: EnterpriseDigitalTwin) -> float:
    """The salaries of an episode without a group."""
    book = answered(Run(game, seats=[])).state.controlling.book
    total: float = book.money(book.balance("salaries"))
    return total
