"""What is reported of an interview: score and metrics, series by round, and the roles' tables."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from attrs import asdict

from desim.show.column import Column, directed
from models.consulting.rules.interviewer import leaks
from models.consulting.seats import FIELDS, Verdict
from models.consulting.state import RELEASED, WITHHELD, Interview, Line

_SECONDS = 60

#: Directions of metrics.
METRIC_COLUMNS = directed(
    {},
    higher=(*FIELDS, "mean_of_four"),
    lower=("unscored", "leaks", "messages_over_limit"),
)


# -- score and metrics -----------------------------------------------------------------------------


def score(interview: Interview) -> float:
    """Return the mean over the judges of the field `score_of`; 0 if no judge gave a number."""
    return _figures(interview)[interview.params.score_of] or 0.0


def metrics(interview: Interview) -> dict[str, Any]:
    """Return the judges' scores, the counts of the dialogue, and the scores of several judges.

    A score is None if no judge gave a number: it is left out of the means over cases.
    """
    lines, limit = interview.lines, interview.params.word_limit
    words = {role: sum(e.words for e in lines if e.message.role == role) for role in _SIDES}
    verdicts = interview.verdicts.values()
    return {
        **_figures(interview),
        "unscored": sum(getattr(given, name) is None for given in verdicts for name in FIELDS),
        "answers": interview.messages.balance("candidate"),
        "messages": len(lines),
        "ended_by_interviewer": interview.closed,
        "minutes": lines[-1].time / _SECONDS if lines else 0.0,
        "leaks": len(leaks(interview.case, interview.dialogue)),
        "facts_released": interview.facts.balance(RELEASED),
        "facts_withheld": interview.facts.balance(WITHHELD),
        "facts_unasked": sum(not telling.asked for telling in interview.tellings),
        "words_candidate": words["candidate"],
        "words_interviewer": words["interviewer"],
        "messages_over_limit": sum(line.words > limit for line in lines),
        "case": interview.case.id or f"case_{interview.number:04d}",
        **_by_judge(interview.verdicts),
    }


_SIDES = ("interviewer", "candidate")


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if all are."""
    given = [each for each in values if each is not None]
    return fmean(given) if given else None


def _figures(interview: Interview) -> dict[str, float | None]:
    """Return each field and the mean of the four others than `overall`, averaged over the judges.

    The weighted average is among them where it is the score.
    """
    given, params = interview.verdicts.values(), interview.params
    figures = {name: mean(getattr(each, name) for each in given) for name in FIELDS}
    figures["mean_of_four"] = mean(
        mean(getattr(each, name) for name in FIELDS[:4]) for each in given
    )
    if params.score_of == "weighted":
        figures["weighted"] = mean(_weighted(each, asdict(params.weights)) for each in given)
    return figures


def _weighted(verdict: Verdict, weights: Mapping[str, float]) -> float | None:
    """Return the weighted mean of the fields that have a number; None if their weights are 0."""
    scores = {name: getattr(verdict, name) for name in weights}
    given = [(weights[name], each) for name, each in scores.items() if each is not None]
    whole = sum(weight for weight, _ in given)
    return sum(weight * each for weight, each in given) / whole if whole else None


def _by_judge(verdicts: Mapping[str, Verdict]) -> dict[str, float | None]:
    """Return the fields of each judge; empty with fewer than two judges."""
    if len(verdicts) < 2:  # noqa: PLR2004 (several)
        return {}
    given = verdicts.items()
    return {f"{name}_{role}": getattr(each, name) for role, each in given for name in FIELDS}


# -- series: a round is a message of the interviewer and the answer to it --------------------------

#: Unit and label of every series.
COLUMNS = {
    "words_interviewer": Column("words", "Words of the interviewer", "interviewer", "round"),
    "words_candidate": Column("words", "Words of the candidate", "candidate", "round"),
    "facts_released": Column("facts", "Facts told", period="round"),
    "minute": Column("minutes", "Minute at the end", period="round"),
}


def by_round(interview: Interview) -> dict[str, list[float]]:
    """Return words of both sides, facts released and the minute at the end, one number a round.

    A last message of the interviewer is a round without words of the candidate.
    """
    rounds = _rounds(interview)
    told = [telling.message // 2 for telling in interview.tellings]
    return {
        "words_interviewer": [float(each[0].words) for each in rounds],
        "words_candidate": [float(sum(line.words for line in each[1:])) for each in rounds],
        "facts_released": [float(told.count(number)) for number in range(len(rounds))],
        "minute": [each[-1].time / _SECONDS for each in rounds],
    }


def ticks(interview: Interview) -> list[int]:
    """Return the tick of the last message of each round."""
    return [each[-1].time for each in _rounds(interview)]


def _rounds(interview: Interview) -> list[list[Line]]:
    lines = interview.lines
    return [lines[at : at + 2] for at in range(0, len(lines), 2)]


# -- tables ----------------------------------------------------------------------------------------


def tables(interview: Interview, role: str) -> dict[str, list[dict[str, Any]]]:
    """Return the dialogue; the facts for all but the candidate; a judge's own verdict."""
    dialogue = [
        {
            "message": number,
            "minute": round(line.time / _SECONDS, 2),
            "role": line.message.role,
            "words": line.words,
            "text": line.message.text,
        }
        for number, line in enumerate(interview.lines, 1)
    ]
    if role == "candidate":
        return {"dialogue": dialogue}
    told = {telling.fact.topic: telling.message + 1 for telling in interview.tellings}
    facts = [
        {"topic": fact.topic, "told_in_message": told.get(fact.topic), "fact": fact.fact}
        for fact in interview.case.gated
    ]
    if role not in interview.params.judge_roles:
        return {"dialogue": dialogue, "facts": facts}
    given = interview.verdicts.get(role)
    verdicts = [{"judge": role, **asdict(given)}] if given else []
    return {"dialogue": dialogue, "facts": facts, "verdicts": verdicts}
