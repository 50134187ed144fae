"""Texts that know the shipped rubrics by heart, and nothing of the case at hand, score little."""

from collections.abc import Iterator

import pytest
from attrs import frozen

from desim import Policy, play
from models.consulting import Consulting
from models.consulting.case import Case, Rubric
from models.consulting.case_file import shipped
from models.consulting.seats import CandidateView, Reply

CASES = shipped()


def union() -> str:
    """Return one text with the words of all rubrics: structures, recommendations and drivers."""
    structures = ", ".join(sorted({word for case in CASES for word in _rubric(case).structure}))
    right = "; ".join(_rubric(case).recommendation[0] for case in CASES)
    drivers = " ".join(
        f"Because of {phrases[0]}." for case in CASES for phrases in _rubric(case).drivers
    )
    return f"I would look at {structures}. I recommend: {right}. {drivers}"


def grid() -> str:
    """Return numbers from 1 to 60 million, one or two per cent apart, with every figure's name."""
    values = sorted({float(f"{10 ** (step / 56):.3g}") for step in range(436)})
    names = " ".join(figure.name for case in CASES for figure in _rubric(case).numbers)
    return f"{names} " + " ".join(f"{value:,.2f}" for value in values)


def _rubric(case: Case) -> Rubric:
    assert case.rubric
    return case.rubric


@frozen
class Says(Policy):
    """Gives the same answer each time, or one of several in turn."""

    answers: tuple[str, ...]

    def decide(self, seen: CandidateView) -> Reply:
        """Return the next answer."""
        return Reply(self.answers[len(seen.dialogue) // 2 % len(self.answers)])


def asked() -> Iterator[str]:
    """Yield the text with a question for a topic of some case, another each time."""
    for case in CASES:
        yield f"{union()} What about {case.gated[0].topic} and {case.gated[1].topic}?"


@pytest.mark.parametrize(
    "answers",
    [(union(),), (grid(),), (f"{union()} {grid()}",), (*asked(),)],
    ids=["words", "numbers", "both", "words and questions"],
)
def test_a_constant_text_scores_little(answers: tuple[str, ...]) -> None:
    """At most 3 of 10 on average over all cases (8.9 before claims were judged)."""
    scores = [play(Consulting(), Says(answers), seed=seed).score for seed in range(len(CASES))]
    assert sum(scores) / len(scores) <= 3
