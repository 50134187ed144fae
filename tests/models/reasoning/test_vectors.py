"""Every scorer gives what the published code gave for the same inputs: `firmbench/vectors`.

The inputs are the raw rows and replies of `scoring_vectors_*.json`. One difference is wanted: the
published code evaluates labels as expressions, and here they are texts. The cases whose note begins
with "evaluated as expression" are therefore left out and counted.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from support.paths import REFERENCE

from models.reasoning.item import Item, from_row
from models.reasoning.scoring.extraction import (
    bracket_number,
    extract,
    first_number,
    last_fenced_block,
    number_of,
    predicted_number,
)
from models.reasoning.scoring.formula_completion import argument_sets, reference_of
from models.reasoning.scoring.grade import grade
from models.reasoning.scoring.short_answers import label_of

FOLDER = REFERENCE / "firmbench" / "vectors"

#: Beginning of the note of a case in which the published code evaluates text.
EVALUATED = "evaluated as expression"

#: Files of cases with an item and a reply each.
GRADED = (
    "program_synthesis",
    "quantity_extraction",
    "multiple_choice",
    "finer",
    "formula_value",
    "formula_eval",
)

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the reference data are not here")


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    file = FOLDER / f"scoring_vectors_{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))["cases"] if file.exists() else []


def params(*names: str) -> list[Any]:
    """Return the cases of some files as parameters of a test."""
    return [pytest.param(case, id=case["id"]) for name in names for case in cases(name)]


def graded_params() -> Iterator[Any]:
    """Yield the cases that our scorers must give like the published ones."""
    for name in GRADED:
        for case in cases(name):
            if not case.get("note", "").startswith(EVALUATED):
                yield pytest.param(case, id=case["id"])


def number(value: float | None) -> float | str | None:
    """Write a number as the files do: nan and inf are texts."""
    return str(value) if value is not None and not math.isfinite(value) else value


def item_of(case: Mapping[str, Any]) -> Item:
    """Build the item of a raw row."""
    return from_row({"id": case["id"], "task": case["task"], **case["sample"]})


@pytest.mark.parametrize("case", params("extraction"))
def test_extraction(case: dict[str, Any]) -> None:
    """Of a reply."""
    assert extract(case["reply"]) == case["extracted"]


@pytest.mark.parametrize("case", params("numbers"))
def test_numbers(case: dict[str, Any]) -> None:
    """Of a text: the first, that in brackets, the last program and its value, the whole chain."""
    text = case["text"]
    assert number(first_number(text)) == case["first_number"]
    assert number(bracket_number(text)) == case["bracket_number"]
    assert last_fenced_block(text) == case.get("last_fenced_block")
    assert number(predicted_number(text)) == case["predicted_number"]
    if "sandbox" in case:
        assert (number_of(case["last_fenced_block"]) is None) == (
            case["sandbox"]["failed"] or case["sandbox"]["value"] in (None, "(list)")
        )


@pytest.mark.parametrize("case", list(graded_params()))
def test_a_reply_is_graded_as_published(case: dict[str, Any]) -> None:
    """With the answer that is extracted from it, and as a whole."""
    if "preparing_sample_raises" in case:
        with pytest.raises(ValueError, match="options"):
            item_of(case)
        return
    item = item_of(case)
    graded = grade(item, case["reply"])
    assert graded.extracted == case["extracted"]
    assert graded.correct == case["correct"]
    assert graded.error == case.get("scoring_raises", "")
    if "matched" in case:
        assert (graded.matched, graded.labels) == (case["matched"], case["labels"])
    if "gold_label" in case:
        assert label_of(item.answer, item.options) == case["gold_label"]
    if "predicted_label" in case:
        assert graded.predicted == case["predicted_label"]
    elif "truth_number" in case:
        assert number(graded.truth) == case["truth_number"]  # type: ignore[arg-type]
        if graded.truth is not None:
            assert number(graded.predicted) == case["predicted_number"]  # type: ignore[arg-type]
    if "correct_if_raw_reply_is_scored" in case:
        raw = grade(item, case["reply"], extracts=False)
        shown = f"raises {raw.error}" if raw.correct is None else raw.correct
        assert shown == case["correct_if_raw_reply_is_scored"]


@pytest.mark.parametrize("case", params("finer_accuracy"))
def test_the_accuracy_of_tagging_counts_labels(case: dict[str, Any]) -> None:
    """Matched labels of all items over all labels of all items."""
    grades = [
        grade(Item(id="one", task="finer", context="c", answer=target), answer, extracts=False)
        for target, answer in zip(case["targets"], case["extracted"], strict=True)
    ]
    matched, labels = sum(g.matched for g in grades), sum(g.labels for g in grades)
    assert matched / labels == case["accuracy"]


@pytest.mark.parametrize("case", params("formula_eval", "formula_eval_draws"))
def test_the_target_of_a_formula(case: dict[str, Any]) -> None:
    """Its name, its parameters and the fields of its class."""
    question, body = (
        (case["signature"], "pass")
        if "signature" in case
        else (case["sample"]["question"], case["sample"]["answer"])
    )
    target = reference_of(question, body)
    expected = case["target_function"]
    if expected is None:
        assert target is None
        return
    assert target is not None
    owner, _, function = target.name.rpartition(".")
    assert (owner, function) == (expected["class_name"] or "", expected["func_name"])
    assert [list(field) for field in target.fields] == expected["class_fields"]
    named = [spec for spec in expected["arg_specs"] if spec[0] != "self"]
    assert [list(argument) for argument in target.arguments] == named


@pytest.mark.parametrize("case", params("formula_eval_draws"))
def test_the_arguments_of_a_formula(case: dict[str, Any]) -> None:
    """The published generator draws the same numbers."""
    target = reference_of(case["signature"], "pass")
    assert target is not None
    drawn = [
        {"fields": one.fields, "args": one.args} if "." in target.name else one.args
        for one in argument_sets(target, case["seed"])
    ]
    assert drawn == case["argument_sets"]
