"""What a world says about itself to methods, beside the messages."""

from typing import Any, Literal, Protocol, runtime_checkable

from attrs import frozen

__all__ = ["HasSetting", "NamesEpisodes", "Reveals", "Setting", "Task"]

#: Kinds of items, for which the published methods have different procedures and temperatures:
#: decisions that follow each other, one decision for a whole episode, replies in a dialogue, and
#: independent questions.
Task = Literal["game", "plan", "interview", "questions"]


@frozen(kw_only=True)
class Setting:
    """What a method knows about the world beside the messages.

    Attributes:
        task: The kind of items.
        role: Who decides; a word for notes.
        name: The name of the case or scenario, where there are several.
        keys: Keys of a decision; where given, a reviewer sees these alone and not the whole reply.
        topics: Words; a playbook is then shown by its lines that contain one of them.
        goal: A metric and the value from which on an episode counts as a success.
        figures: Metrics of an episode that are learned from; all where there are none.
    """

    task: Task = "game"
    role: str = ""
    name: str = ""
    keys: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    goal: tuple[str, float] | None = None
    figures: tuple[str, ...] = ()


@runtime_checkable
class HasSetting(Protocol):
    """A conversation whose world is no plain game."""

    setting: Setting


@runtime_checkable
class Reveals(Protocol):
    """A conversation that can say, once an episode has ended, what was hidden in it."""

    def revealed(self, episode: Any, /) -> str:
        """Return what was hidden, such as the text of a case."""
        ...


@runtime_checkable
class NamesEpisodes(Protocol):
    """A conversation whose episodes are about different things, such as cases of interviews."""

    def name_of(self, episode: Any, /) -> str:
        """Return what an ended episode was about; it takes the place of the setting's name."""
        ...
