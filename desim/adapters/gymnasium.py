"""One seat of any world as a Gymnasium environment.

    env = gymnasium.make("desim.adapters.gymnasium:desim/CornerShop-v0", preset="small")

Every world of the catalog has one id: `desim/`, its name in CamelCase, `-v0`; a folder
`models/corner_shop` would be `desim/CornerShop-v0`. `gymnasium.make` imports the module before the
colon; after `import desim.adapters.gymnasium` the id alone is enough. A world outside the catalog
is played by `SeatEnv(MyWorld(), ...)`.

Tried with gymnasium 1.2.0 and 1.4.0.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium

from desim import catalog
from desim.adapters.seat.spaced import SpacesEnvironment, first_role
from desim.adapters.vector_env import LanesEnv
from desim.core.model import Model, rules_of
from desim.core.roles import Option
from desim.errors import UsageError, possible
from desim.lanes import HasLanes


class SeatEnv(gymnasium.Env):
    """One seat of a world; policies play the others.

    A step answers one decision and runs until the next one of the seat. Its reward is the change of
    the score, or of a metric, since the last step (for the first step, since the episode's begin),
    so rewards add up to the whole change. `terminated` is true if the world has ended, `truncated`
    if `max_decisions` were made. After the world's end the last observation is returned again.
    `info["elapsed"]` is the number of ticks that the step took.

    `step` takes a member of the action space, and also an instance of an action class or its tagged
    object, such as `{"do": "order", "quantity": 12}`. An action that does not fit the schema raises
    `WrongAction` and changes nothing; the step can be made again. `seat.spaces` states which space
    a field has, and `seat.spaced.SeatSpaces` what an action is with `action="options"`.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        seat: The role that the caller plays, also one of a part, such as "treasury.cfo"; empty
            stands for the first of the world's default roles.
        options: `others`, `params`, `reward`, `max_decisions`, `starts` of `Setup.of`; `action`
            ("fields", or "options" for a number among the options on offer, whose mask is in
            `info["action_mask"]` and in the observation), `bounds`, `flat`, `max_options`,
            `max_text` and `max_entries` of `seat.role_spaces.SeatForm`.

    Raises:
        UsageError: An argument is not one of those possible.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        model: Model[Any] | str,
        preset: str = "",
        *,
        seat: str = "",
        **options: Any,
    ) -> None:
        options["seats"] = seat or first_role(model, preset)
        self._world = SpacesEnvironment(model, preset, "gymnasium", **options)
        (self._role,) = self._world.setup.seats
        self._seat = self._world.seats[self._role]
        self.observation_space = self._seat.observation_space
        self.action_space = self._seat.action_space

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the episode of a seed; without one its seed is drawn from `np_random`.

        Args:
            seed: The seed of the episode and of `np_random`. With `starts` it draws what no role
                can have observed by then; without it such an episode goes on in the world of the
                record.
            options: `record`: the file that receives the episode line by line.

        Raises:
            BadRecord: The record of `starts` cannot be read or does not replay.
            UsageError: An option is unknown, the file exists, or the role has no decision in the
                episode.
            gymnasium.error.Error: The seed is not a whole number of at least 0.
        """
        for name in options or {}:
            if name != "record":
                raise UsageError(f"option {name!r} was given; {possible(str(name), ['record'])}")
        super().reset(seed=seed)
        self._world.reset(seed, options, self.np_random)
        return self._world.observed(self._role), self._world.info(self._role)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Answer the open decision and run until the next one of the seat.

        Raises:
            WrongAction: The action does not fit; nothing has changed.
            UsageError: No episode has begun, or it is over.
        """
        world, role = self._world, self._role
        reward = world.take({role: action})[role]
        return world.observed(role), reward, world.ended, world.truncated, world.info(role)

    def close(self) -> None:
        """Close the episode and its record."""
        self._world.close()

    @property
    def episode_seed(self) -> int:
        """The seed of the episode, for training and evaluation.

        No `info` contains it, because agents read these and could build the world again from it.

        Raises:
            UsageError: No episode has begun.
        """
        return self._world.seed

    def action_masks(self) -> Any:
        """Return which options may be given, at least one, as sb3-contrib's `MaskablePPO` calls it.

        Raises:
            UsageError: No episode has begun, or the action is not the number of an option.
        """
        if not isinstance(self.action_space, gymnasium.spaces.Discrete):
            raise UsageError('the action space has no masks; give action="options"')
        mask = self._world.info(self._role)["action_mask"].astype(bool)
        mask[0] |= not mask.any()  # without an option the first number is the default action
        return mask

    # -- what the seat may know in addition to its observations ------------------------------------

    @property
    def rules(self) -> str:
        """The rules of the world for the seat, and the fields of its observations."""
        return rules_of(self._world.setup.model, self._role)

    @property
    def options(self) -> list[Option]:
        """The options that the role offers at the open decision; the numbers of `action`."""
        session = self._world.running()
        return list(session.options(session.open[0]))

    def encode(self, action: Any) -> Any:
        """Return the member of the space of `action="fields"` for an action or its tagged object.

        Raises:
            WrongAction: The action does not fit the schema.
            UsageError: The space does not hold it; a text is longer than `max_text`, for example.
        """
        return self._seat.actions.encode(action)


def env_id(name: str) -> str:
    """Return the id of a world of the catalog: `corner_shop` is `desim/CornerShop-v0`."""
    return "desim/" + "".join(word.capitalize() for word in name.split("_")) + "-v0"


def register_all() -> None:
    """Register every world of the catalog with Gymnasium; further calls have no effect."""
    for name in catalog.models():
        if env_id(name) not in gymnasium.registry:
            # A vector entry point is the default of `make_vec`, so only worlds with lanes have one.
            lanes = isinstance(catalog.model_class(name), HasLanes)
            gymnasium.register(
                env_id(name),
                f"{__name__}:{SeatEnv.__name__}",
                vector_entry_point=f"{LanesEnv.__module__}:{LanesEnv.__name__}" if lanes else None,
                kwargs={"model": name},
            )


register_all()
