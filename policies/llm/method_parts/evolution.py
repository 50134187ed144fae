"""Evolution of prompts: candidates, who among them is worth another try, and the loop.

Source: reference SPEC of FirmBench, section 5 (GEPA), and its vectors.
"""

import random
import re
from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from policies.llm.method_parts.playbook import object_in

#: Items that may be scored in one evolution.
BUDGET = 150

#: Items of a mini-batch.
BATCH = 2

#: Probability of drawing among the leaders, and then of drawing one instead of merging them.
EXPLOIT, DRAW_ONE = 0.95, 0.9

#: Prompts that are taken from one reply, and characters of each.
_PROMPTS, _LONGEST = 20, 8_000

#: The beginning of a list item: a bullet or a number.
_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


class Draws:
    """The random draws of an evolution.

    Args:
        seed: A number or text; the same one gives the same draws everywhere.
    """

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)  # noqa: S311 (no secret)

    def sample(self, count: int, size: int, /) -> list[int]:
        """Return *size* different numbers below *count*."""
        return self._random.sample(range(count), size)

    def uniform(self) -> float:
        """Return a number of at least 0 and below 1."""
        return self._random.random()

    def weighted(self, among: Sequence[int], weights: Sequence[float], /) -> int:
        """Return one of some numbers, by weight."""
        return self._random.choices(list(among), weights=list(weights))[0]

    def pick(self, count: int, /) -> int:
        """Return a number below *count*."""
        return self._random.randrange(count)


@frozen
class Candidate:
    """A prompt and its scores over the Pareto set.

    Attributes:
        prompt: The prompt.
        scores: One an item.
        parents: The candidates it was made from; none for one that was given.
    """

    prompt: str
    scores: tuple[float, ...]
    parents: tuple[int, ...] = ()

    @property
    def mean(self) -> float:
        """The mean score; 0 over no items."""
        return mean(self.scores)


@frozen(kw_only=True)
class Step:
    """The result of one round of the loop.

    Attributes:
        selected: The candidate that was tried.
        strategy: How it was selected: exploit-max, exploit-normal, exploit-merge, explore.
        accepted: Whether a new prompt joined the candidates.
        batch_mean: The selected candidate's mean over the mini-batch.
        new_mean: The new prompt's mean; None if the round made no new prompt.
        budget_left: Items that may still be scored; it may be below 0.
    """

    selected: int
    strategy: str
    accepted: bool
    batch_mean: float
    new_mean: float | None
    budget_left: int


def leaders(scores: Sequence[Sequence[float]]) -> tuple[list[int], list[float]]:
    """Return the candidates worth another try, and their weights.

    These are best on some item and not dominated: no other is at least as good on every item and
    better on one. The weight is the share of items led.

    >>> leaders([[1, 1], [1, 0]])
    ([0], [1.0])
    """
    led = [0] * len(scores)
    for column in zip(*scores, strict=True):
        for index, score in enumerate(column):
            led[index] += score == max(column)
    kept = [
        index
        for index, own in enumerate(scores)
        if led[index] and not any(_dominates(other, own) for other in scores)
    ]
    total = sum(led[index] for index in kept)
    return kept, [led[index] / total for index in kept]


def best_of(means: Sequence[float]) -> int:
    """Return the index of the highest mean, the first one among equals."""
    return max(range(len(means)), key=lambda index: (means[index], -index))


def prompts_in(reply: str) -> list[str]:
    """Return the prompts of a reflector's reply: those of its JSON list, else one a line."""
    found = object_in(reply)
    listed = found.get("list_candidate_prompts") if found else None
    if isinstance(listed, list):
        given = [each.get("candidate_prompt") for each in listed if isinstance(each, dict)]
    else:
        given = [_MARK.sub("", line) for line in reply.splitlines()]
    texts = [text.strip()[:_LONGEST] for text in given if isinstance(text, str)]
    return [text for text in texts if text][:_PROMPTS]


@define(eq=False, kw_only=True)
class Evolution:
    """The loop over candidates.

    Attributes:
        feedback: Number of items of the feedback set.
        score_pareto: Scores a prompt on the items of the Pareto set.
        score_feedback: Scores a prompt on some items of the feedback set.
        propose: Returns prompts made from one and its scores on some items of the feedback set.
        merge: Returns prompts made from several.
        draws: The random draws.
        budget: Items that may be scored. What was begun is finished, so it may fall below 0.
        batch: Items of a mini-batch.
        exploit: Probability of drawing among the leaders.
        draw_one: Probability, with several leaders, of drawing one instead of merging them.
    """

    feedback: int
    score_pareto: Callable[[str], Sequence[float]]
    score_feedback: Callable[[str, Sequence[int]], Sequence[float]]
    propose: Callable[[str, Sequence[int], Sequence[float]], list[str]]
    merge: Callable[[Sequence[str]], list[str]]
    draws: Draws
    budget: int = BUDGET
    batch: int = BATCH
    exploit: float = EXPLOIT
    draw_one: float = DRAW_ONE
    candidates: list[Candidate] = field(factory=list)
    steps: list[Step] = field(factory=list)

    def run(self, prompts: Sequence[str]) -> Candidate:
        """Evolve from some prompts and return the candidate with the highest mean."""
        for prompt in prompts:
            self._join(prompt)
        while self.budget > 0 and self.feedback:
            self._round()
        return self.candidates[best_of([each.mean for each in self.candidates])]

    def _join(self, prompt: str, *parents: int) -> None:
        """Score a prompt on the Pareto set and add it."""
        scores = tuple(self.score_pareto(prompt))
        self.budget -= len(scores)
        self.candidates.append(Candidate(prompt, scores, parents))

    def _round(self) -> None:
        batch = self.draws.sample(self.feedback, min(self.batch, self.feedback))
        selected, strategy = self._select()
        prompt = self.candidates[selected].prompt
        before = self._batch_scores(prompt, batch)
        proposed = self.propose(prompt, batch, before)
        new_mean, accepted = None, False
        if proposed:
            new_mean = mean(self._batch_scores(proposed[0], batch))
            accepted = new_mean >= mean(before) and self.budget > 0
        if accepted:
            self._join(proposed[0], selected)
        self.steps.append(
            Step(
                selected=selected,
                strategy=strategy,
                accepted=accepted,
                batch_mean=mean(before),
                new_mean=new_mean,
                budget_left=self.budget,
            )
        )

    def _batch_scores(self, prompt: str, batch: Sequence[int]) -> Sequence[float]:
        self.budget -= len(batch)
        return self.score_feedback(prompt, batch)

    def _select(self) -> tuple[int, str]:
        """Return the candidate to try, and how it was selected."""
        if self.draws.uniform() >= self.exploit:
            return self.draws.pick(len(self.candidates)), "explore"
        kept, weights = leaders([each.scores for each in self.candidates])
        if len(kept) == 1:
            return kept[0], "exploit-max"
        if self.draws.uniform() < self.draw_one or not (merged := self._merged(kept)):
            return self.draws.weighted(kept, weights), "exploit-normal"
        # A merged prompt joins unscored, so that it counts only through what is made of it.
        zero = (0.0,) * len(self.candidates[0].scores)
        self.candidates.append(Candidate(merged, zero, tuple(kept)))
        return len(self.candidates) - 1, "exploit-merge"

    def _merged(self, kept: Sequence[int]) -> str:
        return next(iter(self.merge([self.candidates[index].prompt for index in kept])), "")


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def mean(scores: Sequence[float]) -> float:
    """Return the mean; 0 of no scores."""
    return sum(scores) / len(scores) if scores else 0.0
