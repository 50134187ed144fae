"""The judge by rubric: a stand-in for a language model, for baselines that must run anywhere.

It counts within limits, so that a text that says everything is worth little. The anchor of 0 to 3
is that of reference SPEC section 4.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import astuple, frozen

from desim import Option
from models.consulting.case import Case, Figure, Rubric
from models.consulting.params import Weights
from models.consulting.rules.words import (
    content,
    found,
    numbers,
    quantities,
    recommends,
    sentences,
    words,
)
from models.consulting.seats import FIELDS, JudgeView, Message, Verdict

#: Looked for where a case has no rubric, or its rubric no structure.
STRUCTURE = ("market", "customer", "competition", "revenue", "price", "cost", "capacity", "risk")

#: Further words of which structures of other cases are made.
OTHERS = (
    *("demand", "investment", "capability", "profit", "target", "synergies", "integration"),
    *("alternative", "value", "effect", "budget", "supplier", "product", "channel", "people"),
    *("process", "technology", "regulation", "growth", "time", "quality", "volume", "culture"),
)

# What counts, and for how much; all of it is invented here.
_EARLY = 2  # answers in which a structure is early
_BRANCHES = 12  # of a structure; twice as many are a list of words, and count 0
_COMPLETE_STRUCTURE = 5  # words of a structure
_COMPLETE_DRIVERS = 3
_GROUNDS = 6  # sentences in a row, the recommending one among them, of which each names a driver
_NAMED = 1 / 3  # share of the words of a figure's name with which a sentence is about it
_ROUNDED = 0.01  # relative error within which a number quotes another, or follows from two
_LOSS = 0.5  # of a figure, for a wrong number or an unfounded one beyond those allowed
_BRIEF = 150  # words of an answer, on average, without a deduction
_HARDLY = 40  # words in all; who says fewer hardly speaks
_WEAK = 3.0  # points at most of who hardly speaks, never recommends or works nothing out


@frozen
class Claims:
    """The numbers that a candidate stated, by kind, as the README defines them."""

    right: frozenset[str]  # names of figures of the rubric
    founded: int
    wrong: int
    unfounded: int


@frozen
class Findings:
    """Findings in a dialogue, each a share from 0 to 1, as the README defines them.

    Attributes:
        recommendation: 1: right, 0.5: neither right nor wrong by the rubric, 0: wrong or missing.
        speaks: Whether the candidate spoke and recommended at all.
        has_ground: Whether a figure of the rubric was worked out, where it has figures.
    """

    structure: float
    asked: float
    numbers: float
    drivers: float
    recommendation: float
    brevity: float
    speaks: bool
    has_ground: bool
    claims: Claims


def verdict(view: JudgeView) -> Verdict:
    """Return scores from 0 to 10 for the findings in the dialogue."""
    seen = findings(view)
    four = (
        10 * seen.structure,
        10 * (0.3 * seen.asked + 0.7 * seen.numbers),
        10 * (0.6 * seen.drivers + 0.4 * seen.recommendation),
        10 * seen.brevity,
    )
    overall = sum(weight * each for weight, each in zip(astuple(Weights()), four, strict=True))
    if not (seen.speaks and seen.has_ground):
        overall = min(overall, _WEAK)
    rounded = (round(each, 1) for each in (*four, overall))
    return Verdict(**dict(zip(FIELDS, rounded, strict=True)), feedback=_feedback(view, seen))


def options(view: JudgeView) -> list[Option]:
    """Return the verdict by rubric, and the lowest one."""
    return [
        Option(verdict(view), 1.0, note="by rubric"),
        Option(Verdict(0, 0, 0, 0, 0), 0.0, note="nothing to be scored"),
    ]


def findings(view: JudgeView) -> Findings:
    """Return the findings in the candidate's messages; the interviewer's are not judged."""
    answers = [each.text for each in view.dialogue if each.role == "candidate"]
    said = "\n".join(answers)
    last = next((each for each in reversed(answers) if recommends(each)), "")
    rubric = view.case.rubric or Rubric()
    asked = len(view.released) / len(view.case.gated) if view.case.gated else 1.0
    stated = claims(rubric.numbers, view.case, view.dialogue)
    return Findings(
        structure=_structure(rubric, answers),
        asked=asked if answers else 0.0,
        numbers=_worked_out(stated, len(rubric.numbers)) if rubric.numbers else asked,
        drivers=_drivers(rubric, last) if rubric.drivers else float(bool(said.strip())),
        recommendation=_recommendation(rubric, last),
        brevity=_brevity(answers, view.word_limit),
        speaks=len(words(said)) >= _HARDLY and bool(last),
        has_ground=bool(stated.right) or not rubric.numbers,
        claims=stated,
    )


def _structure(rubric: Rubric, answers: list[str]) -> float:
    wanted = rubric.structure or STRUCTURE
    complete = min(len(wanted), _COMPLETE_STRUCTURE)
    first = "\n".join(answers[:_EARLY])
    branches = len(found(tuple({*wanted, *STRUCTURE, *OTHERS}), first))
    fits = min(1.0, max(0.0, 2 - branches / _BRANCHES))
    return fits * min(1.0, len(found(wanted, first)) / complete)


def _worked_out(stated: Claims, figures: int) -> float:
    """Return the share of the figures; as many unfounded numbers as figures are allowed."""
    without = stated.wrong + max(0, stated.unfounded - figures)
    return max(0.0, len(stated.right) - _LOSS * without) / figures


def _drivers(rubric: Rubric, recommendation: str) -> float:
    """Return the share of the drivers that a recommendation gives as grounds."""
    given = sentences(recommendation)
    at = next((place for place, each in enumerate(given) if recommends(each)), 0)
    starts = range(max(0, at - _GROUNDS + 1), at + 1)
    named = max(_named(rubric, given[start : start + _GROUNDS]) for start in starts)
    return min(1.0, named / min(len(rubric.drivers), _COMPLETE_DRIVERS))


def _named(rubric: Rubric, grounds: Sequence[str]) -> int:
    """Return the number of drivers that sentences name, one for each sentence."""
    left = list(rubric.drivers)
    for each in grounds:
        if driver := next((phrases for phrases in left if found(phrases, each)), None):
            left.remove(driver)
    return len(rubric.drivers) - len(left)


def _recommendation(rubric: Rubric, given: str) -> float:
    if not given or found(rubric.against, given):
        return 0.0
    return 1.0 if found(rubric.recommendation, given) else 0.5


def _brevity(answers: list[str], word_limit: int) -> float:
    """Return 1 up to 150 words an answer, falling to 0 at the limit; silent answers count as 0."""
    spoken = [count for each in dict.fromkeys(answers) if (count := len(words(each)))]
    if not spoken:
        return 0.0
    mean = sum(spoken) / len(spoken)
    brief = min(_BRIEF, word_limit / 2)
    left = (word_limit - mean) / (word_limit - brief)
    return min(1.0, max(0.0, left)) * len(spoken) / len(answers)


def _feedback(view: JudgeView, seen: Findings) -> str:
    stated = seen.claims
    return (
        f"Structure {seen.structure:.0%}, facts {len(view.released)} of {len(view.case.gated)}, "
        f"numbers {seen.numbers:.0%} ({len(stated.right)} right, {stated.wrong} wrong, "
        f"{stated.unfounded} unfounded), drivers {seen.drivers:.0%}, recommendation "
        f"{seen.recommendation:.0%}, brevity {seen.brevity:.0%}."
    )


# -- the numbers that a candidate states -----------------------------------------------------------


def claims(figures: Sequence[Figure], case: Case, dialogue: Sequence[Message]) -> Claims:
    """Return the claims of a dialogue, each number judged by what was known when it was said."""
    known, right, counts = numbers(case.opening), set[str](), Counter[str]()
    for message in dialogue:
        if message.role == "interviewer":
            known += numbers(message.text)
        else:
            for sentence in sentences(message.text):
                right |= _claimed(sentence, figures, known, counts)
    return Claims(frozenset(right), counts["founded"], counts["wrong"], counts["unfounded"])


def _claimed(
    sentence: str, figures: Sequence[Figure], known: list[float], counts: Counter[str]
) -> set[str]:
    """Count the numbers of a sentence, add what is known from now on, and return right figures."""
    if not (said := quantities(sentence)):
        return set()
    topics = content(sentence)
    named = [each for each in figures if _is_about(topics, each)]
    right = {each.name for each in named if any(_is_right(each, forms) for forms in said)}
    results = [forms for forms in said if any(_is_right(each, forms) for each in named)]
    others = [forms for forms in said if forms not in results]
    grounds = [forms[-1] for forms in others if _is_one_of(forms, known)]
    counts["founded"] += len(grounds)
    for forms in others:
        if _is_one_of(forms, known):
            continue
        if _is_one_of(forms, [*_results(grounds)]):
            counts["founded"] += 1
            known.append(forms[-1])
        else:
            counts["wrong" if named and not right else "unfounded"] += 1
    known += [forms[-1] for forms in results]
    return right


def _is_about(topics: frozenset[str], figure: Figure) -> bool:
    wanted = frozenset(word for word in content(figure.name) if word[1:] and word.isalpha())
    return not wanted or len(wanted & topics) >= _NAMED * len(wanted)


def _is_right(figure: Figure, forms: Sequence[float]) -> bool:
    # A loss is often written without its sign, so only the size is compared.
    return _is_one_of(forms, [abs(figure.value)], figure.tolerance)


def _results(known: Sequence[float]) -> Iterator[float]:
    """Yield the sums, differences, products and ratios of two known numbers."""
    for place, a in enumerate(known):
        for b in known[:place]:
            yield from (a + b, abs(a - b), a * b)
            if a and b:
                yield from (a / b, b / a)


def _is_one_of(forms: Sequence[float], known: Sequence[float], tolerance: float = _ROUNDED) -> bool:
    return any(abs(one - each) <= tolerance * abs(each) for one in forms for each in known)
