"""The tables of a role: the dialogue, and what that role may know beside it."""

from typing import Any

from attrs import asdict

from models.consulting.state import Interview

__all__ = ["tables"]

_SECONDS = 60

_Rows = list[dict[str, Any]]


def tables(interview: Interview, role: str) -> dict[str, _Rows]:
    """Return the dialogue; the facts for all but the candidate; a judge's own verdict."""
    shown = {"dialogue": _dialogue(interview)}
    if role == "candidate":
        return shown
    shown["facts"] = _facts(interview)
    if role in interview.params.judge_roles:
        shown["verdicts"] = _verdicts(interview, role)
    return shown


def _dialogue(interview: Interview) -> _Rows:
    return [
        {
            "message": number,
            "minute": round(line.time / _SECONDS, 2),
            "role": line.message.role,
            "words": len(line.message.text.split()),
            "text": line.message.text,
        }
        for number, line in enumerate(interview.lines, 1)
    ]


def _facts(interview: Interview) -> _Rows:
    """List the gated facts, with the message in which each was told."""
    told = {telling.fact.topic: telling.message + 1 for telling in interview.tellings}
    return [
        {"topic": fact.topic, "told_in_message": told.get(fact.topic), "fact": fact.fact}
        for fact in interview.case.gated
    ]


def _verdicts(interview: Interview, role: str) -> _Rows:
    given = interview.verdicts.get(role)
    return [{"judge": role, **asdict(given)}] if given else []
