"""A client that leaves: a project ends at once and for good."""

import pytest
from attrs import evolve
from support.edt_firms import changed_firm, played_linked, project, small_firm
from support.edt_histories import assignments, states
from support.edt_stepping import dice

from desim import Run
from models.edt import EnterpriseDigitalTwin


def entries(run: Run) -> list[object]:
    """The journal as plain values."""
    return [(e.time, e.text, e.amounts) for e in run.state.controlling.book.journal]


def test_a_lost_project_bills_nothing_more() -> None:
    """Two units of step 2 and 3 stay; the consultant loses step 4, as after a completion."""
    game = EnterpriseDigitalTwin(
        scenario=small_firm(project("P", 9.0), project("Q", 2.0, billing_rate=500.0))
    )
    run = played_linked(game, {3: lambda run: game.lose_project(run.state, "P")})
    billed = [(t, -a["revenue"] / 10**12) for t, text, a in entries(run) if text == "work billed"]
    assert billed == [(2, 1_000), (3, 1_000), (5, 500), (6, 500)]
    assert [t for t, text, _ in entries(run) if text == "bills paid"] == [4, 5, 7, 8]
    assert assignments(run.state) == [[None, 0, 0, None, 1, 1, None, None, None, None]]
    assert states(run.state) == ["rfcccccccc", "rrrrfccccc"]


@pytest.mark.parametrize("seed", range(40))
def test_a_project_is_lost_as_if_its_deadline_had_come(seed: int) -> None:
    """Random firms: the book is that of the firm whose project ends with that step."""
    draw = dice(seed)
    scenario = changed_firm(seed)
    at = draw.randrange(len(scenario.projects))
    start, stop = int(scenario.projects[at].start_time), int(scenario.stoptime)
    step = draw.randint(min(start + 1, stop), stop)
    sooner = [
        evolve(one, deadline=min(one.deadline, float(step)), follow_on_probability=0.0)
        if number == at
        else one
        for number, one in enumerate(scenario.projects)
    ]
    name = scenario.projects[at].name

    single = [
        evolve(one, follow_on_probability=0.0) if number == at else one
        for number, one in enumerate(scenario.projects)
    ]
    game = EnterpriseDigitalTwin(scenario=evolve(scenario, projects=single))
    under_way = states(played_linked(game, {}).state)[at][step - 1] != "c"
    lost = played_linked(
        game, {step: lambda run: game.lose_project(run.state, name)} if under_way else {}
    )
    ended = played_linked(evolve(game, scenario=evolve(scenario, projects=sooner)), {})
    assert entries(lost) == entries(ended)
    assert assignments(lost.state) == assignments(ended.state)
    assert states(lost.state) == states(ended.state)


def test_without_a_name_the_most_contracted_revenue_left_is_lost() -> None:
    """What is worked on counts what remains, what has not begun counts all of it."""
    game = EnterpriseDigitalTwin(
        scenario=small_firm(
            project("big", 6.0), project("late", 5.0, start_time=8.0), project("equal", 5.0)
        )
    )
    lost: list[str] = []

    def lose(run: Run) -> None:
        before = states_now(run)
        game.lose_project(run.state)
        lost.extend(name for name, phase in states_now(run).items() if phase != before[name])

    # Behind step 3 two units of the big one are delivered, and 4,000 are left.
    played_linked(game, {3: lambda run: [lose(run) for _ in range(3)]})
    assert lost == ["late", "equal", "big"]


def states_now(run: Run) -> dict[str, str]:
    """The phases of all projects by name."""
    return {one.name: one.phase.label for one in run.state.engagements}


def test_a_project_that_is_not_there_cannot_be_lost() -> None:
    """One sentence says what there is; nothing changes."""
    game = EnterpriseDigitalTwin(scenario=small_firm(project("P", 1.0), project("Q", 1.0)))
    said: list[str] = []

    def lose(run: Run) -> None:
        for name in ("R", "P", ""):
            with pytest.raises(ValueError, match="project") as fault:
                game.lose_project(run.state, name)
            said.append(str(fault.value))

    # Both are done behind step 4: the consultant loses the step behind the first.
    run = played_linked(game, {6: lose})
    assert said == [
        "no project is named 'R'; Possible: P, Q",
        "project 'P' has ended",
        "no project is under contract; there is none to lose",
    ]
    assert entries(run) == entries(played_linked(game, {}))
