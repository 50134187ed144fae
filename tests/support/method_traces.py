"""Replays the published call traces of agent methods against ours.

A trace holds the scripted replies of every call, in order, and what each call's prompt contained.
The model here gives these replies; markers in its prompts say what they contain.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pytest
from attrs import define, field
from support.paths import REFERENCE

from desim.schema.arguments import parameters
from models.edt.actions import Window
from models.edt.planning import DecisionLimits
from models.reasoning.item import from_row
from models.reasoning.scoring.extraction import MARKER, extract
from models.reasoning.scoring.grade import grade
from policies.llm.messages import system, user
from policies.llm.methods.items import Answered, Grade, Item, Outcome
from policies.llm.methods.method import Method
from policies.llm.methods.notes import BadNote
from policies.llm.methods.similar import Vectors
from policies.llm.options import LearningMode
from policies.llm.wires.wire import Message, ModelReply, Request

#: Markers of what a game, a dialogue and a plan show.
OWN, CASE = "OWNMARK", "CASEMARK text"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
PROJECTS = "PROJECTMARK list"

#: The limits of a decision in the traces' invented scenario.
LIMITS = DecisionLimits(9, 0.8, 40, (Window(0, 20), Window(8, 40)))

#: The invented figures of the first runs of a plan.
_FIGURES = (
    "accumulated_earnings",
    "accumulated_revenue",
    "accumulated_expenses",
    "overall_profit_margin",
    "overall_avg_utilization",
)
_RUNS = (
    (654321.25, 900000.5, 245679.25, 0.727, 0.91),
    (-1200.75, 500.5, 1701.25, -2.4, 0.31),
)
METRICS = tuple(dict(zip(_FIGURES, values, strict=True)) for values in _RUNS)

#: What a flag of a trace means: a text that the prompt then contains.
FLAGS = {
    **{f"{word}_interviewer_message": f"IMARK{word}" for word in ORDINALS},
    "own_earlier_reply": OWN,
    "case_text": CASE,
    "project_list": PROJECTS,
    **{f"earnings_of_run_{n}": str(values[0]) for n, values in enumerate(_RUNS, 1)},
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


def observation(week: int) -> str:
    """Return what a stage of a game shows in a week."""
    return f"WEEKMARK{week}. inventory 4"


_NUMBERS = {"two": 2, "three": 3, "four": 4}

#: Keys of a run other than its parameters.
_STATED = {
    *("id", "scenario", "note", "mode", "order", "items", "steps", "cases", "calls", "result"),
    *("wrong_items", "number_of_calls", "events", "final_state", "run_ends_with_exception"),
    *("random_draws", "config", "settings"),
}

#: Parameters of a run by pattern, and our names of them, the first that fits; None: it changes no
#: call of a run in a window or alone (those of the service, of draws and of offline runs).
_PARAMETERS = (
    (r"test_workers|json_mode|max_tokens|python_random_seed|feedback_ratio|num_initial", None),
    (r"online_eval_frequency|(eval_)?window(_size)?", "window"),
    (r"mini_batch(_size)?", "batch"),
    (r"batch_size", "notes_window"),
    (r"no_ground_truth", "hides_gold"),
    (r"seed_prompt|start_prompt", "start"),
    (r"window_budget|(playbook_)?token_budget|playbook_budget", "budget"),
    (r"budget", None),
    (r"exploit_prob", "exploit"),
    (r"merge_prob", "draw_one"),
    (r"(num_)?(experts|agents)", "experts"),
    (r"curat\w*", "period"),
    (r"evo\w*|rebuild\w*", "every"),
    (r"\w*depth\w*", "runs"),
    (r"\w*rounds?\w*|max_retries", "rounds"),
    (r"(\w+_)?k|\w*(similar|neighbou?rs|retriev)\w*", "nearest"),
)


def settings_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a run under our names; an unknown one fails the test.

    Dialogues and games have theirs in the id alone ("two_rounds").
    """
    given = {key: value for key, value in run.items() if key not in _STATED}
    word = re.search(r"^(?!code).*_(two|three|four)_rounds", run["id"])
    found: dict[str, Any] = {"rounds": _NUMBERS[word[1]]} if word else {}
    for name, value in {**given, **run.get("config", {}), **run.get("settings", {})}.items():
        fits = [ours for pattern, ours in _PARAMETERS if re.fullmatch(pattern, name)]
        assert fits, f"a run has an unknown parameter {name}={value}"
        if fits[0] is not None:
            found[fits[0]] = value
    return found


class NoContent(BadNote):
    """The service returned no content; a note for which it did is lost."""


@define
class Replayed:
    """A `complete` that gives the replies of a trace, and compares each prompt with it.

    Attributes:
        calls: The calls of the trace.
        targets: The right answers of the items, the first one first.
        fails: Whether a call of a role fails without content, as in the published code.
        made: How many calls have been made.
        differences: What is not as in the trace.
    """

    calls: Sequence[Mapping[str, Any]]
    targets: Sequence[str] = ()
    fails: Callable[[str], bool] = lambda _: False
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
        if call["reply"] is None and self.fails(call["role"]):
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


class Log:
    """What a method's memory was after every change, and its evolutions."""

    def __init__(self) -> None:
        self.memories: list[Any] = []
        self.evolutions: list[Any] = []
        self.failed = False

    def of(self, method: type[Method]) -> type[Method]:
        """Return a class of the method that writes to this log once it is built.

        As published, a window is answered to its end before a failed call of it ends the run.
        """
        log = self

        class Logging(method):  # type: ignore[misc, valid-type]
            """The method, with a log."""

            def __setattr__(self, name: str, value: Any) -> None:
                super().__setattr__(name, value)
                if name == "memory":
                    log.memories.append(value)
                if name == "last":
                    log.evolutions.append(value)

            def answered(self, item: Item, grade: Grade) -> Answered:
                try:
                    answered: Answered = super().answered(item, grade)
                except NoContent:
                    log.failed = True
                    return Answered(item, ModelReply(), Outcome(correct=False))
                return answered

            def learn(self, window: Sequence[Answered], grade: Grade) -> None:
                log.check()
                super().learn(window, grade)

        return Logging

    def check(self, _: Sequence[Answered] = ()) -> None:
        """Raise NoContent if a call of a window has failed."""
        if self.failed:
            raise NoContent


Made = TypeVar("Made", bound=Method)


def built(method: type[Made], **given: Any) -> Made:
    """Return a method with its arguments and the attributes that are set at a seat."""
    kind: Any = method
    made: Made = kind(**{name: given.pop(name) for name in parameters(kind) if name in given})
    for name, value in given.items():
        setattr(made, name, value)
    return made


def asking(question: str, context: str = "", instructions: str = "", number: int = 0) -> Item:
    """Return the item of a question in text."""
    told = [system(instructions)] if instructions else []
    about = [user(context)] if context else []
    return Item.of(Request([*told, *about, user(question)]), "questions", number)


def items_of(run: Mapping[str, Any]) -> list[Item]:
    """Return the questions of a run."""
    return [
        asking(each["question"], each["context"], "Answer as JSON.", number)
        for number, each in enumerate(run["items"], 1)
    ]


def grade_of(run: Mapping[str, Any], *, raw: str = "never") -> Any:
    """Return the scorer of a run: that of programs, so that numbers are right within one percent.

    Args:
        run: The run.
        raw: Whether replies are scored as they are: never, always, or where no answer is found.
    """

    def scored(item: Item, reply: ModelReply) -> Outcome:
        target = run["items"][item.number - 1]["target"]
        row = {"id": "q", "task": "FinCode", "question": item.question, "target": target}
        nothing = raw == "fallback" and extract(reply.text) == MARKER
        graded = grade(from_row(row), reply.text, extracts=raw != "always" and not nothing)
        answer = MARKER if nothing else graded.extracted
        correct = bool(graded.correct)
        return Outcome(answer=answer, correct=correct, score=float(correct), gold=target)

    return scored


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
    messages = [system("You are interviewed."), user(f"IMARK{ORDINALS[0]}")]
    for word in ORDINALS[1:reply]:
        messages += [{"role": "assistant", "content": OWN}, user(f"IMARK{word}")]
    return messages


def answer_stream(
    method: Method,
    items: Sequence[Item],
    grade: Grade,
    *,
    mode: LearningMode = "online",
    window: int | None = None,
    train: Sequence[Item] = (),
) -> list[Answered]:
    """Answer questions and score them, learning as the mode says.

    Args:
        method: The method; its memory changes.
        items: The questions, numbered from 1.
        grade: Scores a reply; learning may score further replies.
        mode: One of `LEARNING_MODES`.
        window: Items answered before the memory changes; None for the method's own number.
        train: In the mode offline: the questions to learn from, which are not scored.

    Returns:
        The first answer to each item, in order; only these count.
    """
    if mode == "offline":
        method.learns = True
        with method.learning():
            method.begin_stream(train)
            method.learn_apart(train, grade)
    method.learns = mode == "online" or (mode == "eval_only" and method.learns_always)
    with method.learning():
        method.begin_stream(items)
    answered: list[Answered] = []
    size = max(1, window or method.WINDOW) if mode == "online" else 1
    for start in range(0, len(items), size):
        part = items[start : start + size]
        done = [method.answered(item, grade) for item in part]
        answered += done
        if method.learns:
            with method.learning():
                method.learn(done, grade)
    return answered


def compare_notes(method: Any, wanted: list[Mapping[str, Any]]) -> None:
    """Compare notes; a context made of their origin is worded by us."""
    assert len(method.memory.notes) == len(wanted)
    for note, each in zip(method.memory.notes, wanted, strict=True):
        assert list(note.keywords) == each["keywords"]
        assert list(note.tags) == each["tags"]
        assert list(note.links) == each["links"]
        if not re.match(r"\w+: .* \| \w+: ", each["context"]):
            assert note.context == each["context"]
        for flag, marker in (("contains_case_text", CASE), ("contains_reply_text", "RTOK")):
            if flag in each:
                assert (marker in note.content) == each[flag]


def runs(*, components: bool) -> list[Any]:
    """Return the runs of all trace files, or a skipped case where there is no file.

    Args:
        components: Whether to return those of parts of a method, or those of whole methods.
    """
    files = sorted(REFERENCE.glob("firmbench/vectors/method_traces_*.json"))
    found = [
        pytest.param(trace, run, id=f"{trace['method']}-{run['id']}")
        for trace in (json.loads(file.read_text(encoding="utf-8")) for file in files)
        for run in trace["runs"]
        if components == run["id"].startswith(("component", "consulting_style_search"))
    ]
    why = "no reference data firmbench/vectors: set DESIM_REFERENCE to its folder"
    return found or [pytest.param({}, {}, marks=pytest.mark.skip(reason=why), id="absent")]
