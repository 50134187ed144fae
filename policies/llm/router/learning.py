"""Learning a router's policy: experiences are condensed by a model into rules.

Source: reference SPEC of FirmBench, section 6, "Learning". The words of the request are our own.
`tallied` counts instead, without a model: the least that rules written by a model should beat.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from attrs import evolve

from desim.errors import PolicyFailed
from policies.llm.messages import as_json, corrected, request_of
from policies.llm.replies import BadReply, answer_only, objects
from policies.llm.router.experiences import experiences
from policies.llm.router.labels import BUCKETS, CAPABILITIES
from policies.llm.router.policy import BOUNDS, NO_BUCKET, Policy, Rule, unwrapped
from policies.llm.router.predictions import Item, grouped, methods_of, shuffled_in_turn
from policies.llm.wires.wire import Complete, ModelReply

#: Bullets that the synthesiser reads.
_MOST_BULLETS = 600

#: Rules that are kept.
_MOST_RULES = 100


class NoRules(PolicyFailed):
    """No reply of a model held a routing policy."""


def learned_from_lessons(items: Sequence[Item], complete: Complete, retries: int = 2) -> Policy:
    """Return the policy that a model makes of lessons from single answers, as in the paper.

    There is a call for each answer picked, and one for the rules. The published figure learns from
    the items that it is scored on. See `synthesised` for the errors.
    """
    bullets = chosen_bullets(experiences(items, complete))
    return synthesised(bullets, methods_of(items), complete, retries)


def chosen_bullets(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return at most 600 experiences that have a bullet.

    They are taken in turn from all combinations of method, capability, bucket and outcome.
    """
    kinds = grouped(
        (each for each in found if each["bullet"]),
        lambda each: (each["method"], each["capability"], each["bucket"] or "", each["correct"]),
    )
    return shuffled_in_turn(kinds, "{0[item]} {0[method]}".format, _MOST_BULLETS)


def synthesised(
    lessons: Sequence[Mapping[str, Any]],
    methods: Sequence[str],
    complete: Complete,
    retries: int = 2,
) -> Policy:
    """Return the policy that a model makes of experiences.

    A reply without a policy is asked for again, *retries* times. Parts of a policy that have no
    effect are kept, as published, and listed in its `remarks`.

    Raises:
        NoRules: No reply held a policy.
        PolicyFailed: A call brought no reply.
    """
    # The ids of items would say nothing.
    plain = [{k: v for k, v in each.items() if k != "item"} for each in lessons]
    listed = "\n".join(map(as_json, plain)) or "(no lessons)"
    request = request_of(_instructions(methods), listed, 0.0, "memory")
    for _ in range(retries + 1):
        reply = complete(request)
        try:
            return _policy_in(reply)
        except BadReply as bad:
            last = bad
            request = evolve(request, messages=[*request.messages, *corrected(reply, bad)])
    raise NoRules(f"{retries + 1} replies held no routing policy, the last because {last}")


def _policy_in(reply: ModelReply) -> Policy:
    """Return the policy of a reply; BadReply where it holds no object with rules."""
    answer = answer_only(reply)
    if answer.malformed:
        raise BadReply(answer.malformed)
    for each in objects(answer.text):
        policy = unwrapped(each)
        if isinstance(policy, Mapping) and isinstance(policy.get("rules"), list):
            return Policy.read(_storable(policy))
    raise BadReply("your reply holds no JSON object with a policy and its list of rules")


def _storable(policy: Mapping[str, Any]) -> Any:
    """Return a policy with few enough rules, as it is when it has been written and read."""
    few = {**policy, "rules": policy["rules"][:_MOST_RULES]}
    try:
        return msgspec.json.decode(msgspec.json.encode(few))
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        raise BadReply("your policy holds a text, number or depth that no file can hold") from None


def _instructions(methods: Sequence[str]) -> str:
    return (
        "You write the rules by which a router chooses one method for each question, before any "
        "method has answered. You read lessons from answers that were checked, or how many answers "
        "of each method were right. Keep what several lessons or many questions support, drop what "
        "one alone says.\n"
        f"Methods: {', '.join(methods)}.\n"
        "Conditions of a rule, each of which may be left out or ALL: task_name; capability "
        f"({', '.join(CAPABILITIES)}); difficulty_bucket ({', '.join(BUCKETS)}, or {NO_BUCKET} for "
        "questions without); and "
        f"feature_conditions, bounds on the text ({', '.join(BOUNDS)}).\n"
        "Of the rules that match the one with most conditions decides, of equal ones the first. "
        "A rule of low confidence is replaced by the default.\n"
        "Reply with one JSON object:\n"
        '{"findings": ["what you found"], "policy": {"default_agent": "method", '
        '"tie_breaker": "how to decide between equals", "min_margin": 0.01, "rules": [{"when": '
        '{"task_name": "ALL", "capability": "...", "difficulty_bucket": "ALL", '
        '"feature_conditions": {"has_table": true}}, "choose": "method", "rationale": "why", '
        '"confidence": "high, medium or low"}]}}'
    )


def tallied(items: Sequence[Item], least: int = 10) -> Policy:
    """Return the policy that chooses the best method of every cell, and of all items by default.

    Items without a record of every method are left out. A cell of *least* items has a rule. Of
    equally good methods the first by name is chosen.
    """
    methods = methods_of(items)
    whole = [item for item in items if item.predictions.keys() >= set(methods)]
    if not whole:
        return Policy()
    cells = grouped(
        (item for item in whole if item.capability),
        lambda item: (item.capability, item.bucket or ""),
    )
    rules = []
    for capability, bucket in sorted(cells):
        cell = cells[capability, bucket]
        if len(cell) >= least:
            when = {"capability": capability, "difficulty_bucket": bucket or "ALL"}
            why = f"right most often in {len(cell)} items"
            rules.append(Rule(when, _best(cell, methods), "high", why))
    return Policy(tuple(rules), _best(whole, methods))


def _best(items: Sequence[Item], methods: Sequence[str]) -> str:
    """Return the method with most right answers; max() returns the first of equal ones."""
    return max(methods, key=lambda name: sum(item.predictions[name].correct for item in items))
