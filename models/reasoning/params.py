"""The parameters of the reasoning tasks and their presets."""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, in_, instance_of, le

from desim.core.roles import Thinking
from desim.errors import possible
from desim.schema.validators import whole
from desim.short_repr import short_repr
from models.reasoning.item import MOST_ITEMS, Item, is_task, read, shipped


def _items(given: Any) -> Any:
    """Read a file or a folder; the shipped items stay an empty text, which keeps records short."""
    return "" if given == "" else read(given)


def _names(given: Any) -> Any:
    """Read names between commas, as the command line gives them."""
    if isinstance(given, str):
        return tuple(name.strip() for name in given.split(",") if name.strip())
    return tuple(given) if isinstance(given, list) else given


@frozen(kw_only=True)
class ReasoningParams:
    """Questions with one right answer each, which arrive in order or in windows.

    Attributes:
        items: A file of items, a folder of such files, or the items themselves; empty: the 120 that
            ship with the model.
        tasks: Data sets or categories, also as one text with commas; empty: all.
        split: Items of that split alone; empty: of all splits.
        limit: Items of an episode at most, spread evenly over those chosen; 0: all of them.
        window: Items that arrive at the same tick, 1 to 1,000.
        order: Whether items arrive as they are "given" or "shuffled" by the seed.
        feedback: Whether outcomes and right answers of a window are shown with the next one.
        shows_programs: Whether an item's reference program stands behind its context, as published.
        near_zero: What a program's number may differ by where the right one is below 1e-6 in size:
            0.01 as in the "code", or 1e-6 as in the "paper".
        letters: How the letter of a multiple choice is found: "strict" as in the code, in brackets
            or alone, or by "pattern" as in the paper, also inside a sentence.
        spans: Whether a quantity is compared by its "numbers", where both sides have one, as in the
            code, or as "text" alone, with or without brackets, as in the paper.
        exceptions: What an answer on which its scorer fails counts as: "wrong", or "as_published"
            nothing in the accuracy of its task and right in that of its capability.
        seconds_per_item: Seconds that an answer takes, 0 to 1,000,000.
        thinking: Further seconds that an answer takes, by what the policy used for it.

    Source: reference SPEC section 3 for the code, 8 for the paper; the time is ours.
    """

    items: tuple[Item, ...] | str = field(default="", converter=_items)
    tasks: tuple[str, ...] | str = field(
        default=(), converter=_names, validator=deep_iterable(is_task, instance_of(tuple))
    )
    split: str = field(default="test", validator=instance_of(str))
    limit: int = field(default=0, validator=[whole, ge(0), le(MOST_ITEMS)])
    window: int = field(default=1, validator=[whole, ge(1), le(1_000)])
    order: str = field(default="given", validator=in_(("given", "shuffled")))
    feedback: bool = field(default=False, validator=instance_of(bool))
    shows_programs: bool = field(default=True, validator=instance_of(bool))
    near_zero: str = field(default="code", validator=in_(("code", "paper")))
    letters: str = field(default="strict", validator=in_(("strict", "pattern")))
    spans: str = field(default="numbers", validator=in_(("numbers", "text")))
    exceptions: str = field(default="wrong", validator=in_(("wrong", "as_published")))
    seconds_per_item: int = field(default=60, validator=[whole, ge(0), le(1_000_000)])
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: Changes of parameters by preset; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {},
        "paper": {"near_zero": "paper", "letters": "pattern", "spans": "text"},
        "online": {"window": 15, "feedback": True},
        "small": {"limit": 20},
    }

    def __attrs_post_init__(self) -> None:
        if not self.chosen_items:
            tasks = f" and of {short_repr(self.tasks)}" if self.tasks else ""
            splits = possible(self.split, sorted({item.split for item in self.loaded_items}))
            raise ValueError(f"no item is of split {short_repr(self.split)}{tasks}; {splits}")

    @property
    def loaded_items(self) -> tuple[Item, ...]:
        """All items of the files."""
        # The declared type of `items` includes text, so that the command line accepts a path.
        return shipped() if isinstance(self.items, str) else self.items

    @property
    def chosen_items(self) -> tuple[Item, ...]:
        """The items of an episode, as they are given."""
        chosen = [
            item
            for item in self.loaded_items
            if self.split in ("", item.split)
            and (not self.tasks or {item.task, item.category} & {*self.tasks})
        ]
        count = min(self.limit or len(chosen), len(chosen))
        # Evenly spread, so that a few items of files sorted by category are of all categories.
        return tuple(chosen[at * len(chosen) // count] for at in range(count))

    @property
    def deterministic(self) -> bool:
        """Whether episodes do not depend on the seed, which only shuffles the items."""
        return self.order == "given" or len(self.chosen_items) == 1
