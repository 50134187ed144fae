"""Rule routing: each rule of matching, specificity, ties and falling back."""

from typing import Any

import pytest

from policies.llm.methods.build import METHODS
from policies.llm.router.policy import LABELS, Policy, Rule
from policies.llm.router.routing import Route, route
from policies.llm.router.situation import Features, Situation

HARD = Situation("finer", "Domain Knowledge", "hard", Features(10, 100, 6, has_table=True))


def routed(*rules: Any, situation: Situation = HARD, **more: Any) -> Route:
    """Route by these rules, CoT by default."""
    return route(
        Policy.read({"default_agent": "cot", "rules": list(rules)}),
        situation,
        METHODS,
        **more,
    )


def when(choose: str = "ace", /, confidence: Any = "high", **conditions: Any) -> dict[str, Any]:
    """Return a rule; keywords beside the known keys are bounds on features."""
    known = {*LABELS, "feature_conditions"}
    labels = {key: value for key, value in conditions.items() if key in known}
    bounds = {key: value for key, value in conditions.items() if key not in known}
    more = {"feature_conditions": bounds} if bounds else {}
    return {"when": labels | more, "choose": choose, "confidence": confidence}


@pytest.mark.parametrize("value", ["ALL", " All ", " ", None, [], 0])
def test_a_label_that_is_absent_or_all_constrains_nothing(value: Any) -> None:
    """The rule matches with specificity 0, also a question without labels."""
    for key in LABELS:
        for situation in (HARD, Situation(capability=None)):
            (match,) = routed(when(**{key: value}), situation=situation).matching
            assert match.specificity == 0


@pytest.mark.parametrize("value", [["finer"], 3, True])
def test_a_label_that_is_no_text_constrains_nothing_but_counts(value: Any) -> None:
    """As published: any task matches, and the rule is more specific than one without it."""
    found = routed(when("amem", capability="ALL"), when("ace", task_name=value))
    assert (found.method, found.rule) == ("ace", 1)


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({"task_name": " finer\n"}, True),
        ({"task_name": "Finer"}, False),
        ({"difficulty_bucket": "hard", "capability": "Domain Knowledge"}, True),
        ({"difficulty_bucket": "easy", "capability": "Domain Knowledge"}, False),
    ],
)
def test_labels_must_be_equal(conditions: dict[str, str], *, matches: bool) -> None:
    """Capitals matter, spaces around labels do not; all labels must fit."""
    assert bool(routed(when(**conditions)).matching) is matches
    spaced = Situation(" finer", "Domain Knowledge ", "\thard", HARD.features)
    assert bool(routed(when(**conditions), situation=spaced).matching) is matches


def test_a_question_without_a_bucket_matches_no_wanted_bucket() -> None:
    """So the last rule of Table 4 never fires; NA stands for having none."""
    situation = Situation("ConvFinQA", "Complex Reasoning", None, Features())
    assert routed(when(difficulty_bucket="middle"), situation=situation).why == "no_match"
    assert routed(when(difficulty_bucket="NA"), situation=situation).matching[0].specificity == 1
    assert routed(when(difficulty_bucket="NA")).why == "no_match"


@pytest.mark.parametrize(
    ("bounds", "matches"),
    [
        ({"num_numbers_min": 6, "num_numbers_max": 6}, True),
        ({"num_numbers_min": "7"}, False),
        ({"num_numbers_min": 6.5}, False),
        ({"num_numbers_min": "many"}, True),
        ({"num_numbers_min": True}, True),
        ({"num_numbers_min": "inf"}, True),
        ({"num_numbers_min": 10**400}, True),
        ({"has_table": True, "has_code": False}, True),
        ({"has_table": " FALSE "}, False),
        ({"has_table": 0}, True),
        ({"has_table": "omit"}, True),
        ({"has_pictures": True}, True),
    ],
)
def test_bounds_hold_at_their_ends_and_what_is_not_understood_holds(
    bounds: dict[str, Any], *, matches: bool
) -> None:
    """Whatever stands there counts once for specificity; without features nothing holds."""
    found = routed(when(**bounds)).matching
    assert [match.specificity for match in found] == [1] * matches
    assert not routed(when(**bounds), situation=Situation("finer")).matching


@pytest.mark.parametrize("bounds", [{}, None, ["has_table"]])
def test_what_is_no_object_of_bounds_is_none(bounds: Any) -> None:
    """The rule matches without features, with specificity 0."""
    rule = when(feature_conditions=bounds)
    (match,) = routed(rule, situation=Situation("finer")).matching
    assert match.specificity == 0


def test_the_most_specific_rule_decides_and_of_equal_ones_the_first() -> None:
    """Order matters between equals only."""
    general, one = when("amem", capability="Domain Knowledge"), when("debate", task_name="finer")
    two = when("ace", capability="Domain Knowledge", num_numbers_min=1, num_numbers_max=9)
    assert routed(general, one, two).method == "ace"
    assert routed(two, general, one).rule == 0
    assert routed(general, one).method == "amem"
    assert routed(one, general).method == "debate"


@pytest.mark.parametrize(("confidence", "why"), [(" LOW ", "low_confidence"), (None, "rule")])
def test_a_best_rule_of_low_confidence_sends_to_the_default(confidence: Any, why: str) -> None:
    """The next rule is not tried, unless low confidence is allowed to decide."""
    rules = [when("ace", confidence, task_name="finer"), when("amem")]
    found = routed(*rules)
    assert (found.method, found.why) == ("ace" if why == "rule" else "cot", why)
    assert routed(*rules, low_confidence_falls_back=False).method == "ace"


@pytest.mark.parametrize("name", ["DC", "", ["ace"]])
def test_a_best_rule_without_an_available_method_sends_to_the_default(name: Any) -> None:
    """Low confidence is reported first where both hold; the next rule is not tried."""
    rules = [{"when": {"task_name": "finer"}, "choose": name}, when("amem")]
    found = routed(*rules)
    assert (found.method, found.why, found.rule) == ("cot", "agent_missing", 0)
    assert routed({**rules[0], "confidence": "low"}).why == "low_confidence"


@pytest.mark.parametrize(
    ("name", "method"), [("self-refine", "self_refine"), (" dc ", "dynamic_cheatsheet")]
)
def test_methods_have_aliases(name: str, method: str) -> None:
    """In rules and as the default."""
    assert routed(when(name)).method == method
    assert Policy.read({"default_agent": name}).default == method
    assert route(Policy(default=name), HARD, METHODS).method == method


@pytest.mark.parametrize("policy", [{}, {"default_agent": 3}, None])
def test_without_a_default_it_is_ace(policy: Any) -> None:
    """As published; and whether it is available is not checked."""
    assert route(Policy.read(policy), HARD, ("cot",)) == Route("ace", "no_match")


def test_what_is_no_rule_is_skipped_and_keeps_its_place() -> None:
    """A rule without conditions always matches, and rules that are no list are none."""
    for rule in (None, [], {"when": "always"}, {"when": [1]}):
        assert [match.index for match in routed(rule, when("ace")).matching] == [1]
    for rule in ({}, {"when": None}, {"when": []}):
        assert routed(rule | {"choose": "ace"}).method == "ace"
    for rules in (None, "x", {"when": {}}):
        assert Policy.read({"rules": rules, "default_agent": "gepa"}) == Policy(default="gepa")


def test_a_policy_is_read_as_it_was_written() -> None:
    """Rules without conditions included; a margin that is no number is the default."""
    policy = Policy((Rule({"task_name": "x"}, "ace", "low", "why"), Rule(None)), "gepa", "best", 2)
    assert Policy.read(policy.plain()) == policy
    assert Policy.read({"min_margin": float("nan")}).min_margin == 0.01


def test_remarks_name_every_part_without_effect() -> None:
    """One sentence each; a sound policy has none."""
    policy = Policy.read(
        {
            "default_agent": "nobody",
            "rules": [
                {"when": "always", "choose": "ace"},
                when("DC", has_tables=True, num_numbers_min="many"),
                {"when": {"bucket": "hard"}, "choose": "ace"},
                when("ace", has_table="omit", num_numbers_max=None),
            ],
        }
    )
    remarks = policy.remarks(METHODS)
    starts = (
        "rule 0 has no object",
        "rule 1 has the condition 'has_tables'",
        "rule 1 has the bound num_numbers_min='many'",
        "rule 2 has the condition 'bucket'",
        "rule 1 names 'DC'",
        "the default names 'nobody'",
    )
    assert all(map(str.startswith, remarks, starts))
    assert len(remarks) == len(starts)
    assert Policy.read({"default_agent": "cot"}).remarks(["cot"]) == []
