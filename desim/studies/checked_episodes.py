"""The episodes that checks play, and the actions in them: options at random, least, largest."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from attrs import define, field

from desim.core.limits import Limits
from desim.core.model import Model
from desim.core.policy import Policy
from desim.core.roles import Role
from desim.episodes.driver import play
from desim.errors import DesimError, WrongAction
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.schema import codec
from desim.schema.described import Schema, action_schemas

#: Limits of the episodes of checks, without a limit of time: the same world has the same findings.
LIMITS = Limits(events=2_000_000, decisions=10_000)

#: The outcomes of a check; advice is for a world that works and lacks something optional.
Outcome = Literal["ok", "FAILED", "advice", "skipped"]

#: A number beyond all, for fields without limits; the most characters and items of an action.
FAR, _CHARACTERS, _ITEMS = 10**18, 1_000, 100


class CheckFault(DesimError):
    """The outcome of a check that does not pass.

    Args:
        outcome: The outcome.
        text: One sentence.
        at: The class or function that it is about; None where no single one is.
    """

    def __init__(self, outcome: Outcome, text: str, at: Any = None) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.at = at


def failed(text: str, at: Any = None) -> CheckFault:
    """Return the fault of a world that does not keep what a check tests."""
    return CheckFault("FAILED", text, at)


def advice(text: str, at: Any = None) -> CheckFault:
    """Return the advice for a world that works and lacks something."""
    return CheckFault("advice", text, at)


def skipped(text: str) -> CheckFault:
    """Return the reason why a check cannot be made."""
    return CheckFault("skipped", text)


class FittingPolicy(Policy):
    """Takes at random an option that fits the schema; the same choices for every seed.

    A role without such an option takes its default action, or else the least action of its schema.

    Args:
        role: The role.
        made: The number of choices that another one has made, with which this one goes on.
    """

    takes_role = True

    def __init__(self, role: Role, made: int = 0) -> None:
        self._role, self._random = role, Random(0)  # noqa: S311 (no secret)
        for _ in range(made):
            self._random.random()

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return one of the answers that fit."""
        # Drawn for every decision, so that one without options does not shift other choices.
        role, drawn = narrowed or self._role, self._random.random()
        for found in (_offered(role, observation), _default(role, observation), least(role)):
            if fitting := [action for action in found if fits(role, action)]:
                return fitting[int(drawn * len(fitting))]
        expected = codec(role.action).expected()
        raise failed(f"no action was found: the role has no options, and {expected}")


def _offered(role: Role, seen: Any) -> list[Any]:
    try:
        return [option.action for option in role.options(seen)] if role.options else []
    except RAISED:  # the check of options says so
        return []


def _default(role: Role, seen: Any) -> list[Any]:
    try:
        return [role.default_for(seen)]
    except RAISED:
        return []


def fits(role: Role, action: Any) -> bool:
    """Return whether an action fits the schema of its role."""
    try:
        codec(role.action).take(action)
    except WrongAction:
        return False
    return True


def least(role: Role) -> Iterator[Any]:
    """Yield of each class of actions the one with numbers next to 0, without optional fields."""
    for name, schema in action_schemas(codec(role.action)).items():
        fields = {key: extreme(schema["properties"][key], 0) for key in schema["required"]}
        yield {"do": name, **fields}


def extremes(role: Role) -> Iterator[Any]:
    """Yield of each class of actions one of the smallest and one of the largest values."""
    actions = codec(role.action)
    for name, schema in action_schemas(actions).items():
        for far in (-FAR, FAR):
            fields = {key: extreme(each, far) for key, each in schema["properties"].items()}
            try:
                yield actions.read({"do": name, **fields})
            except WrongAction:  # a validator may refuse more than the schema states
                continue


def extreme(schema: Schema, far: int) -> Any:
    """Return the number next to *far* that fits a schema; above 0, the longest text or list.

    >>> extreme({"type": "integer", "minimum": 2}, 0), extreme({"enum": ["a", "b"]}, FAR)
    (2, 'b')
    """
    if choices := schema.get("anyOf") or schema.get("enum"):
        choice = choices[-1 if far > 0 else 0]
        return extreme(choice, far) if "anyOf" in schema else choice
    match schema.get("type"):
        case "integer" | "number":
            low = schema.get("minimum", schema.get("exclusiveMinimum", -FAR - 1) + 1)
            high = schema.get("maximum", schema.get("exclusiveMaximum", FAR + 1) - 1)
            return min(max(far, low), high)
        case "string":
            most = min(schema.get("maxLength", _CHARACTERS), _CHARACTERS)
            return "x" * (most if far > 0 else schema.get("minLength", 0))
        case "array":
            most = min(schema.get("maxItems", _ITEMS), _ITEMS)
            number = most if far > 0 else schema.get("minItems", 0)
            return [extreme(schema.get("items", {}), far)] * number
        case "object":
            inside = schema.get("properties", {}).items()
            return {key: extreme(each, far) for key, each in inside}
        case kind:
            return far > 0 if kind == "boolean" else None


@define(eq=False)
class CheckedWorld:
    """A model, and the episodes that its checks share.

    Attributes:
        model: The frozen parameters.
        seeds: The seeds of its episodes, at least one.
        folder: An empty folder for records.
        recorded: The episodes that ended, each with its record.
        repeats: Whether an episode that is played again is the same.
    """

    model: Model[Any]
    seeds: Sequence[int]
    folder: Path
    recorded: list[tuple[Episode, Path]] = field(factory=list, init=False)
    repeats: bool = field(default=True, init=False)

    @property
    def episodes(self) -> list[tuple[Episode, Path]]:
        """The episodes that ended, each with its record; without one the check is skipped."""
        if not self.recorded:
            raise skipped("no episode has come to its end; see `plays`")
        return self.recorded

    @property
    def first(self) -> tuple[Episode, Path]:
        """The first of them; the check is skipped if it does not repeat itself."""
        if not self.repeats:
            raise skipped("two episodes of one seed differ; see `repeats`")
        return self.episodes[0]

    def record(self, seed: int, roles: Iterable[str]) -> None:
        """Play and record an episode in which some roles are asked."""
        file = self.folder / f"{len(self.recorded)}.jsonl"
        episode = play(self.model, self.policies(roles), seed, record=file, limits=LIMITS)
        self.recorded.append((episode, file))

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed in which every role is asked."""
        for episode, _ in self.episodes:
            if (
                episode.header.seed == seed
                and episode.header.policies.keys() == self.model.roles.keys()
            ):
                return episode
        return play(self.model, self.policies(self.model.roles), seed, limits=LIMITS)

    def policies(self, roles: Iterable[str], made: Iterable[Step] = ()) -> dict[str, FittingPolicy]:
        """Return by role a policy that takes options at random, after decisions that were made."""
        count = Counter(step.role for step in made)
        return {role: FittingPolicy(self.model.roles[role], count[role]) for role in roles}

    def asked(self, step: Step) -> Role:
        """Return the role of a decision, with the actions that the question takes."""
        return self.model.roles[step.role].of_tags(step.possible)
