"""Baselines of the reasoning tasks: what guesses are worth, and the ceiling."""

import pytest

from desim import catalog, play
from desim.core.policy import knows
from desim.episodes.lineup import resolve
from desim.errors import UsageError
from models.beer_game import BeerGame
from models.reasoning.item import CATEGORIES, Item
from models.reasoning.model import ReasoningTasks
from models.reasoning.seat import Answer, Question
from policies.heuristics.reasoning import FirstNumber, Majority, Reference


def seen(
    category: str = "formula_value", question: str = "q", context: str = "", *options: str
) -> Question:
    """Return a question."""
    return Question("i", category, category, question, context, options, 1, 1)


def choice(name: str, answer: str, split: str = "train") -> Item:
    """Return an item with two options."""
    return Item(
        id=name, task="FinKnow", split=split, question="q", options=("x", "y"), answer=answer
    )


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_stored_answers_are_the_ceiling(category: str) -> None:
    """Every answer that ships is right by its own scorer, and reference bodies run."""
    game = ReasoningTasks(tasks=[category], split="")
    episode = play(game, "reference")
    assert len(episode.steps) == 20
    assert episode.score == 1.0
    assert episode.metrics["raised"] == 0
    assert knows(resolve(game, "reference", 0).policies["analyst"]) == "state"


def test_the_first_number_is_that_of_the_context() -> None:
    """With its sign, its commas and its decimals; of the question where the context has none."""
    rule = FirstNumber()
    assert rule.decide(seen(context="In all -1,250.75 of 3.", question="7?")) == Answer("-1,250.75")
    assert rule.decide(seen(context="none", question="Is 7, or 8, right?")) == Answer("7")
    assert rule.decide(seen()) == Answer("0")


def test_the_majority_is_learned_from_training_items_alone() -> None:
    """Options count by their letter, however the answer names them; of equals the first counts."""
    items = (
        choice("a", "A"), choice("b", "y"), choice("c", "1"), choice("d", "x", "test"),
        choice("e", "A", "test"), choice("f", "A", "test"),
        Item(id="g", task="formula", split="train", question="q", answer="3.0"),
        Item(id="h", task="formula", split="train", question="q", answer="4.0"),
    )  # fmt: skip
    rule = resolve(ReasoningTasks(items=items), "majority", 0).policies["analyst"]
    assert isinstance(rule, Majority)
    assert rule.decide(seen()) == Answer("3.0")
    assert rule.decide(seen("multiple_choice", "q", "", "x", "y")) == Answer("B")
    untrained = Majority()
    assert untrained.decide(seen("multiple_choice", "q", "", "x", "y")) == Answer("A")
    assert untrained.decide(seen()) == Answer("0")


def test_guesses_stay_far_below_the_ceiling() -> None:
    """On the items that ship; the random one depends on the seed."""
    game = ReasoningTasks()
    assert catalog.baselines(game) == ("first_number", "majority", "reference", "greedy", "random")
    for policy in ("first_number", "majority", "random"):
        assert play(game, policy).score < 0.2
    few = ReasoningTasks(tasks=["multiple_choice"])
    actions = [[s.action for s in play(few, "random", seed).steps] for seed in (0, 0, 1)]
    assert actions[0] == actions[1] != actions[2]


@pytest.mark.parametrize("policy", [Majority, Reference])
def test_another_world_is_refused(policy: type) -> None:
    """The rules read the items of this world."""
    name = f"{policy.__module__}:{policy.__name__}"
    with pytest.raises(UsageError, match="plays no other world"):
        play(BeerGame(), name)
