"""The report of an interview: score and metrics, series by round, and the roles' tables."""

from collections.abc import Iterable
from statistics import fmean
from typing import Any

from attrs import asdict

from desim.core.reported import Figures, Periods
from desim.show.column import Column, directed
from models.consulting.params import Weights
from models.consulting.rules.interviewer import leaks
from models.consulting.seats import FIELDS, Verdict
from models.consulting.state import RELEASED, WITHHELD, Interview

_SECONDS = 60

#: The judge by rubric weights shares from 0 to 1 by weights that sum to 1. Verdicts of other judges
#: are not clipped: one off the scale ends a comparison that rests on this range.
FIGURES = Figures(
    columns=directed(
        {},
        higher=(*FIELDS, "mean_of_four"),
        lower=("unscored", "leaks", "messages_over_limit"),
    ),
    series={
        "words_interviewer": Column("words", "Words of the interviewer", "interviewer", "round"),
        "words_candidate": Column("words", "Words of the candidate", "candidate", "round"),
        "facts_released": Column("facts", "Facts told", period="round"),
        "minute": Column("minutes", "Minute at the end", period="round"),
    },
    score_range=(0.0, 10.0),
)


# -- score and metrics -----------------------------------------------------------------------------


def score(interview: Interview) -> float:
    """Return the mean over the judges of the field `score_of`; 0 if no judge gave a number."""
    return _scores(interview)[interview.params.score_of] or 0.0


def metrics(interview: Interview) -> dict[str, Any]:
    """Return the judges' scores, None where none gave a number, and counts of the dialogue."""
    lines, limit = interview.lines, interview.params.word_limit
    words = {"interviewer": 0, "candidate": 0}
    for line in lines:
        words[line.message.role] += line.words
    by_judge = {
        f"{name}_{role}": getattr(given, name)
        for role, given in interview.verdicts.items()
        for name in FIELDS
    }
    return {
        **_scores(interview),
        "unscored": sum(each is None for each in by_judge.values()),
        "answers": interview.messages.balance("candidate"),
        "messages": len(lines),
        "ended_by_interviewer": interview.closed,
        "minutes": lines[-1].time / _SECONDS if lines else 0.0,
        "leaks": leaks(interview.case, interview.dialogue),
        "facts_released": interview.facts.balance(RELEASED),
        "facts_withheld": interview.facts.balance(WITHHELD),
        "facts_unasked": sum(not telling.asked for telling in interview.tellings),
        "words_candidate": words["candidate"],
        "words_interviewer": words["interviewer"],
        "messages_over_limit": sum(line.words > limit for line in lines),
        "case": interview.case.id or f"case_{interview.number:04d}",
        **(by_judge if len(interview.verdicts) > 1 else {}),
    }


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if all are."""
    given = [each for each in values if each is not None]
    return fmean(given) if given else None


def _scores(interview: Interview) -> dict[str, float | None]:
    """Return each field and what may be the score, averaged over the judges."""
    given, params = interview.verdicts.values(), interview.params
    scores = {name: mean(getattr(each, name) for each in given) for name in FIELDS}
    scores["mean_of_four"] = mean(
        mean(getattr(each, name) for name in FIELDS[:4]) for each in given
    )
    if params.score_of == "weighted":
        scores["weighted"] = mean(_weighted(each, params.weights) for each in given)
    return scores


def _weighted(verdict: Verdict, weights: Weights) -> float | None:
    """Return the weighted mean of the fields that have a number; None if their weights are 0."""
    scores = [(weight, getattr(verdict, name)) for name, weight in asdict(weights).items()]
    given = [(weight, each) for weight, each in scores if each is not None]
    total = sum(weight for weight, _ in given)
    return sum(weight * each for weight, each in given) / total if total else None


# -- series and tables -----------------------------------------------------------------------------


def series(interview: Interview) -> dict[str, Periods]:
    """Return one number a round, which is a message of the interviewer and the answer to it.

    A last message of the interviewer is a round without words of the candidate.
    """
    lines = interview.lines
    rounds = [lines[at : at + 2] for at in range(0, len(lines), 2)]
    told = [telling.message // 2 for telling in interview.tellings]
    values = {
        "words_interviewer": [float(each[0].words) for each in rounds],
        "words_candidate": [float(sum(line.words for line in each[1:])) for each in rounds],
        "facts_released": [float(told.count(number)) for number in range(len(rounds))],
        "minute": [each[-1].time / _SECONDS for each in rounds],
    }
    return Periods.each(values, [each[-1].time for each in rounds])


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
