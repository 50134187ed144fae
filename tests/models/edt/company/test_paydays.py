"""Paydays are events of a process of their own, at controlling's place in every step."""

import pytest
from attrs import evolve

from desim import Run
from models.edt import Decide, EnterpriseDigitalTwin, Window
from models.edt.actions import Hire, Release, Wait
from models.edt.controlling import SALARIES, Controlling

GAME = EnterpriseDigitalTwin()


def test_every_step_has_one_payday(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ninety-six of them, in order; each pays the consultants of the decision."""
    paid: list[tuple[int, int]] = []
    pay = Controlling.pay

    def watched(self: Controlling, step: int) -> None:
        pay(self, step)
        paid.append((step, self.flows[SALARIES][step]))

    monkeypatch.setattr(Controlling, "pay", watched)
    run = Run(GAME)
    run.answer(run.advance()[0], Decide(9, 0.0, (Window(0, 95),) * 10))
    run.advance()
    assert paid == [(step, 9 * 6_000 * 10**12) for step in range(1, 97)]
    costs = [e for e in run.state.controlling.book.journal if e.text == "costs of the step"]
    assert [(e.time, e.amounts["salaries"]) for e in costs] == paid


def test_a_payday_pays_who_is_on_the_payroll() -> None:
    """A change by the manager behind a step counts from the next payday on."""
    run = Run(EnterpriseDigitalTwin.preset("interactive"))
    for command in (Release(4), Wait(), Hire(1), Wait()):
        run.answer(run.advance()[0], command)
    (asked,) = run.advance()
    steps, first = asked.observation.step, run.state.controlling.flows[SALARIES]
    staff = [first[t] // (6_000 * 10**12) for t in range(1, steps + 1)]
    assert staff[0] == 8
    assert staff[-1] == 9
    assert staff == sorted(staff)


def test_consultants_behind_controlling_are_paid_a_step_late() -> None:
    """As published: agents behind controlling report to its next turn."""
    given = GAME.loaded_scenario
    order = [("controlling", 1), ("consultant", 12), ("project", 10)]
    run = Run(EnterpriseDigitalTwin(scenario=evolve(given, order=order)), seats=[])
    run.advance()
    salaries = run.state.controlling.flows[SALARIES]
    assert salaries[1:4] == [0, 72_000 * 10**12, 72_000 * 10**12]
