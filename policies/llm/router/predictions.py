"""Stored predictions: for each item, what every method answered and whether it was right."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice, zip_longest
from typing import Any, TypeVar

from attrs import evolve, frozen

from desim import Episode, Model
from desim.core.model import ItemsModel
from desim.schema import to_plain
from policies.llm.router.labels import BUCKETS, CAPABILITIES
from policies.llm.router.situation import Bucket, Situation, features_of

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_SEED = "42"


@frozen
class Prediction:
    """One method's answer to one item, with its reasoning: whether it was right, and its text."""

    correct: bool
    answer: str = ""


@frozen
class Item:
    """One question with the predictions of methods.

    Attributes:
        id: Its name in the world.
        task: The task it belongs to.
        predictions: By the name of the method; a method without a record has no entry.
        capability: Its capability; empty if it has no such label.
        bucket: Its difficulty; None if it has no such label.
        question: Its text, without instructions.
        context: The text that belongs to it.
        gold: The right answer.
    """

    id: str
    task: str
    predictions: Mapping[str, Prediction]
    capability: str = ""
    bucket: Bucket | None = None
    question: str = ""
    context: str = ""
    gold: str = ""

    @property
    def situation(self) -> Situation:
        """The item as a router sees it: without the gold answer and the predictions."""
        has_text = bool(self.question or self.context)
        features = features_of(self.question, self.context) if has_text else None
        return Situation(self.task, self.capability, self.bucket, features)


def predicted(
    model: Model[Any], episodes: Mapping[str, Episode], gold: Mapping[str, str]
) -> list[Item]:
    """Return the questions of a world, of those with labels, as methods answered them.

    Args:
        model: A world of questions.
        episodes: A whole episode of it by the method that played it.
        gold: By question its right answer, where it is known.
    """
    items: dict[str, Item] = {}
    groups = model.item_groups if isinstance(model, ItemsModel) else {}
    for method, episode in episodes.items():
        right = _right(groups, episode)
        for step in episode.steps:
            asked, said = to_plain(step.observation), to_plain(step.action).get("text", "")
            if (name := asked.get("id", "")) not in right:
                continue
            item = items.get(name) or _question(asked, groups[name], gold.get(name, ""))
            found = {**item.predictions, method: Prediction(right[name], said)}
            items[name] = evolve(item, predictions=found)
    return list(items.values())


def _right(groups: Mapping[str, Sequence[str]], episode: Episode) -> dict[str, bool]:
    """Return by question whether it was answered right, from a metric in the order of their ids."""
    listed = episode.result.metrics.get("by_item", {}) if episode.result else {}
    outcomes = {name: iter(values) for name, values in listed.items()}
    return {
        item: bool(next(outcomes[own[0]]))
        for item, own in sorted(groups.items())
        if own and own[0] in outcomes
    }


def _question(asked: Mapping[str, Any], groups: Sequence[str], gold: str) -> Item:
    """Return an item as it was asked, with the labels that name its groups."""
    names = {one.lower().replace(" ", "_"): one for one in CAPABILITIES}
    endings = [name.rpartition("_")[2] for name in groups[1:]]
    return Item(
        id=asked["id"],
        task=asked["task"],
        predictions={},
        capability=names.get(groups[0], ""),
        bucket=next((one for one in BUCKETS if one in endings), None),
        question=asked["question"],
        context=asked["context"],
        gold=gold,
    )


def methods_of(items: Iterable[Item]) -> tuple[str, ...]:
    """Return the methods that predicted any of the items, sorted."""
    return tuple(sorted({name for item in items for name in item.predictions}))


def grouped(values: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return values by key, keys in the order in which they appear first."""
    groups: dict[K, list[T]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def shuffled_in_turn(
    groups: Mapping[Any, Iterable[T]], key: Callable[[T], str], most: int
) -> list[T]:
    """Return at most so many values: the first of every group, then every second, and so on.

    Groups are sorted. The order within one depends on each value's own key alone.
    """
    missing: Any = object()
    shuffled = [
        sorted(groups[name], key=lambda value: (_draw(key(value)), key(value)))
        for name in sorted(groups)
    ]
    turns = chain.from_iterable(zip_longest(*shuffled, fillvalue=missing))
    return list(islice((value for value in turns if value is not missing), most))


def _draw(key: str) -> bytes:
    """Return the digest by which values are shuffled, of the published seed 42 and a key."""
    text = f"{len(_SEED)}:{_SEED}{len(key)}:{key}"
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
