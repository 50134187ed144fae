"""Evolution: selection, the budget, and what is done with unusable replies."""

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.llm.methods.evolution import Evolution, leaders, prompts_in

#: Items that may be scored.
BUDGET = 150

SCORES = st.integers(1, 5).flatmap(
    lambda items: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=items, max_size=items),
        min_size=1,
        max_size=6,
    )
)


@given(SCORES)
def test_leaders_are_the_undominated_best_of_some_item(scores: list[list[float]]) -> None:
    """Compared with the definition; the weights are shares of items led."""
    kept, weights = leaders(scores)
    best = [max(column) for column in zip(*scores, strict=True)]
    led = [sum(s == b for s, b in zip(own, best, strict=True)) for own in scores]
    beaten = [
        any(
            other != own and all(a >= b for a, b in zip(other, own, strict=True))
            for other in scores
        )
        for own in scores
    ]
    assert kept == [i for i in range(len(scores)) if led[i] and not beaten[i]]
    assert math.isclose(sum(weights), 1)
    assert weights == [led[i] / sum(led[j] for j in kept) for i in kept]


class Counting:
    """Scores prompts by their number, and counts the items scored."""

    def __init__(self, proposals: list[str]) -> None:
        self.items = 0
        self.proposals = proposals

    def score(self, prompt: str, items: Sequence[int]) -> list[float]:
        """Score on some items."""
        self.items += len(items)
        return [float(len(prompt) > item) for item in items]

    def evolution(self, seed: int = 0, budget: int = BUDGET) -> Evolution[int]:
        """Return an evolution of these."""
        return Evolution(
            pareto=range(15),
            feedback=range(30),
            score=self.score,
            propose=lambda prompt, *_: [prompt + each for each in self.proposals],
            merge=lambda prompts: ["+".join(prompts)],
            draws=random.Random(seed),  # noqa: S311
            budget=budget,
            batch=2,
            exploit=0.95,
            draw_one=0.9,
        )


@pytest.mark.parametrize("seed", range(20))
def test_the_budget_is_exceeded_by_what_was_begun_at_most(seed: int) -> None:
    """Two mini-batches of 2; the Pareto set is scored only while something is left."""
    counting = Counting(["!"])
    evolution = counting.evolution(seed)
    best = evolution.run(["p"])
    assert counting.items == BUDGET - evolution.budget
    assert -15 < evolution.budget <= 0
    assert best.mean == max(each.mean for each in evolution.candidates)
    assert len(best.prompt) > 1


def test_an_unusable_reply_costs_the_mini_batch_alone() -> None:
    """And no candidate joins."""
    counting = Counting([])
    evolution = counting.evolution(budget=25)
    assert evolution.run(["p"]).prompt == "p"
    assert counting.items == 25 - evolution.budget
    assert len(evolution.steps) == 5
    assert {step.new_mean for step in evolution.steps} == {None}


def test_a_merged_candidate_joins_with_scores_of_zero() -> None:
    """And is tried in the same round."""
    found = [
        evolution
        for seed in range(300)
        if (evolution := Counting(["!"]).evolution(seed)).run(["p", "q"])
        and any(step.strategy == "exploit-merge" for step in evolution.steps)
    ]
    assert found
    for evolution in found:
        step = next(s for s in evolution.steps if s.strategy == "exploit-merge")
        merged = evolution.candidates[step.selected]
        assert "+" in merged.prompt
        assert set(merged.scores) == {0.0}


def test_without_feedback_items_the_first_prompt_stays() -> None:
    """No round can be made, so that none is."""
    evolution = Counting(["!"]).evolution()
    evolution.feedback = ()
    assert evolution.run(["p"]).prompt == "p"


@pytest.mark.parametrize(
    ("reply", "prompts"),
    [
        ("1. one\n2) two\n\n* three", ["one", "two", "three"]),
        ('{"list_candidate_prompts": "a"}', ['{"list_candidate_prompts": "a"}']),
        ('{"list_candidate_prompts": [{"candidate_prompt": 5}]}', []),
        ("x" * 100_000, ["x" * 8_000]),
        ("\n".join("p" * 5 for _ in range(99)), ["ppppp"] * 20),
    ],
)
def test_prompts_are_those_of_the_list_or_the_lines(reply: str, prompts: list[str]) -> None:
    """Limited in number and length."""
    assert prompts_in(reply) == prompts
