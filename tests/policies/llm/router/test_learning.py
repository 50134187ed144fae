"""Learning: which answers are reflected on, what the model reads, and how rules are read."""

import json
from typing import Any

import pytest
from support.router_items import METHODS, Asked, item, items, lesson, rules

from policies.llm.router.experiences import experiences, picked
from policies.llm.router.learning import (
    NoRules,
    chosen_bullets,
    learned_from_lessons,
    synthesised,
    tallied,
)
from policies.llm.router.policy import Policy, Rule

ACE = {"when": {"task_name": "finer"}, "choose": "ace", "confidence": "high"}


# -- answers ---------------------------------------------------------------------------------------


def test_at_most_so_many_answers_of_each_task_and_method_are_picked() -> None:
    """Kinds take turns, so a rare kind is not crowded out."""
    common = [item(f"c{n}", ["ace"], capability="A") for n in range(60)]
    rare = [item(f"r{n}", capability="B", bucket="hard") for n in range(3)]
    found = picked(common + rare)
    assert len(found) == 3 * 50
    for method in METHODS:
        names = [each.id for each, name in found if name == method]
        assert len(names) == len(set(names)) == 50
        # ACE is right at the common kind, and the others wrong: two kinds each.
        assert {"r0", "r1", "r2"} < set(names[:6])


def test_the_choice_does_not_depend_on_the_order_of_items() -> None:
    """Sorted tasks and methods, items shuffled by the published seed."""
    made = items(450)
    assert len(picked(made)) == 2 * 3 * 50
    assert picked(made) == picked(made[::-1])
    assert picked([]) == []


def test_a_method_without_a_record_is_not_reflected_on() -> None:
    """Only answers there are."""
    made = [item("a"), item("b", predictions={"cot": item("a").predictions["cot"]})]
    assert sorted((each.id, name) for each, name in picked(made)) == (
        [("a", "ace"), ("a", "cot"), ("a", "gepa"), ("b", "cot")]
    )


# -- experiences -----------------------------------------------------------------------------------


def test_an_experience_has_the_labels_of_its_item_and_the_words_of_the_model() -> None:
    """Whatever the model claims about method, labels and outcome."""
    made = item("q", ["ace"], capability="c", bucket="hard", question="Q1", context="C1", gold="G1")
    model = Asked(lambda _: f"Well: {lesson(diagnosis='d', correct=False, task='other')}")
    found = experiences([made], model)
    common = {
        "item": "q",
        "task": "finer",
        "capability": "c",
        "bucket": "hard",
        "bullet": "Tables suit it",
        "diagnosis": "d",
        "prefer": ["ace"],
        "avoid": [],
        "when": "hard",
        "confidence": "high",
    }
    assert found == [common | {"method": name, "correct": name == "ace"} for name in METHODS]
    assert model.temperatures == [0.0] * 3
    for part in ("Q1", "C1", "G1", "ace says", '"was_right": true', '"difficulty": "hard"'):
        assert part in model.requests[0]


@pytest.mark.parametrize(
    "reply",
    ["", "no JSON", "{}", '{"bullet": 3}', '{"bullet": " "}', '{"bullet": NaN}', "[" * 10**5],
)
def test_from_a_reply_without_a_lesson_no_rule_is_made(reply: str) -> None:
    """Its bullet is empty."""
    model = Asked(lambda _: reply)
    found = experiences([item("a")], model)
    assert [each["bullet"] for each in found] == [""] * 3
    assert chosen_bullets(found) == []


def test_odd_fields_of_a_lesson_are_left_out() -> None:
    """A single name counts as a list; texts are cut, and half a surrogate pair is replaced."""
    odd = {"prefer": "dc", "avoid": [1, "cot", None], "when": ["x"]}
    model = Asked(lambda _: lesson("\ud800" + "x" * 999, routing_hint=odd, diagnosis={}))
    found, *_ = experiences([item("a")], model)
    assert found["bullet"] == "?" + "x" * 599
    assert (found["prefer"], found["avoid"]) == (["dc"], ["cot"])
    assert found["when"] == found["diagnosis"] == ""


def test_a_lesson_in_the_form_of_the_paper_is_read() -> None:
    """Its hint names the methods under `prefer_agent` and `avoid_agent`."""
    hint = {"prefer_agent": "ace", "avoid_agent": ["cot", "dc"], "when": "tables"}
    found, *_ = experiences([item("a")], Asked(lambda _: lesson(routing_hint=hint)))
    assert (found["prefer"], found["avoid"]) == (["ace"], ["cot", "dc"])
    assert found["when"] == "tables"


def test_bullets_take_turns_over_methods_labels_and_outcomes() -> None:
    """A method that was picked often does not fill the request."""
    common = {"bullet": "b", "capability": "", "bucket": None, "correct": False}
    many = [common | {"item": f"m{n}", "method": "cot"} for n in range(700)]
    few = [common | {"item": f"f{n}", "method": "ace", "correct": True} for n in range(5)]
    found = chosen_bullets(many + few)
    assert len(found) == 600
    assert sum(each["method"] == "ace" for each in found) == 5
    assert {each["method"] for each in found[:2]} == {"ace", "cot"}
    assert chosen_bullets((many + few)[::-1]) == found


# -- rules -----------------------------------------------------------------------------------------


def test_a_policy_is_learned_from_lessons() -> None:
    """One call for each answer picked, and one for the rules, which sees lessons and methods."""

    def script(request: str) -> str:
        return rules(ACE) if "You write the rules" in request else lesson()

    model = Asked(script)
    policy = learned_from_lessons(items(4), model)
    assert len(model.requests) == 4 * 3 + 1
    assert policy == Policy((Rule({"task_name": "finer"}, "ace", "high"),), "cot")
    assert model.requests[-1].count("Tables suit it") == 12
    assert "Methods: ace, cot, gepa." in model.requests[-1]
    assert '"q1"' not in model.requests[-1]
    assert learned_from_lessons(items(4)[::-1], Asked(script)) == policy


def test_a_reply_without_rules_is_asked_for_again() -> None:
    """The model is told what was missing; a policy may stand alone, without findings."""
    replies = iter(["no", '{"policy": {"rules": 3}}', json.dumps({"rules": [ACE]})])
    model = Asked(lambda _: next(replies))
    assert len(synthesised([], METHODS, model).rules) == 1
    assert "no JSON object with a policy" in model.requests[-1]
    with pytest.raises(NoRules, match="2 replies held no routing policy"):
        synthesised([], METHODS, Asked(lambda _: "no"), retries=1)


def test_rules_in_the_form_of_the_paper_are_read() -> None:
    """Findings and policy under its names."""
    written = {"meta_findings": ["f"], "routing_policy": {"rules": [ACE], "default_agent": "cot"}}
    policy = synthesised([], METHODS, Asked(lambda _: json.dumps(written)))
    assert (policy.rules[0].choose, policy.default) == ("ace", "cot")


@pytest.mark.parametrize(
    "odd", [{"task_name": "\ud800"}, {"x": 10**30}], ids=["half a pair", "large number"]
)
def test_a_policy_that_no_file_can_hold_is_asked_for_again_or_kept(odd: dict[str, Any]) -> None:
    """What is returned can be written and read."""
    replies = iter([rules({"when": odd, "choose": "ace"}), rules(ACE)])
    policy = synthesised([], METHODS, Asked(lambda _: next(replies)))
    assert Policy.read(json.loads(json.dumps(policy.plain()))) == policy


# -- by counting -----------------------------------------------------------------------------------


def test_counting_finds_the_best_method_of_every_cell() -> None:
    """And of all items by default; a small cell has no rule."""
    policy = tallied(items(60))
    chosen = {
        (rule.when["capability"], rule.when["difficulty_bucket"]): rule.choose
        for rule in policy.rules
        if rule.when
    }
    assert chosen == {
        ("Information Extraction", "ALL"): "cot",
        ("Domain Knowledge", "easy"): "gepa",
        ("Domain Knowledge", "hard"): "ace",
    }
    assert policy.remarks(METHODS) == []
    assert tallied(items(60)[::-1]) == policy
    assert tallied(items(60), least=21).rules == ()
    assert tallied([]) == Policy()
