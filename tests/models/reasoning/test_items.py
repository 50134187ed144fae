"""The items that ship: complete, distinct, and every answer worked out anew where it can be."""

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from models.reasoning.item import CAPABILITIES, Item, shipped
from models.reasoning.scoring.grade import grade
from policies.llm.router.labels import BUCKETED, bucket_of
from policies.llm.router.situation import features_of

#: Programs that compute the answers; the items hold none, since the analyst would be shown it.
PROGRAMS = json.loads(Path(__file__).with_name("reference_programs.json").read_text("utf-8"))
ITEMS = shipped()


def of(category: str) -> list[Item]:
    """Return the items of a category."""
    return [item for item in ITEMS if item.category == category]


def value(program: str) -> float:
    """Run a program of ours and return the value of its last expression."""
    *body, last = ast.parse(program).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(body, []), "program", "exec"), names)  # noqa: S102 (our own file)
    found: float = eval(compile(ast.Expression(last.value), "program", "eval"), names)  # noqa: S307
    return found


def test_no_question_occurs_twice() -> None:
    """Neither with the same words nor with other numbers."""

    def without_numbers(item: Item) -> str:
        return "".join(each for each in item.question if not each.isdigit())

    others = [item for item in ITEMS if item.category != "tagging"]
    assert len({item.question for item in ITEMS}) == 120
    assert len({without_numbers(item) for item in others}) == 100
    # The sentences of tagging are what is asked about; the question only names their figures.
    assert len({item.context for item in of("tagging")}) == 20


def test_labels_and_features_vary() -> None:
    """Every row of Table 1 has items to be tested, and a router has something to see."""
    tested = [item for item in ITEMS if item.split == "test"]
    cells = Counter((i.capability, bucket_of(i.capability, i.difficulty or 0)) for i in tested)
    assert {capability for capability, _ in cells} == {*CAPABILITIES}
    assert all(
        cells[name, bucket] >= 3 for name in BUCKETED for bucket in ("easy", "middle", "hard")
    )
    assert {0, 10} <= {item.difficulty for item in ITEMS}
    seen = [features_of(item.question, item.context) for item in tested]
    assert sum(each.has_table for each in seen) >= 10
    assert sum(each.has_code for each in seen) >= 10
    assert sum(each.context_chars > 3_500 for each in seen) >= 2


@pytest.mark.parametrize("category", ["program_synthesis", "formula_value"])
def test_answers_are_what_their_programs_compute(category: str) -> None:
    """A formula's value is rounded to hundredths, and no way of computing it rounds otherwise."""
    for item in of(category):
        assert item.program == ""
        computed, stored = value(PROGRAMS[item.id]), float(item.answer)
        if category == "formula_value":
            assert stored == round(computed, 2), item.id
            assert abs(abs(computed) * 100 % 1 - 0.5) > 0.01, item.id
        else:
            assert stored == pytest.approx(computed, rel=1e-4), item.id
    assert {*PROGRAMS} == {i.id for i in (*of("program_synthesis"), *of("formula_value"))}


def test_answers_to_extract_stand_in_the_context() -> None:
    """Word for word, and not in the question."""
    for item in of("quantity_extraction"):
        assert item.answer in item.context, item.id
        assert item.answer not in item.question, item.id


def test_a_quantity_is_told_by_its_first_number_alone() -> None:
    """The scorer compares nothing else: no scale, no sign, no second number in an answer."""
    for item in of("quantity_extraction"):
        assert not re.search(r"thousand|million|billion|trillion", item.answer), item.id
        assert len(re.findall(r"\d[\d,.]*", item.answer)) == 1, item.id
        assert not re.search(r"\b(change|grow|differ)", item.question), item.id
        number = re.search(r"\d[\d,.]*\d|\d", item.answer)
        assert number
        assert grade(item, f"[[{item.answer}]]", extracts=False).correct
        assert grade(item, number.group(), extracts=False).correct, item.id
        wrong = {f"-{number.group()}", f"1{number.group()}", f"{number.group()}1"}
        assert not any(grade(item, each, extracts=False).correct for each in wrong), item.id


def test_the_right_option_is_one_of_them() -> None:
    """By its letter or its text; no two options are the same."""
    for item in of("multiple_choice"):
        letters = "ABCDEF"[: len(item.options)]
        assert item.answer in item.options or (len(item.answer) == 1 and item.answer in letters)
        assert len({option.lower() for option in item.options}) == len(item.options) >= 4
        assert len({letter for letter in letters if letter in item.options}) == 0


def test_tags_are_among_the_candidates() -> None:
    """As many as the question names figures, all of which are in the text."""
    for item in of("tagging"):
        text, _, listed = item.context.partition("\n\nTags: ")
        tags = item.answer.split(",")
        figures = item.question.split(" in the text?")[0].partition(" figure")[2].lstrip("s ")
        named = figures.split(", then ")
        assert {*tags} <= {*listed.split(", ")}, item.id
        assert len(named) == len(tags) == len({*tags}), item.id
        assert all(figure in text for figure in named), item.id
