"""Experiences: what one answer of one method teaches about when to choose that method.

Source: reference SPEC of FirmBench, section 6, "Learning". The words of the request are our own.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from policies.llm.messages import as_json, request_of
from policies.llm.replies import answer_only, objects
from policies.llm.router.policy import text_of
from policies.llm.router.predictions import Item, grouped, methods_of, shuffled_in_turn
from policies.llm.wires.wire import Complete

#: Answers of each method that are reflected on, in each task.
_MOST_ANSWERS = 50

#: Characters of a question or an answer and of a context that the model reads, and of a text that
#: it writes.
_QUESTION, _CONTEXT, _TEXT = 2_000, 3_500, 600

#: Names in a hint.
_MOST_NAMES = 10

_REQUEST = (
    "You study how agent methods answer questions, to learn which method suits which question. You "
    "read one question, the answer of one method, the right answer and the labels of the question. "
    "Find out why the method was right or wrong here, and what that says about questions of this "
    "kind. Name no entity, number or text of this question: the lesson must serve others.\n"
    "Reply with one JSON object:\n"
    '{"bullet": "the lesson in one sentence", "diagnosis": "what went right or wrong", '
    '"routing_hint": {"prefer": ["methods"], "avoid": ["methods"], "when": "kind of question"}, '
    '"confidence": "high, medium or low"}'
)


def picked(items: Iterable[Item]) -> list[tuple[Item, str]]:
    """Return the answers to reflect on: for each task and method at most 50.

    They are taken in turn from all combinations of capability, bucket and right or wrong.
    """
    found = []
    tasks = grouped(items, lambda item: item.task)
    for task in sorted(tasks):
        for method in methods_of(tasks[task]):
            answered = [item for item in tasks[task] if method in item.predictions]
            kinds = grouped(answered, partial(_kind, method))
            mixed = shuffled_in_turn(kinds, attrgetter("id"), _MOST_ANSWERS)
            found += [(item, method) for item in mixed]
    return found


def _kind(method: str, item: Item) -> tuple[str, str, bool]:
    return item.capability, item.bucket or "", item.predictions[method].correct


def experiences(items: Iterable[Item], complete: Complete) -> list[dict[str, Any]]:
    """Return one experience for each answer that `picked` chooses, by a call of the model each.

    It holds the labels and the outcome of the item, and the words of the model: the lesson
    (`bullet`, empty if the reply held none), why the answer was right or wrong, methods to prefer
    and to avoid for which kind of question, and how sure the model is.
    """
    return [_reflected(item, method, complete) for item, method in picked(items)]


def _reflected(item: Item, method: str, complete: Complete) -> dict[str, Any]:
    reply = complete(request_of(_REQUEST, as_json(_described(item, method)), 0.0, "memory"))
    found = objects(answer_only(reply).text)
    lesson = next((each for each in found if _storable(each.get("bullet"))), {})
    given = lesson.get("routing_hint")
    hint = given if isinstance(given, Mapping) else {}
    return {
        "item": item.id,
        "method": method,
        "task": item.task,
        "capability": item.capability,
        "bucket": item.bucket,
        "correct": item.predictions[method].correct,
        "bullet": _storable(lesson.get("bullet")),
        "diagnosis": _storable(lesson.get("diagnosis")),
        "prefer": _names(hint, "prefer"),
        "avoid": _names(hint, "avoid"),
        "when": _storable(hint.get("when")),
        "confidence": _storable(lesson.get("confidence")),
    }


def _described(item: Item, method: str) -> dict[str, Any]:
    """Return the text for the model; only there it sees a gold answer."""
    prediction = item.predictions[method]
    return {
        "method": method,
        "task": item.task,
        "capability": item.capability,
        "difficulty": item.bucket,
        "question": item.question[:_QUESTION],
        "context": item.context[:_CONTEXT],
        "answer": prediction.answer[:_QUESTION],
        "right_answer": item.gold[:_QUESTION],
        "was_right": prediction.correct,
    }


def _names(hint: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts of a list, or a single text as a list of one; the paper has KEY_agent."""
    value = hint.get(key, hint.get(f"{key}_agent"))
    listed = value if isinstance(value, list) else [value]
    return [text for each in listed[:_MOST_NAMES] if (text := _storable(each))]


def _storable(value: Any) -> str:
    """Return a text without half a surrogate pair, which no file can hold; else an empty one."""
    return text_of(value)[:_TEXT].encode("utf-8", "replace").decode()
