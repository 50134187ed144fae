"""Candidates that need no language model: one who works with a framework, and two who do badly."""

from typing import ClassVar

from attrs import frozen

from desim import Policy
from models.consulting.seats import CandidateView, Reply
from policies.heuristics.consulting.problems import OPENING, Problem, problem_in
from policies.heuristics.consulting.quantities import quantities


@frozen
class Silent(Policy):
    """Says nothing: the floor."""

    def decide(self, _: CandidateView) -> Reply:
        """Return an empty answer."""
        return Reply("")


@frozen
class DataHungry(Policy):
    """Asks for everything at once, again and again, and never recommends anything."""

    EVERYTHING: ClassVar[str] = (
        "Can you tell me everything about the market, customers, competitors, prices, costs, "
        "capacity, investment and risks?"
    )
    MORE: ClassVar[tuple[str, ...]] = (
        "Do you have more data on the market and on sales?",
        "Do you have more data on price and cost?",
        "Do you have more data on competitors and customers?",
        "Do you have more data on capacity and investment?",
        "Do you have more data on risks and regulation?",
    )

    def decide(self, seen: CandidateView) -> Reply:
        """Return the next request for data."""
        answers = len(seen.dialogue) // 2
        return Reply(self.MORE[(answers - 1) % len(self.MORE)] if answers else self.EVERYTHING)


@frozen
class Framework(Policy):
    """States a structure, asks by dimension, computes, and recommends with reasons.

    The kind of problem is recognised from the first message; see `problems.py`. It asks at most
    five questions, and recommends earlier if its recommendation is wanted in two messages.
    """

    # Its six kinds of problem are those of the shipped cases, with their formulas.
    knows = "rules"

    QUESTIONS: ClassVar[int] = 5
    PATIENCE: ClassVar[int] = 2

    def decide(self, seen: CandidateView) -> Reply:
        """Return the structure, what the last answer means, the next question, or the end."""
        said = [each.text for each in seen.dialogue if each.role == "interviewer"]
        own = " ".join(each.text for each in seen.dialogue if each.role == "candidate")
        problem = problem_in(said[0])
        keys = (OPENING, *problem.questions)
        answers = {key: quantities(text) for key, text in zip(keys, said, strict=False)}
        new = [each for each in problem.results(answers) if each not in own]
        if self._recommends(problem, said):
            return Reply(" ".join([*new, problem.recommendation]))
        number = len(said) - 1
        asked = [*problem.questions.values()][number]
        return Reply(" ".join([*([] if number else [problem.structure]), *new, asked]))

    def _recommends(self, problem: Problem, said: list[str]) -> bool:
        asked = min(self.QUESTIONS, len(problem.questions))
        wanted = sum("recommendation" in each.lower() for each in said[1:])
        return len(said) > asked or wanted >= self.PATIENCE
