"""Replays the published call traces of agent methods against ours.

A trace holds the scripted replies of every call, in order, and what each call's prompt contained.
The model here gives these replies; markers in its prompts say what they contain.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from policies.llm.chat.messages import system, user
from policies.llm.method_parts.embedding import Vectors
from policies.llm.method_parts.items import Item, Outcome
from policies.llm.wires.wire import Message, ModelReply, Request

#: Markers of what a game, a dialogue and a plan show.
FIRST, SECOND, OWN, CASE = "IMARKfirst", "IMARKsecond", "OWNMARK", "CASEMARK text"
PROJECTS = "PROJECTMARK list"

#: The invented figures of the two runs of a plan.
METRICS = (
    {
        "accumulated_earnings": 654321.25,
        "accumulated_revenue": 900000.5,
        "accumulated_expenses": 245679.25,
        "overall_profit_margin": 0.727,
        "overall_avg_utilization": 0.91,
    },
    {
        "accumulated_earnings": -1200.75,
        "accumulated_revenue": 500.5,
        "accumulated_expenses": 1701.25,
        "overall_profit_margin": -2.4,
        "overall_avg_utilization": 0.31,
    },
)

#: What a flag of a trace means: a text that the prompt then contains.
FLAGS = {
    "first_interviewer_message": FIRST,
    "second_interviewer_message": SECOND,
    "own_earlier_reply": OWN,
    "case_text": CASE,
    "project_list": PROJECTS,
    "earnings_of_run_1": "654321.25",
    "earnings_of_run_2": "-1200.75",
    "decision_of_run_1": "0.3711",
    "decision_of_run_2": "0.4822",
    "any_cheatsheet_text": "CSMARK",
    "playbook_bullet_text": "PBMARK",
    "playbook_section_heading": "## SIDE-NOTES LIST",
    "ran_output_42": "```\n42\n```",
    **{f"observation_of_week_{week}": f"WEEKMARK{week}." for week in range(1, 53)},
}

#: Lists of a trace's call: a pattern whose matches in the prompt are their entries.
LISTS = {
    "questions_of_items": r"QMARK(\d+)",
    "contexts_of_items": r"CMARK(\d+)",
    "replies_of_calls": r"RTOK(\d{3})",
}

NOTHING = "No final answer found"

_TOKEN = re.compile(r"RTOK\d+")


def observation(week: int) -> str:
    """Return what a stage of a game shows in a week."""
    return f"WEEKMARK{week}. inventory 4"


class NoContent(Exception):
    """The service returned no content."""


@define
class Replayed:
    """A `complete` that gives the replies of a trace, and compares each prompt with it.

    Attributes:
        calls: The calls of the trace.
        targets: The right answers of the items, the first one first.
        raises: Whether a call without content ends the run, as in the published code.
        made: How many calls have been made.
        differences: What is not as in the trace.
    """

    calls: Sequence[Mapping[str, Any]]
    targets: Sequence[str] = ()
    raises: bool = False
    made: int = 0
    differences: list[str] = field(factory=list)

    def __call__(self, request: Request) -> ModelReply:
        """Return the next reply of the trace."""
        assert self.made < len(self.calls), "a call more than in the trace"
        call = self.calls[self.made]
        self.made += 1
        text = json.dumps([m["content"] for m in request.messages], ensure_ascii=False).replace(
            "\\n", "\n"
        )
        self._compare(call, text.replace('\\"', '"'), request.temperature)
        if call["reply"] is None and self.raises:
            raise NoContent
        return ModelReply(call["reply"] or "")

    def done(self) -> None:
        """Check that every call was made and everything was as in the trace."""
        assert self.differences == [], "\n".join(self.differences)
        assert self.made == len(self.calls)

    def _compare(self, call: Mapping[str, Any], text: str, temperature: float | None) -> None:
        name = f"call {call['n']} ({call['role']})"
        if temperature != call["temperature"]:
            self.differences.append(f"{name}: temperature {temperature}, {call['temperature']}")
        for key, wanted in call["contains"].items():
            found = self._found(key, text)
            if found != (sorted(wanted) if key == "scores_given" else wanted):
                self.differences.append(f"{name}: {key} {found}, in the trace {wanted}")

    def _found(self, key: str, text: str) -> Any:
        if key in LISTS:
            return sorted({int(number) for number in re.findall(LISTS[key], text)})
        if key in FLAGS:
            return FLAGS[key] in text
        if key == "gold_of_items":
            return [n for n, target in enumerate(self.targets, 1) if target in text]
        if key == "prompt_of_candidate":
            found = re.findall(r"PROMPT\w+", text)
            return found[0] if found else None
        if key == "prompts":
            return sorted(set(re.findall(r"PROMPT\w+", text)))
        if key == "scores_given":
            return sorted(re.findall(r"^Score: (\d\.\d+)", text, re.MULTILINE))
        raise AssertionError(f"a trace's call has an unknown key {key}")


def items_of(run: Mapping[str, Any]) -> list[Item]:
    """Return the questions of a run."""
    return [
        Item.asking(each["question"], each["context"], "Answer as JSON.", number)
        for number, each in enumerate(run["items"], 1)
    ]


def grade_of(run: Mapping[str, Any], *, raw: str = "never") -> Any:
    """Return the scorer of a run: numbers are right within one percent.

    Args:
        run: The run.
        raw: Whether replies are scored as they are: never, always, or where no answer is found.
    """

    def grade(item: Item, reply: ModelReply) -> Outcome:
        target = run["items"][item.number - 1]["target"]
        answer = reply.text if raw == "always" else _extracted(reply.text)
        scored = reply.text if raw == "fallback" and answer == NOTHING else answer
        truth, given = _number(target), _predicted(scored)
        correct = given is not None and truth is not None and abs(given - truth) <= abs(truth) / 100
        return Outcome(answer=answer, correct=correct, score=float(correct), gold=target)

    return grade


def _extracted(text: str) -> str:
    """Return the answer of a reply; the rules of the reference SPEC as far as traces need them."""
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict):
        return str(whole.get("final_answer", NOTHING))
    found = re.findall(r'"final_answer":\s*"([^"]*)"', text)
    return found[-1] if found else NOTHING


def _predicted(text: str) -> float | None:
    """Return the number of an answer: that in brackets, else the first one."""
    found = re.findall(r"\[\[(.*)\]\]", text)
    return _number(found[0] if len(found) == 1 else text)


def _number(text: str) -> float | None:
    match = re.search(r"[+-]?\d[\d,.]*", text)
    return float(match[0].replace(",", "").rstrip(".")) if match else None


def sixty_four(texts: Sequence[str]) -> Vectors:
    """Return the vectors that the traces were made with."""
    vectors = np.zeros((len(texts), 64))
    for row, text in zip(vectors, texts, strict=True):
        for word in re.findall(r"[a-z0-9]+", text.lower()):
            digest = hashlib.sha256(word.encode()).digest()
            row[int.from_bytes(digest[:4], "big") % 64] += 1 if digest[4] % 2 == 0 else -1
    return vectors


def dialogue(reply: int) -> list[Message]:
    """Return the messages before the n-th reply of a dialogue."""
    messages = [system("You are interviewed."), user(FIRST)]
    if reply > 1:
        messages += [{"role": "assistant", "content": OWN}, user(SECOND)]
    return messages
