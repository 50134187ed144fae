"""Decisions: repaired as published, or refused with a code."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from desim import Run
from models.edt import Decide, EnterpriseDigitalTwin
from models.edt.actions import Answer
from models.edt.document import template
from models.edt.planning import DecisionLimits, extracted, faults, first_pass, judged, second_pass

LIMITS = DecisionLimits.of(template())
FULL: list[Any] = [[1, 0, 95]] * 10
DEFAULTS = [[1, w.start, w.deadline] for w in LIMITS.windows]
GOOD = {"C": 9, "R": 0.5, "P": FULL}

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-200, 200)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1e1", "3.9", "inf", "nan", "1_0", "-0"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
entries = st.lists(values | st.lists(values, min_size=3, max_size=3), min_size=9, max_size=11)
decisions = st.fixed_dictionaries({}, optional={"C": values, "R": values, "P": entries | values})


@pytest.mark.traces("edt/normalisation_vectors.json")
def test_every_published_vector_is_repaired_as_published(trace: Path) -> None:
    """The first pass, the second after it, and the second alone; as a value and out of a text."""
    published = json.loads(trace.read_text())
    assert published["default_P"] == DEFAULTS
    for vector in published["vectors"]:
        raw = vector["raw"]
        once = first_pass(raw, LIMITS)
        assert once.raw() == vector["stage1"], vector["id"]
        assert second_pass(once.raw(), LIMITS).raw() == vector["stage2_after_stage1"]
        assert second_pass(raw, LIMITS).raw() == vector["stage2_only"]
        for given_ in (raw, json.dumps(raw), f"So: {json.dumps(raw)} {{}}", {"final_answer": raw}):
            why, plan = judged(given_, LIMITS, "repair")
            assert (why, plan and plan.raw()) == ("", vector["stage2_after_stage1"])
        assert opened(raw) == vector["windows"]


def opened(raw: Any) -> list[Any]:
    """Play the first step and return every project's window, 0 for those left out."""
    run = Run(EnterpriseDigitalTwin())
    run.answer(run.advance()[0], Answer(raw))
    run.advance()
    kept = {p.key: [p.start, p.deadline] for p in run.state.engagements}
    return [kept.get(str(at), 0) for at in range(10)]


@examples(80)
@given(decisions)
def test_whatever_comes_is_repaired_to_a_plan_that_stays(raw: dict[str, Any]) -> None:
    """A consultant works on a project, within the limits; a second repair changes nothing."""
    plan = first_pass(raw, LIMITS)
    assert 1 <= plan.consultants <= 12
    assert 0 <= plan.revenue_risk <= 1
    windows = [w for w in plan.projects if w]
    assert windows
    assert all(0 <= w.start <= w.deadline <= 95 for w in windows)
    assert first_pass(plan.raw(), LIMITS) == second_pass(plan.raw(), LIMITS) == plan
    assert [*faults(plan.raw(), LIMITS)] == []


@examples(80)
@given(decisions)
def test_what_is_not_refused_needs_no_repair(raw: dict[str, Any]) -> None:
    """Strict and repair mode agree on everything that strict lets through."""
    why = next(faults(raw, LIMITS), "")
    if not why:
        assert first_pass(raw, LIMITS).raw() == raw
    else:
        assert why.partition(": ")[0] in CODES


CODES = {
    "not_json": "{'C': 9}",
    "not_object": [1, 2],
    "unknown_key": {**GOOD, "c": 1},
    "missing_key": {"C": 9, "R": 0.5},
    "C_type": {**GOOD, "C": 9.0},
    "C_range": {**GOOD, "C": 13},
    "R_type": {**GOOD, "R": True},
    "R_range": {**GOOD, "R": 1.01},
    "P_type": {**GOOD, "P": {}},
    "P_length": {**GOOD, "P": FULL[1:]},
    "entry_form": {**GOOD, "P": [None, *FULL[1:]]},
    "entry_flag": {**GOOD, "P": [[0, 5, 20], *FULL[1:]]},
    "step_type": {**GOOD, "P": [[1, "5", 20], *FULL[1:]]},
    "step_range": {**GOOD, "P": [[1, 5, 96], *FULL[1:]]},
    "step_order": {**GOOD, "P": [[1, 21, 20], *FULL[1:]]},
    "no_project": {**GOOD, "P": [0] * 10},
    "no_consultant": {**GOOD, "C": 0},
}


def test_the_first_code_in_checking_order_is_named() -> None:
    """Whatever else is wrong: faults are added from the last to the first."""
    order = [*CODES][2:]
    bad: dict[str, Any] = dict(GOOD)
    changes: list[tuple[str, Any]] = [
        ("step_order", ("P", [[1, 30, 20], *FULL[1:]])),
        ("step_range", ("P", [[1, 30, 20], [1, -1, 3], *FULL[2:]])),
        ("step_type", ("P", [[1, 30, 20], [1, -1, 3], [1, None, 3], *FULL[3:]])),
        ("entry_flag", ("P", [[1, 30, 20], [1, -1, 3], [2, None, 3], *FULL[3:]])),
        ("entry_form", ("P", [[1, 30, 20], [1, -1, 3], [2, None, 3], [1], *FULL[4:]])),
        ("P_length", ("P", [[1]])),
        ("P_type", ("P", "all")),
        ("R_range", ("R", -0.5)),
        ("R_type", ("R", "high")),
        ("C_range", ("C", 99)),
        ("C_type", ("C", None)),
        ("unknown_key", ("D", 1)),
    ]
    found = []
    for code, (key, value) in changes:
        bad[key] = value
        found.append(next(faults(bad, LIMITS), "").partition(":")[0])
        assert found[-1] == code
    assert sorted(found, key=order.index) == found[::-1]


def test_a_refused_decision_changes_nothing_and_is_asked_for_again() -> None:
    """The reason is in the next briefing; an answer that fits is played as if it were the first."""
    game = EnterpriseDigitalTwin(mode="strict")
    run = Run(game)
    for bad in (Answer(CODES["C_range"]), Decide(9, 2.0, (None,) * 10), Answer("nine people")):
        (decision,) = run.advance()
        run.answer(decision, bad)
        assert (run.world.now, run.state.employees, run.state.plan) == (0, [], None)
    (decision,) = run.advance()
    assert decision.observation.refused.startswith("not_json: ")
    run.answer(decision, Answer(GOOD))
    run.advance()
    other = Run(game)
    other.answer(other.advance()[0], Answer(json.dumps(GOOD)))
    other.advance()
    assert run.result().ledger_digest == other.result().ledger_digest
    assert run.result().metrics == other.result().metrics


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"C": 1}', {"C": 1}),
        ('Well {"C": 1} or {"C": 2}', {"C": 1}),
        ('```json\n{"C": 1, "P": [{"a": "}"}]}\n```', {"C": 1, "P": [{"a": "}"}]}),
        ('[{"C": 1}]', {"C": 1}),
        ('{"a": "\\"}", "C": 1} tail', {"a": '"}', "C": 1}),
        ('{"final_answer": {"C": 2}, "why": ""}', {"C": 2}),
        ('{"final_answer": "{\\"C\\": 2}"}', {"C": 2}),
        ({"final_answer": '{"C": 2}'}, {"C": 2}),
        ({"final_answer": "none"}, {}),
        ("{'C': 1} {\"C\": 2}", {}),
        ("{ {", {}),
        ("} {", {}),
        ("", {}),
        ("9", {}),
        (9, {}),
        (None, {}),
        ([{"C": 1}], {}),
        ("{" * 100_000, {}),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_the_object_in_an_answer(text: Any, found: Any) -> None:
    """The first balanced braces count; what cannot be read is an empty decision."""
    assert extracted(text) == found


def test_only_the_second_pass_lets_a_firm_without_consultants_through() -> None:
    """And a flag that is not 1 leaves the project out there."""
    raw = {"C": 0, "R": 1, "P": [[0, 1, 2], *FULL[1:]]}
    _, alone = judged(raw, LIMITS, "second_pass")
    _, both = judged(raw, LIMITS, "repair")
    assert alone is not None
    assert both is not None
    assert (alone.consultants, alone.projects[0]) == (0, None)
    assert (both.consultants, both.projects[0]) == (1, LIMITS.windows[0])
