"""The interactive game: when the manager is asked, what each command does, what is refused."""

from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.edt_histories import assignments, series, states
from support.edt_stepping import dice

from desim import Episode, Policy, Run, play, replay
from models.edt import EnterpriseDigitalTwin
from models.edt.actions import Accept, Command, Decline, Hire, Release, SetRisk, Staff, Wait
from models.edt.desk import Dashboard
from models.edt.firm import Firm

GAME = EnterpriseDigitalTwin.preset("interactive")
ALL = [Accept(number) for number in range(10)]


class ManualRun:
    """A run with its open question, for tests that act by hand."""

    def __init__(self, game: EnterpriseDigitalTwin = GAME) -> None:
        self.run = Run(game)
        self.firm: Firm = self.run.state
        self.decision = self.run.advance()[0]

    @property
    def seen(self) -> Dashboard:
        """What the manager sees now."""
        desk: Dashboard = self.decision.observation
        return desk

    def do(self, *commands: Command) -> Dashboard:
        """Give commands; return what is seen after the last."""
        for command in commands:
            self.run.answer(self.decision, command)
            handed = self.run.advance()
            if handed:
                self.decision = handed[0]
        return self.seen

    def wait_until(self, step: int) -> Dashboard:
        """Let time pass up to the first question at or after a step."""
        while self.seen.step < step:
            self.do(Wait())
        return self.seen

    def finish(self) -> Any:
        """Wait to the end; return the result."""
        while not self.run.world.ended:
            self.do(Wait())
        return self.run.result()


def happened(seen: Dashboard) -> list[tuple[str, str]]:
    """What and to which project."""
    return [(e.what, e.project) for e in seen.events]


def test_the_manager_is_asked_at_every_event_and_at_quarters() -> None:
    """Ready, completed, extended, deadline; events of one step come together."""
    manual = ManualRun()
    manual.do(*ALL)
    kinds, steps = set(), []
    while not manual.run.world.ended:
        steps.append(manual.seen.step)
        kinds |= {what for what, _ in happened(manual.seen)}
        manual.do(Wait())
    assert kinds == {"opened", "ready", "completed", "extended", "deadline", "quarter"}
    assert steps == sorted(set(steps))
    quiet = ManualRun(EnterpriseDigitalTwin.preset("interactive", quarter=10))
    quiet.do(*[Decline(number) for number in range(10)])
    asked = []
    while not quiet.run.world.ended:
        asked.append((quiet.seen.step, happened(quiet.seen)))
        quiet.do(Wait())
    assert asked[1:] == [(step, [("quarter", "")]) for step in range(10, 96, 10)]


def test_accepting_everything_at_once_is_the_template_as_given_in_the_order_of_decisions() -> None:
    """The interactive rules are the published ones, with questions in between."""
    manual = ManualRun()
    manual.do(*ALL)
    while not manual.run.world.ended:
        offered = [p.index for p in manual.seen.projects if not p.accepted and not p.over]
        manual.do(*map(Accept, offered), Wait())
    # As in the published order, controlling behind the projects: 5,598,500 is booked late.
    from attrs import evolve

    order = (("consultant", 12), ("project", 10), ("controlling", 1))
    plain = play(EnterpriseDigitalTwin(scenario=evolve(GAME.loaded_scenario, order=order)), {})
    assert manual.run.result().ledger_digest == plain.ledger_digest
    assert manual.run.result().metrics == plain.metrics


def test_an_accepted_project_is_worked_on_from_the_next_step() -> None:
    """Also when it has been ready for some time."""
    manual = ManualRun()
    assert happened(manual.do(Wait())) == [("ready", "Project 1"), ("ready", "Project 5")]
    manual.wait_until(6)
    assert manual.seen.projects[0].state == "ready"
    manual.do(Accept(0))
    now = manual.seen.step
    manual.do(Wait())
    assert manual.seen.projects[0].staff == 2
    line = assignments(manual.firm)
    assert [who[now - 1] for who in line][:3] == [None] * 3
    assert [who[now] for who in line][:3] == [0, 0, None]


def test_a_declined_project_is_gone_and_nothing_follows_it() -> None:
    """Even at R 1; its demand ends."""
    manual = ManualRun()
    manual.do(SetRisk(1.0), *[Decline(n) for n in range(10)])
    manual.finish()
    assert len(manual.firm.engagements) == 10
    assert states(manual.firm) == ["c" * 96] * 10
    late = ManualRun()
    late.do(Wait())
    late.do(Decline(0), *[Decline(n) for n in range(1, 10)])
    late.finish()
    assert series(late.firm)["consultant_demand"] == [3.0] + [0.0] * 95


def test_seats_taken_away_are_left_at_once_and_cost_a_step() -> None:
    """Who leaves is free for other work two steps later; seats given back are filled."""
    manual = ManualRun()
    manual.do(Accept(0), Accept(1), Wait())
    manual.wait_until(12)
    now = manual.seen.step
    assert [manual.seen.projects[n].staff for n in (0, 1)] == [2, 3]
    seen = manual.do(Staff(0, 0))
    assert seen.projects[0].staff == 0
    assert seen.projects[0].state == "fully_staffed"
    assert seen.idle == 9
    assert manual.do(Staff(0, 1)).projects[0].state == "started"
    manual.wait_until(now + 2)
    assert manual.seen.projects[0].staff == 1
    effort = series(manual.firm)["effort"]
    assert effort[now - 1 : now + 1] == [5.0, 4.0]


def test_released_consultants_cost_nothing_and_hired_ones_begin_next_step() -> None:
    """Idle ones go first, and the last on the list before the others."""
    manual = ManualRun()
    manual.do(Accept(0), Wait())
    manual.wait_until(8)
    now = manual.seen.step
    busy = [e for e in manual.firm.employees if e.project]
    seen = manual.do(Release(10))
    assert (seen.hired, seen.idle, seen.free) == (2, 0, 10)
    assert [e for e in manual.firm.employees if e.hired] == busy
    manual.do(Hire(1), Wait())
    expenses = series(manual.firm)["expenses"]
    assert expenses[now - 1 : now + 1] == [116_000.0, 44_000.0]
    manual.do(Accept(1), Wait())
    assert len(manual.firm.engagements[1].staff) <= 1
    manual.finish()
    assert {e.hired for e in manual.firm.employees[3:]} == {False}


def test_the_risk_level_counts_from_now_on() -> None:
    """Closed gates stay closed until it is raised."""
    manual = ManualRun()
    manual.do(SetRisk(0.0), *ALL)
    manual.wait_until(40)
    assert len(manual.seen.projects) == 10
    manual.do(SetRisk(1.0))
    assert manual.seen.revenue_risk == 1.0
    manual.finish()
    assert 10 < len(manual.firm.engagements) < 20


REFUSED: list[tuple[Command, str]] = [
    (Accept(10), "there is no project 10; they are 0 to 9"),
    (Accept(0), "project 0 was accepted before"),
    (Decline(0), "project 0 was accepted; it ends"),
    (Decline(99), "there is no project 99"),
    (Accept(2), "project 2 is over"),
    (Staff(2, 1), "project 2 is over"),
    (Staff(1, 1), "project 1 was not accepted"),
    (Staff(0, 3), "project 0 has 2 seats, not 3"),
    (Hire(3), "3 consultants are wanted; 2 can be hired"),
    (Release(11), "11 consultants are to go; 10 are on the payroll"),
]


@pytest.mark.parametrize(("command", "says"), REFUSED, ids=lambda v: str(v)[:30])
def test_a_refused_command_changes_nothing_and_gives_the_reason(
    command: Command, says: str
) -> None:
    """The desk is the same but for the reason, which is gone after the next command."""
    from attrs import evolve

    manual = ManualRun()
    before = manual.do(Accept(0), Decline(2), Release(2))
    events = [*manual.run.world._queue]
    after = manual.do(command)
    assert says in after.refused
    assert evolve(after, refused="") == before
    assert len(manual.run.world._queue) == len(events)
    assert manual.do(SetRisk(0.5)).refused == ""


def test_random_commands_break_nothing(tmp_path: Path) -> None:
    """Every kind, sensible or not; the record replays, and the same answers give the same."""
    draw = dice(6)

    class Anything(Policy):
        def decide(self, seen: Dashboard) -> Command:
            number = draw.randrange(len(seen.projects) + 1)
            choices: list[Command] = [
                Accept(number),
                Decline(number),
                Staff(number, draw.randrange(4)),
                Hire(draw.randint(1, 3)),
                Release(draw.randint(1, 3)),
                SetRisk(draw.choice([0.0, 0.5, 1.0])),
            ]
            return draw.choice([*choices, Accept(number), Wait(), Wait()])

    for number in range(12):
        gating = draw.choice(["threshold", "bernoulli"])
        game = EnterpriseDigitalTwin.preset("interactive", gating=gating)
        file = tmp_path / f"{number}.jsonl"
        played = play(game, {"manager": Anything()}, number, record=file)
        assert replay(file) == Episode.read(file)
        assert play(game, f"replay,file={file}", number).result == played.result
        msgspec.json.encode(played.metrics)


def test_random_commands_keep_the_books() -> None:
    """Effort within capacity, staff within seats, no consultant in two places."""
    draw = dice(8)
    for _ in range(12):
        manual = ManualRun()
        while not manual.run.world.ended:
            options = manual.run.roles["manager"].options
            assert options is not None
            seen = manual.seen
            choices = [o.action for o in options(seen)]
            choices += [Staff(p.index, draw.randrange(p.most_seats + 1)) for p in seen.projects]
            manual.do(draw.choice([*choices, Wait(), Wait(), Wait()]))
            check(manual.firm)
        reported = series(manual.firm)
        # Follow-ons are booked a step late, maybe after those who worked on them were released.
        delivered, possible = accumulate(reported["effort"]), accumulate(reported["capacity"])
        assert all(e <= c + 1e-9 for e, c in zip(delivered, possible, strict=True))


def check(firm: Firm) -> None:
    """Staff and consultants agree."""
    for project in firm.engagements:
        assert len(project.staff) <= project.terms.consultants
        if project.phase.active:
            assert project.hands == len(project.staff)
            assert all(who.project is project and who.hired for who in project.staff)
    for who in firm.employees:
        assert who.project is None or who in who.project.staff
        assert who.hired or who.project is None
        assert who not in firm.idle or who.project is None
