"""A role: the schema of its observations and actions, and the options it offers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, Literal

from attrs import frozen

from desim.errors import UsageError

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
    """Return the place of a level, by which lists are sorted: 0 for observations."""
    return [*KNOWLEDGE].index(level)


def with_knowledge(name: str, level: str | None) -> str:
    """Return a policy's name, with what it knows in brackets where that is more than observations.

    >>> with_knowledge("planner", "rules"), with_knowledge("greedy", "observation")
    ('planner (rules)', 'greedy')
    """
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
        value: A quick estimate of the action's value, higher is better, in the unit that the model
            states.
        note: The reason in a few words; shown to a person.
    """

    action: Any
    value: float
    note: str = ""


@frozen
class Role:
    """A role: the classes of its observations and actions, options, and a default action.

    Attributes:
        observation: The frozen class of the observation, or a union of such classes, whose
            observations are written with a tag.
        action: The frozen class of the action, or a union of such classes.
        options: Returns sensible actions for an observation: at least one, and each accepted by the
            model. The policies `greedy` and `random` and a person's menu need it.
        optional: Whether the model itself plays the role when no policy does.
        default_action: Returns the action taken when a policy has run out of budget or failed;
            None means the first option.
        options_know: What the options use, a level of `KNOWLEDGE`.
    """

    observation: type | UnionType
    action: type | UnionType
    options: Callable[[Any], Sequence[Option]] | None = None
    optional: bool = False
    default_action: Callable[[Any], Any] | None = None
    options_know: Knowledge = "observation"

    def default_for(self, observation: Any) -> Any:
        """Return the default action for an observation.

        Raises:
            UsageError: The role has neither a default action nor options.
        """
        if self.default_action is not None:
            return self.default_action(observation)
        if self.options is None:
            raise UsageError("the role has neither a default action nor options to take one from")
        # The first option, not the one of the highest value: a failed policy has not earned that
        # choice. A role whose first option may do harm declares a default action.
        return self.options(observation)[0].action


def split_name(name: str) -> tuple[str, str]:
    """Return the part and the name inside it: `plant.retailer` is `retailer` of `plant`."""
    part, _, inside = name.partition(".")
    return part, inside
