"""Features and rule routing against the published code's answers, case by case."""

import json
from typing import Any

import pytest
from attrs import asdict
from support.paths import REFERENCE

from policies.llm.router.policy import Policy, canonical, table_4
from policies.llm.router.routing import route
from policies.llm.router.situation import Features, Situation, features_of

VECTORS = REFERENCE / "firmbench" / "vectors" / "router_vectors.json"
PUBLISHED = REFERENCE / "published" / "firmbench.json"

#: Abbreviations of Table 4.
CAPABILITY = {
    "IE": "Information Extraction",
    "DK": "Domain Knowledge",
    "NC": "Numerical Calculation",
    "CR": "Complex Reasoning",
}


def cases(kind: str) -> list[Any]:
    """Return one parameter a case, or one that is skipped with the reason."""
    if not VECTORS.exists():
        why = "no router vectors: set DESIM_REFERENCE to the folder that holds the reference data"
        return [pytest.param({}, marks=pytest.mark.skip(reason=why), id="absent")]
    return [pytest.param(case, id=case["id"]) for case in json.loads(VECTORS.read_text())[kind]]


@pytest.mark.parametrize("case", cases("features"))
def test_features_are_the_published_ones(case: dict[str, Any]) -> None:
    """Every figure of the text, and the count of numbers with the live agent's defect."""
    text = case["question"], case["context"]
    assert asdict(features_of(*text)) == case["features"]
    defective = features_of(*text, as_published_live=True)
    assert defective.num_numbers == case["num_numbers_in_live_agent"]


@pytest.mark.parametrize("case", cases("routing"))
def test_routes_are_the_published_ones(case: dict[str, Any]) -> None:
    """The method, why, the rule that decides, and all rules that match."""
    sample = case["sample"]
    given = {name: value or 0 for name, value in (sample["features"] or {}).items()}
    features = Features(**given) if given else None
    found = route(
        Policy.read(case["policy"]),
        Situation(sample["task"], sample["capability"], sample["bucket"], features),
        case["available"],
        low_confidence_falls_back=case["low_confidence_falls_back"],
    )
    assert asdict(found) == {
        "method": case["chosen"],
        "why": case["why"],
        "rule": case["deciding_rule_index"],
        "matching": tuple(case["matching_rules"]),
    }


@pytest.mark.skipif(not PUBLISHED.exists(), reason="no published data: set DESIM_REFERENCE")
def test_table_4_ships_as_it_is_printed() -> None:
    """The five rules in their order, and the default."""
    rows = json.loads(PUBLISHED.read_text())["tables"]["table_4"]["rows"]
    *rules, last = [{k: v["value"] for k, v in row["values"].items()} for row in rows]
    policy = table_4()
    assert [printed(rule.when or {}, rule.choose) for rule in policy.rules] == rules
    assert last["domain"] == "any"
    assert canonical(last["agent"].lower()) == policy.default


def printed(when: Any, choose: str) -> dict[str, str]:
    """Return a rule in the words of the table."""
    short = {name: letters for letters, name in CAPABILITY.items()}
    agent = {"dynamic_cheatsheet": "DC", "discussion": "Discussion"}.get(choose, choose.upper())
    conditions = [
        *(f"Difficulty: {when[k].capitalize()}" for k in ("difficulty_bucket",) if k in when),
        *(f"Task: {when[k]}" for k in ("task_name",) if k in when),
        *when.get("feature_conditions", {}),
    ]
    return {
        "domain": short[when["capability"]],
        "condition": ", ".join(conditions),
        "agent": agent,
    }
