"""Messages between a client of OpenEnv and a world: actions, observations, and the episode's id."""

from collections.abc import Mapping
from types import new_class
from typing import Any, ClassVar

from openenv.core.env_server.types import Action, Observation, State
from pydantic import ConfigDict, Field

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tools import tools_of_seats
from desim.errors import UsageError
from desim.schema import TAG
from desim.schema.described import observation_schema


class WorldAction(Action):
    """The tagged object of an action: `do` names it, the other keys are its fields.

    It takes any object, so that a wrong action gets the schema's sentence in an observation and
    not an error that ends the client's program. The strict schema is what `/schema` shows.
    """

    model_config = ConfigDict(extra="allow")

    do: Any = Field(default=None, description="The name of the action.")

    wire_schema: ClassVar[dict[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """Return the schema of the actions of all seats."""
        return cls.wire_schema

    def tagged(self) -> dict[str, Any]:
        """Return the tagged object."""
        tag = {} if self.do is None else {TAG: self.do}
        return {**(self.model_extra or {}), **tag}


class WorldObservation(Observation):
    """The reply to a client: the observation of the seat that decides next, and no other's."""

    seat: str = Field(default="", description="The role that decides next; empty at the end.")
    observation: dict[str, Any] | None = Field(
        default=None, description="What it observes; null before the first reset and at the end."
    )
    possible: list[str] = Field(
        default=[], description="The actions that may be answered now; empty where all may."
    )
    refused: str = Field(
        default="", description="Why the last action was refused and changed nothing; else empty."
    )
    rules: str = Field(default="", description="The rules of the world; after a reset.")
    ended: dict[str, Any] | None = Field(
        default=None, description="How the episode ended: score, reason, metrics, ledger digest."
    )

    wire_schema: ClassVar[dict[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the schema with that of the seats' observations in it."""
        whole: dict[str, Any] = super().model_json_schema(*args, **kwargs)
        if cls.wire_schema:
            whole["properties"]["observation"] = cls.wire_schema
        return whole


class EpisodeIdentity(State):
    """Which episode this is; neither its seed nor anything of the world's state."""

    preset: str = Field(default="", description="The preset of the world.")
    split: str = Field(default="", description="The split of its task; empty without a task.")
    index: int | None = Field(default=None, description="The number of its task in the split.")
    refused: int = Field(default=0, description="Steps that were refused and changed nothing.")


def message_classes(setup: Setup) -> tuple[type[WorldAction], type[WorldObservation]]:
    """Return the classes of a world's actions and observations, with their schemas."""
    for tool, _ in tools_of_seats(setup):
        if "metadata" in tool.fields:
            raise UsageError(f"action {tool.name!r} has a field metadata, which OpenEnv takes")
    return (
        _subclass(WorldAction, "Action", _action_schema(setup)),
        _subclass(WorldObservation, "Observation", _observation_schema(setup)),
    )


def _action_schema(setup: Setup) -> dict[str, Any]:
    """Return the schema of the tagged objects of all seats, without references."""
    extra = {"metadata": {"type": "object", "description": "Not used."}}
    found = [
        {
            **tool.parameters,
            "title": tool.name,
            "description": tool.description,
            "properties": {TAG: {"const": tool.name}, **tool.fields, **extra},
            "required": [TAG, *tool.required],
        }
        for tool, _ in tools_of_seats(setup)
    ]
    return {"title": "Action", "type": "object", "anyOf": found}


def _observation_schema(setup: Setup) -> dict[str, Any]:
    """Return the schema of the seats' observations, or of null."""
    classes = dict.fromkeys(setup.model.roles[seat].observation for seat in setup.seats)
    return {"anyOf": [*map(observation_schema, classes), {"type": "null"}], "default": None}


def _subclass(base: type[Any], name: str, schema: Mapping[str, Any]) -> type[Any]:
    """Return a class of messages with the schema of the world's."""
    facts = {"wire_schema": dict(schema), "__module__": __name__, "__doc__": base.__doc__}
    return new_class(name, (base,), exec_body=lambda namespace: namespace.update(facts))
