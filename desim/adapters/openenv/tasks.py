"""Tasks of a world: presets and seeds, in a split to train on and one to test on."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from desim.adapters.seat.setup import Setup
from desim.catalog import from_preset, model_name, nearest_preset, presets
from desim.core.model_protocols import default_roles, is_deterministic, revision_of
from desim.errors import DesimError, UsageError, possible
from desim.schema import to_plain
from desim.short_repr import short_repr

#: The seeds of each split. Floors and bounds are known for the test seeds.
SPLITS: Mapping[str, range] = {"train": range(1_000, 2_000), "test": range(20)}

#: The name used instead of a preset's if parameters differ from all presets.
CHANGED = "changed"


@frozen
class Task:
    """One episode of a split.

    Attributes:
        id: Its name, `MODEL/PRESET/SPLIT:N`, which does not reveal the seed.
        split: "train" or "test".
        index: Its number in the split.
        preset: The preset of the world.
        seed: The seed.
        deterministic: Whether the seed has no effect. Such a preset has one task in each split, and
            both are the same episode.
    """

    id: str
    split: str
    index: int
    preset: str
    seed: int
    deterministic: bool


class Tasks:
    """The tasks of the served world.

    They cover every preset of the world in which the seats observe and act as in the served one. If
    its parameters differ from those of all presets, or its episodes begin in records, they cover
    only the served setup.

    Attributes:
        name: The name of the world.
        setups: The setups by preset; the served one first.
        splits: The splits as OpenEnv lists them.
    """

    def __init__(self, setup: Setup) -> None:
        self.name = model_name(type(setup.model)).rpartition(":")[2]
        self.setups = _setups(setup)
        self.splits = [{"name": split, "type": split} for split in SPLITS]
        self._by_split = {split: self._tasks(split, seeds) for split, seeds in SPLITS.items()}

    def of(self, split: str) -> Sequence[Task]:
        """Return the tasks of a split.

        Raises:
            IndexError: The split does not exist; servers of OpenEnv expect this class.
        """
        if not isinstance(split, str) or split not in self._by_split:
            hint = possible(str(split), SPLITS)
            raise IndexError(f"split {short_repr(split)} was given; {hint}")
        return self._by_split[split]

    def get(self, split: str, index: int) -> Task:
        """Return a task."""
        tasks = self.of(split)
        if type(index) is not int or not 0 <= index < len(tasks):
            raise IndexError(
                f"index {short_repr(index)} was given; {split!r} has tasks 0 to {len(tasks) - 1:,}"
            )
        return tasks[index]

    def between(self, split: str, start: int | None, stop: int | None) -> Sequence[Task]:
        """Return the tasks from one index up to another; None stands for the first and the end."""
        for index in (start, stop):
            if index is not None and index < 0:
                raise IndexError(f"index {index} was given; the first task has index 0")
        return self.of(split)[start:stop]

    def _tasks(self, split: str, seeds: range) -> list[Task]:
        worlds = {preset: is_deterministic(one.model) for preset, one in self.setups.items()}
        played = [
            (f"{self.name}/{preset}/{split}:{number}", preset, seed, fixed)
            for preset, fixed in worlds.items()
            for number, seed in enumerate(seeds[:1] if fixed else seeds)
        ]
        return [
            Task(name, split, index, preset, seed, fixed)
            for index, (name, preset, seed, fixed) in enumerate(played)
        ]


def reward_of(setup: Setup) -> str:
    """Return the score or metric whose change is every seat's reward; clients get one number.

    Raises:
        UsageError: The seats have different rewards.
    """
    first, *others = dict.fromkeys(setup.rewards.values())
    if others:
        names = ", ".join([first, *others])
        raise UsageError(f"{names} are rewards of the seats; OpenEnv has one for all of them")
    return first


def as_plain(task: Task, setup: Setup) -> dict[str, Any]:
    """Return a task as plain values, with the limits of its episode, and without its seed.

    A player who knows the seed could build the world again. The revision of the world is among the
    values.
    """
    limits = {"max_decisions": setup.max_decisions, "max_days": setup.max_days}
    shown = asdict(task)
    del shown["seed"]
    return shown | limits | {"revision": revision_of(setup.model)}


def _setups(setup: Setup) -> dict[str, Setup]:
    cls = type(setup.model)
    served = nearest_preset(setup.model)
    if setup.starts is not None:  # they are of these parameters
        return {served: setup}
    if to_plain(from_preset(cls, served)) != to_plain(setup.model):
        return {CHANGED: setup}
    found = {served: setup}
    for preset in presets(cls):
        if preset != served and (other := _alike(setup, preset)):
            found[preset] = other
    return found


def _alike(setup: Setup, preset: str) -> Setup | None:
    """Return the setup of another preset; None if it cannot be built or its roles differ."""
    try:
        model = from_preset(type(setup.model), preset)
    except DesimError:  # it needs a file, for example
        return None
    mine, its = setup.model.roles, model.roles
    same = all(
        seat in its
        and (its[seat].action, its[seat].observation) == (mine[seat].action, mine[seat].observation)
        for seat in setup.seats
    )
    same = same and default_roles(model) == default_roles(setup.model)
    return evolve(setup, model=model) if same and setup.others.keys() <= its.keys() else None
