"""The tables of a role: the dialogue, and the facts or the verdict that the role may see.

An interview by round: a message of the interviewer and the answer to it.
"""

from typing import Any

from attrs import asdict

from desim.show.column import Column
from models.consulting.state import Interview, Line

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
    """List the gated facts, with the message that released each."""
    told = {telling.fact.topic: telling.message + 1 for telling in interview.tellings}
    return [
        {"topic": fact.topic, "told_in_message": told.get(fact.topic), "fact": fact.fact}
        for fact in interview.case.gated
    ]


def _verdicts(interview: Interview, role: str) -> _Rows:
    given = interview.verdicts.get(role)
    return [{"judge": role, **asdict(given)}] if given else []


def by_round(interview: Interview) -> dict[str, list[float]]:
    """Return words of both sides, facts released and the minute at the end, one number a round.

    A last message of the interviewer is a round without words of the candidate.
    """
    lines = interview.lines
    rounds = [lines[at : at + 2] for at in range(0, len(lines), 2)]
    told = [telling.message // 2 for telling in interview.tellings]
    return {
        "words_interviewer": [_words(each[0]) for each in rounds],
        "words_candidate": [sum(map(_words, each[1:])) for each in rounds],
        "facts_released": [float(told.count(number)) for number in range(len(rounds))],
        "minute": [each[-1].time / _SECONDS for each in rounds],
    }


#: Unit and label of every series.
COLUMNS = {
    "words_interviewer": Column("words", "Words of the interviewer", "interviewer", "round"),
    "words_candidate": Column("words", "Words of the candidate", "candidate", "round"),
    "facts_released": Column("facts", "Facts told", period="round"),
    "minute": Column("minutes", "Minute at the end", period="round"),
}


def ticks(interview: Interview) -> list[int]:
    """Return the tick of the last message of each round."""
    lines = interview.lines
    return [lines[at : at + 2][-1].time for at in range(0, len(lines), 2)]


def _words(line: Line) -> float:
    return float(len(line.message.text.split()))
