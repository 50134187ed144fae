"""The judge by rubric: a stand-in for a language model, for baselines that must run anywhere.

Its counts can be checked by hand: words of a structure, facts asked for, numbers worked out,
drivers, the recommendation, and length. It does not understand the answers. With the anchors of
reference SPEC section 4, 0 to 3 is for a candidate who hardly speaks or never recommends.
"""

from attrs import frozen

from models.consulting.actions import FIELDS, Verdict
from models.consulting.case import Figure, Rubric
from models.consulting.observation import JudgeView
from models.consulting.rules.recommendation import recommends
from models.consulting.rules.words import found, numbers, words

#: Looked for where a case has no rubric, or its rubric no structure.
STRUCTURE = ("market", "customer", "competition", "revenue", "price", "cost", "capacity", "risk")

#: Words of a structure, and drivers, that count as complete.
_COMPLETE_STRUCTURE, _COMPLETE_DRIVERS = 5, 3

#: Answers in which a structure counts as early.
_EARLY = 2

#: Words an answer may have on average without a deduction; at the word limit the share is 0.
_BRIEF = 150

#: A candidate with fewer words in total hardly speaks, and the most that one can get.
_HARDLY, _WEAK = 40, 3.0

#: Weights of structure, quant, business sense and communication in the overall score.
_WEIGHTS = (0.25, 0.3, 0.3, 0.15)


@frozen
class Findings:
    """Findings in a dialogue, each a share from 0 to 1.

    Attributes:
        structure: Words of a structure in the first answers, of those that count as complete.
        asked: Gated facts that were released; 1 for a case without any.
        numbers: Figures of the rubric worked out; equal to `asked` for a case without figures.
        drivers: Drivers named, of those that count as complete; 1 for a case without any.
        recommendation: 1: right, 0.5: neither right nor wrong by the rubric, 0: wrong or missing.
        brevity: 1: on average at most 150 words an answer, 0: the word limit or more, or silence.
        speaks: Whether the candidate spoke and recommended at all.
    """

    structure: float
    asked: float
    numbers: float
    drivers: float
    recommendation: float
    brevity: float
    speaks: bool


def verdict(view: JudgeView) -> Verdict:
    """Return scores from 0 to 10 for the findings in the dialogue."""
    seen = findings(view)
    four = (
        10 * seen.structure,
        10 * (0.3 * seen.asked + 0.7 * seen.numbers),
        10 * (0.6 * seen.drivers + 0.4 * seen.recommendation),
        10 * seen.brevity,
    )
    overall = sum(weight * each for weight, each in zip(_WEIGHTS, four, strict=True))
    if not seen.speaks:
        overall = min(overall, _WEAK)
    rounded = (round(each, 1) for each in (*four, overall))
    return Verdict(**dict(zip(FIELDS, rounded, strict=True)), feedback=_feedback(view, seen))


def findings(view: JudgeView) -> Findings:
    """Return the findings in the candidate's messages; the interviewer's are not judged."""
    answers = [each.text for each in view.dialogue if each.role == "candidate"]
    said = "\n".join(answers)
    rubric = view.case.rubric or Rubric()
    asked = len(view.released) / len(view.case.gated) if view.case.gated else 1.0
    return Findings(
        structure=_structure(rubric, answers),
        asked=asked if answers else 0.0,
        numbers=_worked_out(rubric.numbers, said) if rubric.numbers else asked,
        drivers=_drivers(rubric, said),
        recommendation=_recommendation(rubric, answers),
        brevity=_brevity(answers, view.word_limit),
        speaks=len(words(said)) >= _HARDLY and any(map(recommends, answers)),
    )


def _structure(rubric: Rubric, answers: list[str]) -> float:
    wanted = rubric.structure or STRUCTURE
    complete = min(len(wanted), _COMPLETE_STRUCTURE)
    return min(1.0, len(found(wanted, "\n".join(answers[:_EARLY]))) / complete)


def _worked_out(figures: tuple[Figure, ...], said: str) -> float:
    given = numbers(said)
    return sum(any(_is_right(each, one) for one in given) for each in figures) / len(figures)


def _is_right(figure: Figure, given: float) -> bool:
    # A loss is often written without its sign, so only the size is compared.
    size = abs(figure.value)
    return abs(given - size) <= figure.tolerance * size


def _drivers(rubric: Rubric, said: str) -> float:
    if not rubric.drivers:
        return 1.0 if said.strip() else 0.0
    named = sum(bool(found(phrases, said)) for phrases in rubric.drivers)
    return min(1.0, named / min(len(rubric.drivers), _COMPLETE_DRIVERS))


def _recommendation(rubric: Rubric, answers: list[str]) -> float:
    """Judge the last message that recommends."""
    given = next((each for each in reversed(answers) if recommends(each)), "")
    if not given or found(rubric.against, given):
        return 0.0
    return 1.0 if found(rubric.recommendation, given) else 0.5


def _brevity(answers: list[str], word_limit: int) -> float:
    """Return 1 up to 150 words an answer, falling to 0 at the limit; silent answers count as 0."""
    spoken = [count for each in answers if (count := len(words(each)))]
    if not spoken:
        return 0.0
    mean = sum(spoken) / len(spoken)
    brief = min(_BRIEF, word_limit / 2)
    left = (word_limit - mean) / (word_limit - brief)
    return min(1.0, max(0.0, left)) * len(spoken) / len(answers)


def _feedback(view: JudgeView, seen: Findings) -> str:
    return (
        f"Structure {seen.structure:.0%}, facts {len(view.released)} of {len(view.case.gated)}, "
        f"numbers {seen.numbers:.0%}, drivers {seen.drivers:.0%}, recommendation "
        f"{seen.recommendation:.0%}, brevity {seen.brevity:.0%}."
    )
