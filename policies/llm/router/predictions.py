"""Stored predictions: for each item, what every method answered and whether it was right.

A file holds one item a line, as JSON, gzipped or not:

    {"id": "q17", "task": "finer", "capability": "Domain Knowledge", "bucket": "hard",
     "question": "...", "context": "...", "gold": "...",
     "predictions": {"cot": {"correct": true, "answer": "...", "trace": "..."}, ...}}

Only `id`, `task`, `predictions` and each `correct` are required.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, field, frozen, validators

from desim import Episode, Model
from desim.core.model import ItemsModel
from desim.errors import BadRecord, SchemaError, sentence
from desim.records.record_file import lines_of
from desim.schema import from_plain, to_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from policies.llm.router.labels import BUCKETS, CAPABILITIES
from policies.llm.router.policy import canonical
from policies.llm.router.situation import Bucket, Features, Situation, features_of

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

#: Items of a file; the benchmark has fewer than 22,000.
MAX_ITEMS = 1_000_000

#: Characters of an item's id, a task, a capability; methods of an item.
_LONGEST_NAME, _MOST_METHODS = 200, 100

_NAMED: Any = [validators.min_len(1), validators.max_len(_LONGEST_NAME)]

#: Bytes of a digest by which values are shuffled.
_BYTES = 6


@frozen
class Prediction:
    """One method's answer to one item: whether it was right, its text, the reasoning before it."""

    correct: bool
    answer: str = ""
    trace: str = ""


@frozen
class Item:
    """One question with the predictions of methods.

    Attributes:
        id: Unique in its file.
        task: The task it belongs to.
        predictions: By the name of the method; a method without a record has no entry.
        capability: Its capability; empty if it has no such label.
        bucket: Its difficulty; None if it has no such label.
        question: Its text, without instructions.
        context: The text that belongs to it.
        gold: The right answer.
        features: Figures of its text, where the text itself is not stored.
    """

    id: str = field(validator=_NAMED)
    task: str = field(validator=_NAMED)
    predictions: Mapping[str, Prediction] = field(validator=validators.max_len(_MOST_METHODS))
    capability: str = field(default="", validator=validators.max_len(_LONGEST_NAME))
    bucket: Bucket | None = None
    question: str = ""
    context: str = ""
    gold: str = ""
    features: Features | None = None

    @property
    def situation(self) -> Situation:
        """The item as a router sees it: without the gold answer and the predictions."""
        figures = self.features
        if figures is None and (self.question or self.context):
            figures = features_of(self.question, self.context)
        return Situation(
            self.task, self.capability, self.bucket, figures, self.question, self.context
        )


def read_items(path: Path) -> list[Item]:
    """Return the items of a file in its order, methods under their canonical names.

    Args:
        path: A regular file, gzipped or not: at most 1 GiB, a line at most 32 MiB.

    Raises:
        BadRecord: The file cannot be read or is beyond a limit, a line does not fit, an id comes
            twice, one method has two names in an item, or the file holds no item or more than
            `MAX_ITEMS`; the text names file, line and field.
    """
    items: list[Item] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            item = _with_canonical_names(from_plain(decode_json(line), Item))
        except (SchemaError, ValueError) as fault:
            raise BadRecord(f"{path}, line {number}: {sentence(fault)}") from None
        if (before := lines.setdefault(item.id, number)) != number:
            twice = f"the id {short_repr(item.id)} stands in line {before} already"
            raise BadRecord(f"{path}, line {number}: {twice}")
        if len(items) == MAX_ITEMS:
            raise BadRecord(f"{path} holds more than {MAX_ITEMS:,} items, the limit")
        items.append(item)
    if not items:
        raise BadRecord(f"{path} holds no item")
    return items


def _with_canonical_names(item: Item) -> Item:
    named = {canonical(name): each for name, each in item.predictions.items()}
    if len(named) < len(item.predictions):
        raise ValueError(f"two names of one method are among {sorted(item.predictions)}")
    if any(not 0 < len(name) <= _LONGEST_NAME for name in named):
        raise ValueError(f"a method's name has 1 to {_LONGEST_NAME} characters")
    return evolve(item, predictions=named)


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
    question, context = asked["question"], asked["context"]
    return Item(
        asked["id"],
        asked["task"],
        {},
        names.get(groups[0], ""),
        next((one for one in BUCKETS if one in endings), None),
        question,
        context,
        gold,
        features_of(question, context),
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
    groups: Mapping[Any, Iterable[T]], key: Callable[[T], str], most: int, seed: int
) -> list[T]:
    """Return at most so many values: the first of every group, then every second, and so on.

    Groups are sorted. The order within one depends on the seed and on each value's own key alone.
    """
    missing: Any = object()
    shuffled = [
        sorted(groups[name], key=lambda value: (_draw(seed, key(value)), key(value)))
        for name in sorted(groups)
    ]
    turns = chain.from_iterable(zip_longest(*shuffled, fillvalue=missing))
    return list(islice((value for value in turns if value is not missing), most))


def _draw(seed: int, key: str) -> bytes:
    # Lengths keep seed and key apart.
    text = "".join(f"{len(each)}:{each}" for each in (str(seed), key))
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:_BYTES]
