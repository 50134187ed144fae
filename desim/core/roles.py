"""A role: the schema of its observations and actions, its options, and its time to think."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, Literal

from attrs import evolve, field, frozen
from attrs.validators import ge, le, optional

from desim.errors import UsageError
from desim.schema.validators import finite, whole
from desim.schema.wire_types import members, tag, union_of
from desim.short_repr import short_repr
from desim.show.column import Column, columns_of

#: A level of the facts that a policy, or an option, uses; it includes the levels before it.
Knowledge = Literal["observation", "rules", "state", "future"]

#: The meaning of each level; lists, boards and reports print it.
KNOWLEDGE: Mapping[Knowledge, str] = {
    "observation": "what its role observes, and the rules text that the role is given",
    "rules": "constants of the world that the rules text leaves out",
    "state": "hidden state of the world",
    "future": "future events of the episode, such as the demand to come",
}


def knowledge_order(level: Knowledge) -> int:
    """Return the place of a level in `KNOWLEDGE`: 0 for observations."""
    return [*KNOWLEDGE].index(level)


def with_knowledge(name: str, level: str | None) -> str:
    """Return a policy's name, such as `planner (rules)` if it knows more than observations."""
    return name if level in (None, "observation") else f"{name} ({level})"


def knowledge_legend(levels: Iterable[str | None]) -> list[str]:
    """Return the meanings of the levels that `with_knowledge` marks."""
    given = {*levels} - {"observation"}
    return [f"{level}: uses {text}" for level, text in KNOWLEDGE.items() if level in given]


@frozen
class Option:
    """One sensible action at this moment.

    Attributes:
        action: An instance of one of the role's action classes.
        value: A quick estimate of its value, higher is better, in the unit that the model states.
        note: The reason in a few words; shown to a person.
    """

    action: Any
    value: float
    note: str = ""


#: The longest time of a decision, in ticks, and the largest rate.
MOST_TICKS = 10**15

_ticks: list[Any] = [whole, ge(0), le(MOST_TICKS)]
_rate: list[Any] = [finite, ge(0), le(MOST_TICKS)]


@frozen(kw_only=True)
class Thinking:
    """The simulated time that a decision takes: the sum of three parts, cut to whole ticks.

    Attributes:
        latency: Ticks of the role's world for every decision.
        per_second: Ticks for each second that the policy waited for replies.
        per_1000_tokens: Ticks for each 1,000 tokens that the replies hold.
        most: The largest number of ticks of one decision; None for no limit.
    """

    latency: int = field(default=0, validator=_ticks)
    per_second: float = field(default=0.0, validator=_rate)
    per_1000_tokens: float = field(default=0.0, validator=_rate)
    most: int | None = field(default=None, validator=optional(_ticks))

    @property
    def takes_time(self) -> bool:
        """Whether a decision may take a tick or more."""
        return bool(self.latency or self.per_second or self.per_1000_tokens) and self.most != 0

    def ticks(self, notes: Mapping[str, Any] | None = None) -> int:
        """Return the ticks of a decision, by `seconds` and `completion_tokens` of noted `usage`.

        A value that is missing, or is not a number above 0, counts as 0.
        """
        usage = (notes or {}).get("usage")
        used = usage if isinstance(usage, Mapping) else {}
        given = (
            self.per_second * _above_zero(used.get("seconds"))
            + self.per_1000_tokens * _above_zero(used.get("completion_tokens")) / 1000
        )
        most = MOST_TICKS if self.most is None else self.most
        return min(self.latency + int(min(given, MOST_TICKS)), most)


def _above_zero(value: Any) -> float:
    # NaN is not above 0; the limit is one that can be multiplied.
    return min(value, 10**18) if isinstance(value, int | float) and value > 0 else 0


@frozen
class Role:
    """A role: the classes of its observations and actions, options, and a default action.

    Attributes:
        observation: A frozen class, or a union of such classes.
        action: A frozen class, or a union of such classes.
        options: Returns at least one sensible action for an observation, which the model accepts.
            The policies `greedy` and `random` and a person's menu need it.
        optional: Whether the model itself plays the role when no policy does.
        default_action: Returns the action of a policy that failed or has no budget left; None means
            the first option.
        options_know: What the options use, a level of `KNOWLEDGE`.
        described: By tag of an action, columns of fields, such as a usual range, that replace those
            of the class because they depend on the parameters.
        thinking: The simulated time that a decision takes, while the world goes on.
    """

    observation: type | UnionType
    action: type | UnionType
    options: Callable[[Any], Sequence[Option]] | None = None
    optional: bool = False
    default_action: Callable[[Any], Any] | None = None
    options_know: Knowledge = "observation"
    described: Mapping[str, Mapping[str, Column]] = field(factory=dict)
    thinking: Thinking = Thinking()

    def columns_of(self, name: str) -> Mapping[str, Column]:
        """Return the columns of the fields of an action, by its tag."""
        cls = next((each for each in members(self.action) if tag(each) == name), None)
        return {**columns_of(cls), **self.described.get(name, {})}

    def default_for(self, observation: Any) -> Any:
        """Return the default action for an observation."""
        if self.default_action is not None:
            return self.default_action(observation)
        if self.options is None:
            raise UsageError("the role has neither a default action nor options to take one from")
        # Not the one of the highest value: a failed policy has not earned that choice.
        return self.options(observation)[0].action

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the action classes, in their order."""
        return tuple(tag(cls) for cls in members(self.action))

    def narrowed(self, actions: Any) -> "Role":
        """Return the role with some of its action classes, as `World.ask` takes them.

        Its default action is that of the role if it is among them, or else the first option.
        """
        own = members(self.action)
        given = tuple(actions) if isinstance(actions, tuple | list) else members(actions)
        if not given or any(cls not in own for cls in given):
            names = ", ".join(cls.__name__ for cls in own)
            raise UsageError(f"actions={short_repr(actions)} was given; possible: {names}")
        kept = tuple(cls for cls in own if cls in given)
        taken = " or ".join(cls.__name__ for cls in kept)

        def options(observation: Any) -> Sequence[Option]:
            offered = self.options(observation) if self.options else ()
            if found := [option for option in offered if isinstance(option.action, kept)]:
                return found
            raise UsageError(f"no option of the role is {taken}, which this question takes")

        def default_action(observation: Any) -> Any:
            action = self.default_for(observation)
            return action if isinstance(action, kept) else options(observation)[0].action

        return evolve(
            self,
            action=union_of(kept),
            options=self.options and options,
            default_action=default_action,
        )

    def of_tags(self, tags: Sequence[str]) -> "Role":
        """Return the role with the action classes of some tags; itself without any."""
        kept = tuple(cls for cls in members(self.action) if tag(cls) in tags)
        return self.narrowed(kept) if tags else self


def split_name(name: str) -> tuple[str, str]:
    """Return the part and the name inside it: `plant.retailer` is `retailer` of `plant`."""
    part, _, inside = name.partition(".")
    return part, inside
