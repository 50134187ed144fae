"""The published interview loop, message by message: reference vectors, README items 11 and 18.

How a language model's reply becomes an action is its policy's business; here the recorded replies
of interviewer and judge are given as actions.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from desim import Episode, Policy, play
from desim.errors import PolicyFailed
from models.consulting import CandidateView, Case, Consulting, Reply, Say, Verdict
from models.consulting.processes import STOP
from models.consulting.report import mean
from models.consulting.seats import END, FIELDS, InterviewerView, JudgeView

#: What the vectors write for a fixed sentence of the original.
STOCK = "(STOCK SENTENCE)"


@define
class Script:
    """The recorded calls of a run in order, and what our world does in their place."""

    calls: Iterator[dict[str, Any]]
    hooks: list[list[Any]] = field(factory=list)
    seen: list[tuple[dict[str, Any], InterviewerView | JudgeView]] = field(factory=list)

    def next(self, role: str, view: InterviewerView | JudgeView) -> str:
        """Return the reply of the next call, which must be to this role."""
        call = next(self.calls)
        assert call["role"] == role
        self.seen.append((call, view))
        return call["reply"] or ""


@define
class Interviewer(Policy):
    """Says what was recorded."""

    script: Script

    def decide(self, view: InterviewerView) -> Say:
        """Return the recorded message."""
        return Say(self.script.next("interviewer", view))


@define
class Judge(Policy):
    """Gives the recorded scores."""

    script: Script

    def decide(self, view: JudgeView) -> Verdict:
        """Return the recorded verdict; a reply without content is one without numbers."""
        reply = self.script.next("judge", view)
        if not reply:
            return Verdict()
        start, end = reply.find("{"), reply.rfind("}")
        try:
            given = json.loads(reply[start : end + 1])
        except ValueError:
            return Verdict(0, 0, 0, 0, 0)
        scores = {name: given.get(name) for name in FIELDS}
        numbers = {n: v for n, v in scores.items() if type(v) in (int, float)}
        return Verdict(**numbers, feedback=str(given.get("feedback", "")))


@define
class Candidate(Policy):
    """Answers what was recorded, notes when it is called, and raises when the record ends."""

    script: Script
    answers: list[str]
    case_id: str = ""

    def start(self, case_id: str) -> None:
        """Note the start of an interview."""
        self.case_id = case_id
        self.script.hooks.append(["start", case_id])

    def decide(self, view: CandidateView) -> Reply:
        """Return the recorded answer."""
        assert view.case_id == self.case_id
        self.script.hooks.append(["reply", view.case_id, len(view.dialogue)])
        if not self.answers:
            raise RuntimeError
        return Reply(self.answers.pop(0))

    def after(self, episode: Episode) -> None:
        """Note the end of the interview."""
        figures = episode.result.metrics  # type: ignore[union-attr]
        ended = int(figures["ended_by_interviewer"])
        self.script.hooks.append(["end", self.case_id, figures["messages"], ended])


def cases_of(run: dict[str, Any]) -> tuple[Case, ...]:
    """The cases of a run; ids that repeat or are missing stay missing."""
    return tuple(
        Case(
            id=each.get("case_id", ""),
            opening=each.get("opening", ""),
            document=each["case_text"],
        )
        for each in run["cases"]
    )


def interviews(run: dict[str, Any]) -> tuple[Script, list[Episode | None]]:
    """Hold every interview of a run; None stands for one that raised."""
    script, model = Script(iter(run["calls"])), Consulting(cases=cases_of(run))
    recorded = {each["case_index"]: each["history"] for each in run["interviews"]}
    held: list[Episode | None] = []
    for number in range(len(run["cases"])):
        said = [m["content"] for m in recorded.get(number, ()) if m["role"] == "candidate"]
        candidate = Candidate(script, said)
        candidate.start(model.loaded_cases[number].id or "unknown_case")
        policies = {
            "interviewer": Interviewer(script),
            "candidate": candidate,
            "judge": Judge(script),
        }
        try:
            episode = play(model, policies, number)
        except PolicyFailed:
            held.append(None)
            continue
        candidate.after(episode)
        held.append(episode)
    return script, held


def runs(trace: Path) -> list[dict[str, Any]]:
    """The runs of the vectors."""
    given: list[dict[str, Any]] = json.loads(trace.read_text())["runs"]
    return given


def dialogue(episode: Episode) -> list[dict[str, str]]:
    """The stored dialogue, as the judge observed it."""
    view: JudgeView = next(s.observation for s in episode.steps if s.role == "judge")
    return [{"role": each.role, "content": each.text} for each in view.dialogue]


def shown(message: dict[str, str]) -> dict[str, str]:
    """A message of the vectors; our polite stop is worded differently."""
    is_stop = message == {"role": "interviewer", "content": STOCK}
    return {**message, "content": STOP} if is_stop else message


@pytest.mark.traces("firmbench/vectors/consulting_interview_traces.json")
def test_calls_come_in_the_published_order_with_the_published_budget(trace: Path) -> None:
    """Each call is to the same role, sees the same budget, and no end token."""
    for run in runs(trace):
        script, _ = interviews(run)
        assert list(script.calls) == [], run["id"]
        for call, view in script.seen:
            texts = [message.text for message in view.dialogue]
            assert not any(END in text for text in texts) or call["end_token_in_dialogue_shown"]
            assert view.case.text in {each["case_text"] for each in run["cases"]}
            assert call["contains"]["interviewer_message_1"] == bool(texts)
            assert call["contains"]["candidate_message_1"] == (len(texts) > 1)
            if isinstance(view, InterviewerView):
                assert view.messages_left == call["messages_left"], run["id"]
                assert bool(view.case.opening) == call["contains"]["opening"]
                assert view.first == (not texts)


@pytest.mark.traces("firmbench/vectors/consulting_interview_traces.json")
def test_the_candidate_is_called_when_the_published_one_was(trace: Path) -> None:
    """At the start of a case, for each answer, and at the end with messages and who ended it."""
    for run in runs(trace):
        script, _ = interviews(run)
        assert script.hooks == run["candidate_hook_log"], run["id"]


@pytest.mark.traces("firmbench/vectors/consulting_interview_traces.json")
def test_dialogues_and_scores_are_the_published_ones(trace: Path) -> None:
    """Including the interviews without scores, and those that failed."""
    for run in runs(trace):
        _, held = interviews(run)
        failed = {each["case_index"] for each in run["failed"]}
        assert {at for at, each in enumerate(held) if each is None} == failed
        for theirs in run["interviews"]:
            ours = held[theirs["case_index"]]
            assert ours is not None
            assert ours.result is not None
            assert dialogue(ours) == [*map(shown, theirs["history"])], run["id"]
            metrics, scores = ours.result.metrics, theirs["judge_scores"]
            assert metrics["case"] == theirs["case_id"]
            for name in FIELDS:
                given = scores.get(name)
                number = given if type(given) in (int, float) else None
                assert metrics[name] == number, run["id"]
            # A judge that sets the loop's own fields has no effect here: README, "Differences".
            judged = " ".join(c["reply"] or "" for c in run["calls"] if c["role"] == "judge")
            for name, ours_by in (("turns_used", "messages"), ("ended_by_interviewer",) * 2):
                if name not in judged:
                    assert metrics[ours_by] == scores[name], run["id"]


@pytest.mark.traces("firmbench/vectors/consulting_interview_traces.json")
def test_means_over_cases_are_the_published_ones(trace: Path) -> None:
    """Failed cases are left out, and a missing number in its field only."""
    for run in runs(trace):
        _, held = interviews(run)
        rows = [each.result.metrics for each in held if each and each.result]
        summary = run["summary"]
        assert (len(held), len(rows)) == (summary["num_cases"], summary["num_finished"])
        for name, expected in summary["metrics"].items():
            assert mean(row[name] for row in rows) == pytest.approx(expected), run["id"]
