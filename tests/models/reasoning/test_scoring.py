"""Scoring beside the published vectors: the paper's rules, hostile texts, and what runs where."""

from typing import Any

import pytest

from models.reasoning import Item
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import extraction, formula_completion
from models.reasoning.scoring.extraction import bracket_number, extract, predicted_number
from models.reasoning.scoring.grade import grade

#: Characters of a hostile text: as long as an action may be.
LONG = 100_000


def item(task: str, answer: str, **more: Any) -> Item:
    """Return an item of a task."""
    return Item(id="one", task=task, answer=answer, **{"question": "q", **more})


def correct(one: Item, answer: str, **rules: str) -> bool | None:
    """Return whether an answer is right."""
    return grade(one, answer, ReasoningParams(**rules), extracts=False).correct


# -- the paper's rules -----------------------------------------------------------------------------


def test_near_zero_the_paper_is_stricter_than_the_code() -> None:
    """0.01 in the code, 1e-6 in the paper."""
    zero = item("FinCode", "0")
    assert (correct(zero, "[[0.009]]"), correct(zero, "[[0.011]]")) == (True, False)
    assert correct(zero, "[[0.009]]", near_zero="paper") is False
    assert correct(zero, "[[0.000001]]", near_zero="paper") is True
    assert correct(item("FinCode", "200"), "[[201]]", near_zero="paper") is True


@pytest.mark.parametrize(
    ("answer", "strict", "pattern"),
    [
        ("B", True, True),
        ("(B)", False, True),
        ("The answer is B.", False, True),
        ("Not A but **B**", False, True),
        ("B is tempting, but C it is", False, False),
        ("[[A]] B", False, False),
        ("Because it is so", False, False),
    ],
)
def test_the_paper_finds_a_letter_in_a_sentence(answer: str, strict: bool, pattern: bool) -> None:  # noqa: FBT001
    """The last one that stands alone, unless the answer names an option as the code reads it."""
    choice = item("FinKnow", "B", options=("one", "two", "three"))
    assert correct(choice, answer) is strict
    assert correct(choice, answer, letters="pattern") is pattern


@pytest.mark.parametrize(
    ("answer", "numbers", "text"),
    [
        ("$ 9.4 million", True, True),
        ("[[$9.4 Million]]", True, True),
        ("9.4", True, False),
        ("[[9.40]]", True, False),
        ("9.5 million", False, False),
    ],
)
def test_the_paper_compares_spans_alone(answer: str, numbers: bool, text: bool) -> None:  # noqa: FBT001
    """Where the code compares numbers first."""
    quantity = item("SEC-NUM", "9.4 million")
    assert correct(quantity, answer) is numbers
    assert correct(quantity, answer, spans="text") is text


# -- numbers are parsed, never evaluated -----------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "given", "equal"),
    [
        ("35835.68", "35,835.68", True),
        ("12,345.6", "12345.6", True),
        ("12,345.6", "It is 12,345.6", True),
        ("-1,234,567", '{"final_answer": "-1234567", "n": 3}', True),
        ("1234", '{"final_answer": "1,234", "n": 3}', True),
        ("12,345", "12,3450", False),
        ("1,2", "12", False),
        ("7 pears", "7 pears", True),
        ("7 pears", "7", False),
        ("7 pears", "-7 pears", False),
        ("7 pears", '{"final_answer": "7 pears"}', True),
        ("12,345 pears", "12345 pears", True),
        ("7", "7 pears", True),
        ("", "", True),
        ("", "0", False),
        ("5 apples", "5", False),
        ("none", "none", True),
        ("none", '{"final_answer": " none "}', True),
        ("none", "none of 3", False),
        ("inf", "Infinity", True),
        ("nan", "nan", False),
    ],
)
def test_a_formula_value_is_the_right_number_or_the_right_text(
    right: str,
    given: str,
    equal: bool,  # noqa: FBT001 (parametrized)
) -> None:
    """Thousands commas make no difference; a text that is no number is compared as a whole."""
    assert correct(item("formula", right), given) is equal


# -- hostile texts ---------------------------------------------------------------------------------


def repeated(part: str, end: str = "") -> str:
    """Return a text of the longest size that an action may have."""
    return part * (LONG // len(part)) + end


HOSTILE = [
    repeated("Finish["),
    repeated("[["),
    repeated("]]"),
    repeated("[[]"),
    repeated("```python\n"),
    repeated("```"),
    repeated("```a"),
    repeated("`"),
    "```" + repeated("a"),
    "```" + repeated(" "),
    repeated('"final_answer"'),
    repeated('"final_answer":'),
    repeated('"final_answer": "'),
    '"final_answer"' + repeated(" "),
    '"final_answer":' + repeated(" ", ","),
    repeated("The final answer is"),
    "The final answer is" + repeated("\n", "."),
    "The final answer is: \\boxed{" + repeated("{"),
    repeated("The final answer is \\boxed{"),
    repeated("{"),
    repeated('{"a":'),
    repeated("["),
    repeated("9"),
    repeated("9,"),
    repeated("9."),
    repeated("+-"),
    repeated("1e"),
    repeated(" "),
    repeated("\t,"),
    repeated("A "),
    repeated("²"),
    repeated("\ud800"),
    repeated("\0"),
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_a_hostile_text_is_read_once(text: str) -> None:
    """In time proportional to its length: a search that starts anew at every place takes hours."""
    extract(text)
    bracket_number(text)
    for one in (
        item("SEC-NUM", "five"),
        item("FinKnow", "B", options=("one", "two")),
        item("finer", "A1,B2"),
        item("formula", "40"),
    ):
        assert grade(one, text).correct in (False, None)
        assert grade(one, text, ReasoningParams(letters="pattern"), extracts=False).correct in (
            False,
            None,
        )


@pytest.mark.parametrize(
    ("task", "answer", "error"),
    [
        ("FinKnow", "²", "ValueError"),
        ("FinKnow", "[[nan]]", "ValueError"),
        ("FinKnow", "[[inf]]", "OverflowError"),
        ("FinKnow", "9" * 5_000, "ValueError"),
    ],
)
def test_a_scorer_that_raises_gives_no_outcome(task: str, answer: str, error: str) -> None:
    """As in the published code; what that counts as is a parameter of the world."""
    graded = grade(item(task, "B", options=("one", "two")), answer, extracts=False)
    assert (graded.correct, graded.matched, graded.error) == (None, 0, error)


# -- programs --------------------------------------------------------------------------------------


def test_a_program_runs_in_the_sandbox_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: its result is kept."""
    ran: list[str] = []
    run = extraction.run_program

    def counted(source: str, **kwargs: Any) -> Any:
        ran.append(source)
        return run(source, **kwargs)

    monkeypatch.setattr(extraction, "run_program", counted)
    source = "price = 12.5\nprice * 4 + 0.125"
    assert predicted_number(f"```python\n{source}\n```") == 50.125
    assert predicted_number(f"So:\n```py\n{source}\n```\nthat is it") == 50.125
    assert ran == [source]


GAP = item("FormulaEval", "    return abs(a - b)", question="def gap(a, b):")


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("return max(a, b) - min(a, b)", True),
        ("    d = a - b\n    return abs(d)", True),
        ("```python\nd = a - b\nreturn abs(d)\n```", True),
        ("```python\n    d = a - b\n    return abs(d)\n```", False),
        ('"return abs(a - b)"', True),
        ('{"completion": "return abs(a - b)"}', True),
        ("def gap(a, b):\n    return abs(b - a)", True),
        ("return a - b", False),
        ("return abs(a - b", False),
        ("", False),
        ("return (lambda: 1)", False),
        ("while True: pass", False),
    ],
)
def test_a_completed_formula_is_compared_by_what_it_returns(answer: str, right: bool) -> None:  # noqa: FBT001
    """A fenced body that is indented evenly loses the indentation of its first line: wrong."""
    assert correct(GAP, answer) is right


def test_a_reply_takes_one_process_for_its_four_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the reference one for all replies."""
    ran: list[int] = []
    run = formula_completion.run_calls

    def counted(source: str, target: str, sets: Any, **kwargs: Any) -> Any:
        ran.append(len(sets))
        return run(source, target, sets, **kwargs)

    monkeypatch.setattr(formula_completion, "run_calls", counted)
    formula = item("FormulaEval", "    return a * b + 11", question="def area(a, b):")
    assert correct(formula, "return b * a + 11") is True
    assert correct(formula, "return 11 + b * a") is True
    assert ran == [4, 4, 4]


def test_the_arguments_of_an_item_are_always_the_same() -> None:
    """They do not depend on the salted hash of a process: these are of the SHA-256."""
    target = formula_completion.reference_of(GAP.question, GAP.answer)
    assert target is not None
    seed = formula_completion.runnable_seed(target)
    assert seed is not None
    assert [one.args for one in formula_completion.argument_sets(target, seed)] == [
        {"a": 685.2186, "b": 482.4651},
        {"a": 726.0941, "b": -655.6066},
        {"a": -434.5447, "b": -444.405},
        {"a": 500.822, "b": 524.3998},
    ]
