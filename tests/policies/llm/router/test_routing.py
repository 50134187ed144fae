"""Rule routing: each rule of matching, specificity, ties and falling back."""

from typing import Any

import pytest

from policies.llm.methods.build import METHODS
from policies.llm.router.policy import BOUNDS, Policy, Rule
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
    known = {"task_name", "capability", "difficulty_bucket", "feature_conditions"}
    labels = {key: value for key, value in conditions.items() if key in known}
    bounds = {key: value for key, value in conditions.items() if key not in known}
    more = {"feature_conditions": bounds} if bounds else {}
    return {"when": labels | more, "choose": choose, "confidence": confidence}


@pytest.mark.parametrize("key", ["task_name", "capability", "difficulty_bucket"])
@pytest.mark.parametrize("value", ["ALL", "all", " All ", "", " ", None, [], {}, 0, False])
def test_a_label_that_is_absent_or_all_constrains_nothing(key: str, value: Any) -> None:
    """The rule matches with specificity 0, also a question without labels."""
    for situation in (HARD, Situation(capability=None)):
        (match,) = routed(when(**{key: value}), situation=situation).matching
        assert match.specificity == 0


@pytest.mark.parametrize("value", [["finer"], {"a": 1}, 3, True])
def test_a_label_that_is_no_text_constrains_nothing_but_counts(value: Any) -> None:
    """As published: any task matches, and the rule is more specific than one without it."""
    found = routed(when("amem", capability="ALL"), when("ace", task_name=value))
    assert (found.method, found.rule) == ("ace", 1)


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({"task_name": "finer"}, True),
        ({"task_name": " finer\n"}, True),
        ({"task_name": "Finer"}, False),
        ({"capability": "domain knowledge"}, False),
        ({"difficulty_bucket": "hard", "capability": "Domain Knowledge"}, True),
        ({"difficulty_bucket": "easy", "capability": "Domain Knowledge"}, False),
    ],
)
def test_labels_must_be_equal(conditions: dict[str, str], *, matches: bool) -> None:
    """Capitals matter, spaces around labels do not; all labels must fit."""
    assert bool(routed(when(**conditions)).matching) is matches
    spaced = Situation(" finer", "Domain Knowledge ", "\thard", HARD.features)
    assert bool(routed(when(**conditions), situation=spaced).matching) is matches


@pytest.mark.parametrize("bucket", ["middle", "none", "na"])
def test_a_question_without_a_bucket_matches_no_wanted_bucket(bucket: str) -> None:
    """So the last rule of Table 4 never fires; NA stands for having none."""
    situation = Situation("ConvFinQA", "Complex Reasoning", None, Features())
    assert routed(when(difficulty_bucket=bucket), situation=situation).why == "no_match"
    assert routed(when(difficulty_bucket="NA"), situation=situation).matching[0].specificity == 1
    assert routed(when(difficulty_bucket="NA")).why == "no_match"


@pytest.mark.parametrize(
    ("bounds", "matches"),
    [
        ({"num_numbers_min": 6, "num_numbers_max": 6}, True),
        ({"num_numbers_min": 7}, False),
        ({"num_numbers_max": 5}, False),
        ({"num_numbers_min": "6"}, True),
        ({"num_numbers_min": "7"}, False),
        ({"num_numbers_min": 6.5}, False),
        ({"num_numbers_min": "many"}, True),
        ({"num_numbers_min": None}, True),
        ({"num_numbers_min": [9]}, True),
        ({"num_numbers_min": True}, True),
        ({"num_numbers_min": "nan"}, True),
        ({"num_numbers_min": "inf"}, True),
        ({"num_numbers_min": 10**400}, True),
        ({"question_chars_max": 9}, False),
        ({"context_chars_min": 101}, False),
        ({"table_row_estimate_max": 0}, True),
        ({"has_table": True, "has_code": False}, True),
        ({"has_table": False}, False),
        ({"has_table": " FALSE "}, False),
        ({"has_table": 0}, True),
        ({"has_code": 1.0, "has_table": 0}, True),
        ({"has_code": "true"}, False),
        ({"has_table": "omit"}, True),
        ({"has_table": "no idea"}, True),
        ({"has_pictures": True}, True),
        ({"num_numbers": 3}, True),
    ],
)
def test_bounds_hold_at_their_ends_and_what_is_not_understood_holds(
    bounds: dict[str, Any], *, matches: bool
) -> None:
    """Whatever stands there counts once for specificity."""
    (*found,) = routed(when(**bounds)).matching
    assert [match.specificity for match in found] == [1] * matches


@pytest.mark.parametrize("bounds", [{"has_table": False}, {"has_table": "omit"}, {"x": 1}])
def test_bounds_need_features(bounds: dict[str, Any]) -> None:
    """Without features no bound holds, not even one that says nothing."""
    assert not routed(when(**bounds), situation=Situation("finer")).matching
    assert routed(when(**bounds), situation=Situation("finer", features=Features())).matching


@pytest.mark.parametrize("bounds", [{}, None, [], "has_table", ["has_table"]])
def test_what_is_no_object_of_bounds_is_none(bounds: Any) -> None:
    """The rule matches without features, with specificity 0."""
    rule = when(feature_conditions=bounds)
    (match,) = routed(rule, situation=Situation("finer")).matching
    assert match.specificity == 0


def test_every_feature_has_its_bounds() -> None:
    """Two flags, and both ends of four counts."""
    assert len(BOUNDS) == len(set(BOUNDS)) == 2 + 2 * 4


def test_the_most_specific_rule_decides_and_of_equal_ones_the_first() -> None:
    """Order matters between equals only."""
    general, one = when("amem", capability="Domain Knowledge"), when("debate", task_name="finer")
    two = when("ace", capability="Domain Knowledge", num_numbers_min=1, num_numbers_max=9)
    assert routed(general, one, two).method == "ace"
    assert routed(two, general, one).rule == 0
    assert routed(general, one).method == "amem"
    assert routed(one, general).method == "debate"
    full = when(task_name="finer", capability="ALL", difficulty_bucket="hard", has_table=True)
    assert [match.specificity for match in routed(two, full).matching] == [2, 3]


@pytest.mark.parametrize("confidence", ["low", "Low", " LOW "])
def test_a_best_rule_of_low_confidence_sends_to_the_default(confidence: str) -> None:
    """The next rule is not tried, unless low confidence is allowed to decide."""
    rules = [when("ace", confidence, task_name="finer"), when("amem")]
    found = routed(*rules)
    assert (found.method, found.why, found.rule) == ("cot", "low_confidence", 0)
    assert routed(*rules, low_confidence_falls_back=False).method == "ace"


@pytest.mark.parametrize("confidence", ["medium", "", None, 0.1, "lowest"])
def test_any_other_confidence_decides(confidence: Any) -> None:
    """Also one that is missing."""
    assert routed(when("ace", confidence)).why == "rule"


@pytest.mark.parametrize("name", ["DC", "oracle", "", None, 3, ["ace"]])
def test_a_best_rule_without_an_available_method_sends_to_the_default(name: Any) -> None:
    """Low confidence is reported first where both hold; the next rule is not tried."""
    rules = [{"when": {"task_name": "finer"}, "choose": name}, when("amem")]
    found = routed(*rules)
    assert (found.method, found.why, found.rule) == ("cot", "agent_missing", 0)
    assert routed({**rules[0], "confidence": "low"}).why == "low_confidence"


@pytest.mark.parametrize(
    ("name", "method"),
    [("self-refine", "self_refine"), ("dc", "dynamic_cheatsheet"), (" ace ", "ace")],
)
def test_methods_have_aliases(name: str, method: str) -> None:
    """In rules and as the default."""
    assert routed(when(name)).method == method
    assert Policy.read({"default_agent": name}).default == method
    assert route(Policy(default=name), HARD, METHODS).method == method


@pytest.mark.parametrize("policy", [{}, {"default_agent": " "}, {"default_agent": 3}, [], None])
def test_without_a_default_it_is_ace(policy: Any) -> None:
    """As published; and whether it is available is not checked."""
    found = route(Policy.read(policy), HARD, ("cot",))
    assert found == Route("ace", "no_match")


@pytest.mark.parametrize("rule", ["always", None, 3, [], {"when": "always"}, {"when": [1]}])
def test_what_is_no_rule_is_skipped_and_keeps_its_place(rule: Any) -> None:
    """The rule behind it is still number 1."""
    found = routed(rule, when("ace"))
    assert [match.index for match in found.matching] == [1]


@pytest.mark.parametrize("rule", [{}, {"when": None}, {"when": {}}, {"when": []}])
def test_a_rule_without_conditions_always_matches(rule: dict[str, Any]) -> None:
    """Its specificity is 0."""
    assert routed(rule | {"choose": "ace"}).method == "ace"


@pytest.mark.parametrize("rules", [None, {}, "x", 3, {"when": {}}])
def test_rules_that_are_no_list_are_none(rules: Any) -> None:
    """The default remains."""
    assert Policy.read({"rules": rules, "default_agent": "gepa"}) == Policy(default="gepa")


@pytest.mark.parametrize("margin", [None, "x", float("nan"), 10**400, []])
def test_a_margin_that_is_no_number_is_the_default(margin: Any) -> None:
    """A hundredth, as in the paper."""
    assert Policy.read({"min_margin": margin}).min_margin == 0.01
    assert Policy.read({"min_margin": 0.5}).min_margin == 0.5


def test_a_policy_is_read_as_it_was_written() -> None:
    """Rules without conditions included."""
    policy = Policy((Rule({"task_name": "x"}, "ace", "low", "why"), Rule(None)), "gepa", "best", 2)
    assert Policy.read(policy.plain()) == policy


def test_remarks_name_every_part_without_effect() -> None:
    """One sentence each; a sound policy has none."""
    policy = Policy.read(
        {
            "default_agent": "nobody",
            "rules": [
                {"when": "always", "choose": "ace"},
                when("DC", capability=["x"], has_tables=True, num_numbers_min="many"),
                {"when": {"bucket": "hard", "feature_conditions": [1]}, "choose": "ace"},
                when("ace", has_table="omit", num_numbers_max=None),
            ],
        }
    )
    remarks = policy.remarks(METHODS)
    starts = ["rule 0 has no object", "rule 1 has no text", "rule 1 has the bound 'has_tables'"]
    starts += ["rule 1 has the bound num_numbers_min='many'", "rule 2 has the condition 'bucket'"]
    starts += ["rule 2 has no object under feature_conditions", "rule 1 names 'DC'"]
    starts += ["the default names 'nobody'"]
    assert [remark.startswith(start) for remark, start in zip(remarks, starts, strict=True)] == (
        [True] * 8
    )
    assert Policy.read({"default_agent": "cot"}).remarks(["cot"]) == []
