"""Model routing: what the model reads, and what is done with its choice."""

import json

import pytest
from support.router_items import Asked

from policies.llm.router.experiences import Experience
from policies.llm.router.learning import Learned
from policies.llm.router.policy import Policy, Rule
from policies.llm.router.routing import ModelChoice, ModelChooser, relevance, relevant
from policies.llm.router.situation import Situation

SITUATION = Situation.of("WHY?", "| 7 |", task="finer", capability="DK", bucket="hard")
POLICY = Policy((Rule({"task_name": "finer"}, "ace", rationale="BECAUSE"),), "gepa")


def chosen(reply: str, *, live: bool = False) -> ModelChoice:
    """Return the choice that a reply means."""
    chooser = ModelChooser(Asked(lambda _: reply), Learned(POLICY), ("cot", "ace", "gepa"), live)
    name = chooser.choose(SITUATION)
    assert chooser.last is not None
    assert chooser.last.method == name
    return chooser.last


@pytest.mark.parametrize(
    ("task", "capability", "bucket", "score"),
    [
        ("finer", "DK", "hard", 6),
        ("finer", "x", None, 3),
        ("x", "DK", "easy", 2),
        ("x", "x", "hard", 1),
        ("x", "", None, 0),
    ],
)
def test_a_task_counts_three_a_capability_two_a_bucket_one(
    task: str, capability: str, bucket: str | None, score: int
) -> None:
    """Their sum; what neither side has is not shared."""
    experience = Experience("a", "cot", task, capability, bucket)
    assert relevance(experience, SITUATION) == score
    assert relevance(Experience("a", "cot"), Situation()) == 0


def test_the_most_relevant_experiences_come_first_and_equal_ones_keep_their_order() -> None:
    """At most 120."""
    found = [Experience(f"{n}", "cot", ("x", "finer")[n % 2]) for n in range(200)]
    best = relevant(found, SITUATION)
    assert len(best) == 120
    assert [int(each.item) for each in best] == [*range(1, 200, 2), *range(0, 40, 2)]
    assert relevant([], SITUATION) == []


def test_one_call_holds_policy_findings_lessons_and_question() -> None:
    """At temperature 0; nothing of an item but its tags is in a lesson."""
    lessons = (Experience("ITEM", "ace", "finer", bullet="LESSON", diagnosis="SECRET"),)
    model = Asked(lambda _: '{"chosen_agent": "ace"}')
    learned = Learned(POLICY, ("FINDING",), lessons)
    assert ModelChooser(model, learned, ("cot", "ace")).choose(SITUATION) == "ace"
    (request,) = model.requests
    assert model.temperatures == [0.0]
    shown = json.loads(request[request.rindex('\n{"candidates"') :])
    assert shown["candidates"] == ["cot", "ace"]
    assert shown["figures"]["has_table"] is True
    assert all(part in request for part in ("BECAUSE", "FINDING", "LESSON", "WHY?", "| 7 |"))
    assert not any(part in request for part in ("ITEM", "SECRET"))


def test_a_choice_has_reason_rule_and_confidence() -> None:
    """Words around the object, and an alias, are understood; fields of other types are empty."""
    reply = {"chosen_agent": "ace", "reason": "r", "used_rule": 0, "confidence": "high"}
    choice = chosen(f"I take {json.dumps(reply)}.")
    assert choice == ModelChoice("ace", known=True, reason="r", confidence="high")
    model = Asked(lambda _: '{"chosen_agent": "dc"}')
    available = ("cot", "dynamic_cheatsheet")
    assert ModelChooser(model, Learned(POLICY), available).choose(SITUATION) == available[1]


@pytest.mark.parametrize(
    "reply",
    ["", "ace", "{}", '{"chosen_agent": "ACE"}', '{"chosen_agent": ["ace"]}', "[" * 10**5],
)
def test_an_unknown_choice_takes_the_default_and_live_the_first_candidate(reply: str) -> None:
    """As published."""
    assert chosen(reply) == ModelChoice("gepa", known=False)
    assert chosen(reply, live=True) == ModelChoice("cot", known=False)
