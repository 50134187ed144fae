"""The published runs, step by step: reference SPEC section 14."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.edt_histories import assignments, remaining, series, staffing, states

from desim import Run
from models.edt import EnterpriseDigitalTwin
from models.edt.actions import Answer
from models.edt.document import from_document
from models.edt.firm import Firm

#: Series of a trace under our name, where it differs.
SERIES = {"avg_utilization": "utilization"}
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def game_of(trace: dict[str, Any]) -> EnterpriseDigitalTwin:
    """The scenario of a trace; the run without consultants had no first pass."""
    mode = "second_pass" if trace["id"].startswith("edt24") else "repair"
    if "scenario_inline" in trace:
        return EnterpriseDigitalTwin(scenario=from_document(trace["scenario_inline"]), mode=mode)
    return EnterpriseDigitalTwin(mode=mode)


def played(trace: dict[str, Any]) -> Run:
    """Play the decision of a trace, or the scenario as given."""
    decision = trace.get("decision")
    run = Run(game_of(trace), seats=[] if decision is None else ["manager"])
    while handed := run.advance():
        run.answer(handed[0], Answer(decision))
    return run


@pytest.mark.traces("edt/traces/*.json")
def test_the_published_run_is_played_step_by_step(trace: Path) -> None:
    """States, staff and assignments exactly; every series and final figure within 1e-6."""
    published = json.loads(trace.read_text())
    run = played(published)
    firm: Firm = run.state
    projects = published["projects"]
    assert [p.name for p in firm.engagements] == projects["names"]
    assert states(firm) == projects["state"]
    alive = [p.replace("-", "0") for p in projects["staff"]]
    assert ["".join(map(str, staff)) for staff in staffing(firm)] == alive
    letters = [
        "".join("." if at is None else DIGITS[at] for at in line) for line in assignments(firm)
    ]
    assert letters == published["assignment"]
    for ours, theirs in zip(remaining(firm), projects["remaining"], strict=True):
        assert ours == pytest.approx([left or 0 for left in theirs], rel=1e-6, abs=1e-9)
    ours_by_name = series(firm)
    for name, values in published["series"].items():
        assert ours_by_name[SERIES.get(name, name)] == pytest.approx(values, rel=1e-6), name
    metrics = run.result().metrics
    final = published["final"]
    assert {name: metrics[name] for name in final} == pytest.approx(final, rel=1e-6)
    assert run.result().score == pytest.approx(final["accumulated_earnings"], rel=1e-6)


@pytest.mark.traces("edt/traces/*.json")
def test_the_decision_of_a_trace_is_repaired_as_published(trace: Path) -> None:
    """Windows in the simulator are those of the trace."""
    published = json.loads(trace.read_text())
    firm: Firm = played(published).state
    if "windows" in published and published.get("decision") is not None:
        assert firm.plan is not None
        assert firm.plan.raw() == published["normalised"]
        kept = [[p.start, p.deadline] for p in firm.engagements if "+" not in p.key]
        assert kept == [window for window in published["windows"] if window]
