"""An interview by round: a message of the interviewer and the answer to it."""

from models.consulting.state import Interview, Line

__all__ = ["by_round"]

_SECONDS = 60


def by_round(interview: Interview) -> dict[str, list[float]]:
    """Return words of both sides, facts told and the minute at the end, one number a round.

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


def _words(line: Line) -> float:
    return float(len(line.message.text.split()))
