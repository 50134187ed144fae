"""What comes back from a program: the value of the last statement, results of calls, output."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from desim.errors import UsageError
from desim.sandbox import (
    Arguments,
    ProgramLimits,
    ProgramOutcome,
    run_block,
    run_calls,
    run_program,
)

NUMBERS = "firmbench/vectors/scoring_vectors_numbers.json"


# -- the value of the last statement ---------------------------------------------------------------


@pytest.mark.traces(NUMBERS)
def test_programs_have_the_published_values(trace: Path) -> None:
    """Value, failure and time-out of every program of the reference, and its number."""
    cases = [each for each in json.loads(trace.read_text())["cases"] if "sandbox" in each]
    assert len(cases) > 15
    for case in cases:
        outcome, published = run_program(case["last_fenced_block"]), case["sandbox"]
        value = (
            "nan" if outcome.number is not None and math.isnan(outcome.number) else outcome.value
        )
        assert value == published["value"], case["id"]
        assert outcome.failed == published["failed"], case["id"]
        assert outcome.timed_out == published["timeout"], case["id"]
        assert bool(outcome.error) == published["failed"], case["id"]
        if outcome.number is not None:
            assert str(outcome.number) == str(case["predicted_number"]), case["id"]


@pytest.mark.parametrize(
    ("source", "value", "number"),
    [
        ("x = 5\nx += 2", 2.0, 2.0),
        ("y = 3\nreturn y", 3.0, 3.0),
        ("x: float = 2", 2.0, 2.0),
        ("(y := 4)", 4.0, 4.0),
        ("True", 1.0, 1.0),
        ("' 1_000.5 '", " 1_000.5 ", 1000.5),
        ("'12%'", "12%", None),
        ("10 ** 400", "(int)", None),
        ("from decimal import Decimal\nDecimal(1) / 4", "(Decimal)", 0.25),
        ("from fractions import Fraction\nFraction(1, 4)", "(Fraction)", 0.25),
        ("{1: 2}", "(dict)", None),
        ("None", None, None),
        ("import math, statistics\nstatistics.mean([math.pi, 1])", (math.pi + 1) / 2, None),
        (
            "import datetime\n(datetime.date(2024, 3, 1) - datetime.date(2024, 2, 1)).days",
            29.0,
            29.0,
        ),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    b: int\nA(3).b", 3.0, 3.0),
    ],
)
def test_value_and_number(source: str, value: float | str | None, number: float | None) -> None:
    """Numbers come as float, texts as they are, the rest as its type; what converts is a number."""
    outcome = run_program(source)
    assert outcome.value == value
    assert outcome.number == number or isinstance(value, float)
    assert (outcome.failed, outcome.timed_out, outcome.error) == (False, False, "")


@pytest.mark.parametrize("source", ["(n for n in [1])", "class A: pass\nA()", "import math\nmath"])
def test_what_no_other_process_can_receive_counts_as_a_time_out(source: str) -> None:
    """The published code waits for such a value in vain."""
    assert run_program(source) == ProgramOutcome(
        failed=True, timed_out=True, error="no other process can receive the value"
    )


def test_a_program_has_the_same_value_every_time() -> None:
    """Random numbers and hashes of texts start from fixed seeds."""
    source = "import random\nstr((random.random(), list({'a', 'b', 'c'}), hash('x')))"
    first, second = run_program(source), run_program(source)
    assert first == second
    assert not first.failed


def test_a_program_that_is_too_long_is_not_run() -> None:
    """Neither for its value, nor for calls, nor for its output."""
    limits = ProgramLimits(source=10)
    text = "the program has 11 characters; at most 10 are run"
    assert run_program("1" * 11, limits=limits) == ProgramOutcome(failed=True, error=text)
    assert run_calls("1" * 11, "f", [Arguments()], limits=limits)[0].error == text
    assert run_block("1" * 11, limits=limits) == text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("seconds", bad) for bad in (0, -1, math.nan, math.inf, 1e9)),
        *(("memory", bad) for bad in (0, 10**15)),
        *(("output", bad) for bad in (0, 10**12)),
        *(("cpu_seconds", bad) for bad in (0, True)),
        ("source", 0),
    ],
)
def test_limits_lie_within_limits(field: str, value: float) -> None:
    """None is infinite, not a number, or less than what a program needs."""
    given: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=field):
        ProgramLimits(**given)


# -- calls -----------------------------------------------------------------------------------------


def test_results_of_calls_are_plain_values() -> None:
    """Sequences are lists, keys texts; huge integers and other objects come as text."""
    source = (
        "from decimal import Decimal\ndef f(x):\n"
        "    return {'a': (x, [True, None]), 2: 10 ** 400, 'd': Decimal('0.10'), 'e': 'é\\ud800'}"
    )
    first, second = run_calls(source, "f", [Arguments(args={"x": 3}), Arguments(args={"y": 3})])
    assert first.value == {"a": [3, [True, None]], "2": str(10**400), "d": "0.10", "e": "é?"}
    assert second.failed
    assert second.error.startswith("TypeError: f() got an unexpected keyword argument 'y'")


def test_every_call_fails_where_the_source_or_the_target_does() -> None:
    """With what went wrong; a call beside one that fails is not touched."""
    two = [Arguments(args={"x": 0}), Arguments(args={"x": 2})]
    for source, target, error in (
        ("def f(x:", "f", "SyntaxError"),
        ("1 / 0\ndef f(x): return x", "f", "ZeroDivisionError"),
        ("def g(x): return x", "f", "KeyError"),
        ("class A: pass", "A.f", "AttributeError"),
        ("def f(x): raise SystemExit", "f", "SystemExit"),
    ):
        results = run_calls(source, target, two)
        assert [each.failed for each in results] == [True, True]
        assert all(each.error.startswith(error) for each in results)
    over = run_calls("def f(x):\n    while True: pass", "f", two, limits=ProgramLimits(seconds=0.2))
    assert [(each.failed, each.timed_out) for each in over] == [(True, True)] * 2
    assert [each.failed for each in run_calls("def f(x): return 1 / x", "f", two)] == [True, False]
    assert run_calls("", "f", []) == ()
    with pytest.raises(UsageError, match="1001 calls were given; at most 1,000"):
        run_calls("", "f", [Arguments()] * 1001)


# -- output ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("x = 6\nx * 7", "42"),
        ("print('a', 1)\nprint('b')", "a 1\nb"),
        ("print('a')\nNone", "a"),
        ("print('a')\n'b'", "a\n'b'"),
        ("x = 1", ""),
        ("print('a')\n1 / 0", "a\nZeroDivisionError: division by zero"),
        ("print('\\0')", "\ufffd"),
        ("def", "SyntaxError: invalid syntax (<program>, line 1)"),
    ],
)
def test_a_block_shows_what_a_notebook_shows(source: str, shown: str) -> None:
    """Its output, then its last value, then its error."""
    assert run_block(source) == shown


def test_output_is_kept_up_to_its_limit_and_its_time() -> None:
    """What was printed before the end is shown, with the reason of the end."""
    limits = ProgramLimits(seconds=0.3, output=1_000)
    shown = run_block("while True: print('x' * 99)", limits=limits)
    assert shown.startswith("x" * 99)
    assert shown.endswith("the program wrote more than it may")
    assert len(shown) < 1_100
    shown = run_block("print('x', flush=True)\nwhile True: pass", limits=limits)
    assert shown == "x\nthe program ran out of time"
