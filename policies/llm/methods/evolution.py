"""Evolution of prompts: candidates, who among them is worth another try, and the loop.

Source: reference SPEC of FirmBench, section 5 (GEPA), and its vectors.
"""

import random
import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from attrs import define, field, frozen

from policies.llm.methods.playbook import object_in

T = TypeVar("T")

#: Prompts that are taken from one reply, and characters of each.
_PROMPTS, _LONGEST = 20, 8_000

#: The beginning of a list item: a bullet or a number.
_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


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
        new_mean: The new prompt's mean over the mini-batch; None if the round made no new prompt.
        budget_left: Items that may still be scored; it may be below 0.
    """

    selected: int
    strategy: str
    accepted: bool
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
class Evolution(Generic[T]):
    """The loop over candidates.

    Attributes:
        pareto: The items on which candidates are compared.
        feedback: The items of which mini-batches are drawn.
        score: Scores a prompt on some items.
        propose: Returns prompts made from one and its scores on some items.
        merge: Returns prompts made from several.
        draws: The random draws.
        budget: Items that may be scored. What was begun is finished, so it may fall below 0.
        batch: Items of a mini-batch.
        exploit: Probability of drawing among the leaders.
        draw_one: Probability, with several leaders, of drawing one instead of merging them.
    """

    pareto: Sequence[T]
    feedback: Sequence[T]
    score: Callable[[str, Sequence[T]], Sequence[float]]
    propose: Callable[[str, Sequence[T], Sequence[float]], list[str]]
    merge: Callable[[Sequence[str]], list[str]]
    draws: random.Random
    budget: int
    batch: int
    exploit: float
    draw_one: float
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
        scores = tuple(self._scores(prompt, self.pareto))
        self.candidates.append(Candidate(prompt, scores, parents))

    def _scores(self, prompt: str, items: Sequence[T]) -> Sequence[float]:
        self.budget -= len(items)
        return self.score(prompt, items)

    def _round(self) -> None:
        size = min(self.batch, len(self.feedback))
        batch = [self.feedback[n] for n in self.draws.sample(range(len(self.feedback)), size)]
        selected, strategy = self._select()
        prompt = self.candidates[selected].prompt
        before = self._scores(prompt, batch)
        proposed = self.propose(prompt, batch, before)
        new_mean, accepted = None, False
        if proposed:
            new_mean = mean(self._scores(proposed[0], batch))
            accepted = new_mean >= mean(before) and self.budget > 0
        if accepted:
            self._join(proposed[0], selected)
        step = Step(
            selected=selected,
            strategy=strategy,
            accepted=accepted,
            new_mean=new_mean,
            budget_left=self.budget,
        )
        self.steps.append(step)

    def _select(self) -> tuple[int, str]:
        """Return the candidate to try, and how it was selected."""
        if self.draws.random() >= self.exploit:
            return self.draws.randrange(len(self.candidates)), "explore"
        kept, weights = leaders([each.scores for each in self.candidates])
        if len(kept) == 1:
            return kept[0], "exploit-max"
        if self.draws.random() < self.draw_one or not (merged := self._merged(kept)):
            return self.draws.choices(kept, weights)[0], "exploit-normal"
        # A merged prompt joins unscored, so that it counts only through what is made of it.
        zero = (0.0,) * len(self.pareto)
        self.candidates.append(Candidate(merged, zero, tuple(kept)))
        return len(self.candidates) - 1, "exploit-merge"

    def _merged(self, kept: Sequence[int]) -> str:
        return next(iter(self.merge([self.candidates[index].prompt for index in kept])), "")


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def mean(scores: Sequence[float]) -> float:
    """Return the mean; 0 of no scores."""
    return sum(scores) / len(scores) if scores else 0.0
