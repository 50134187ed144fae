"""Score and metrics of an interview: means over the judges, and counts of the dialogue."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from attrs import asdict

from desim.show.column import directed
from models.consulting.actions import FIELDS, Verdict
from models.consulting.observation import Speaker
from models.consulting.rules.leaks import leaks
from models.consulting.state import Interview

#: The fields of the paper's average.
FOUR = FIELDS[:4]


def score(interview: Interview) -> float:
    """Return the mean over the judges of the field `score_of`; 0 if no judge gave a number."""
    return _figures(interview)[interview.params.score_of] or 0.0


#: Directions of metrics.
METRIC_COLUMNS = directed(
    {},
    higher=(*FIELDS, "mean_of_four"),
    lower=("unscored", "leaks", "messages_over_limit"),
)


def metrics(interview: Interview) -> dict[str, Any]:
    """Return the judges' scores, the counts of the dialogue, and the scores of several judges.

    A score is None if no judge gave a number: it is left out of the means over cases.
    """
    return {
        **_figures(interview),
        "unscored": sum(
            _score_in(v, name) is None for v in _verdicts(interview) for name in FIELDS
        ),
        "answers": interview.sent_by("candidate"),
        "messages": len(interview.lines),
        "ended_by_interviewer": interview.closed,
        "minutes": interview.minutes,
        "leaks": len(leaks(interview.case, interview.dialogue)),
        "facts_released": interview.facts_released,
        "facts_withheld": interview.facts_withheld,
        "facts_unasked": sum(not telling.asked for telling in interview.tellings),
        "words_candidate": _words(interview, "candidate"),
        "words_interviewer": _words(interview, "interviewer"),
        "messages_over_limit": _over_limit(interview),
        "case": interview.case_id,
        **_by_judge(interview),
    }


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if all are."""
    given = [each for each in values if each is not None]
    return fmean(given) if given else None


def _figures(interview: Interview) -> dict[str, float | None]:
    """Return each field and the mean of the four, averaged over the judges."""
    given, params = _verdicts(interview), interview.params
    fields = {name: mean(_score_in(each, name) for each in given) for name in FIELDS}
    figures = {**fields, "mean_of_four": mean(map(_mean_of_four, given))}
    if params.score_of == "weighted":
        figures["weighted"] = mean(_weighted(each, asdict(params.weights)) for each in given)
    return figures


def _by_judge(interview: Interview) -> dict[str, float | None]:
    """Return the fields of each judge; empty with fewer than two judges."""
    if len(interview.verdicts) < 2:  # noqa: PLR2004 (several)
        return {}
    given = interview.verdicts.items()
    return {f"{name}_{role}": _score_in(each, name) for role, each in given for name in FIELDS}


def _mean_of_four(verdict: Verdict) -> float | None:
    return mean(_score_in(verdict, name) for name in FOUR)


def _weighted(verdict: Verdict, weights: Mapping[str, float]) -> float | None:
    """Return the weighted mean of the fields that have a number; None if their weights are 0."""
    given = [
        (w, each) for name, w in weights.items() if (each := _score_in(verdict, name)) is not None
    ]
    whole = sum(weight for weight, _ in given)
    return sum(weight * each for weight, each in given) / whole if whole else None


def _score_in(verdict: Verdict, name: str) -> float | None:
    value: float | None = getattr(verdict, name)
    return value


def _verdicts(interview: Interview) -> list[Verdict]:
    return list(interview.verdicts.values())


def _words(interview: Interview, speaker: Speaker) -> int:
    return sum(len(text.split()) for text in interview.said_by(speaker))


def _over_limit(interview: Interview) -> int:
    limit = interview.params.word_limit
    return sum(len(line.message.text.split()) > limit for line in interview.lines)
