"""The view of a person's game at one moment, which the page and the terminal show.

Options and tables, which a model offers a person beside the observation. If the model fails to
give one, the game goes on without it and states the failure.
"""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from desim.core.model import Model
from desim.core.reported import Rows
from desim.core.roles import Option, Role
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.schema import codec
from desim.show.labels import label_text, value_text
from desim.ui.answer_effects import AnswerEffect
from desim.ui.game_faults import Fault, call_failed


@frozen
class GameView:
    """A person's game between two changes.

    Attributes:
        turn: Grows with every change, also when a decision is taken back.
        date: The present tick as the role knows it: its own time, else an ISO date, else empty.
        role: The role whose decision is open; empty if no decision is open.
        spec: The role of the open decision with the actions that it takes; None without one.
        observation: The observation of the open decision.
        options: Its options, the highest value first; empty if the role offers none.
        options_error: The error if the model failed to return options; empty otherwise.
        effect: What the role's last answer did; None before it has given one.
        steps: The decisions of the person's roles so far.
        tables: Tables that the role may look up, by name.
        tables_error: The error if the model failed to return tables; empty otherwise.
        episode: The whole episode once it has ended.
        fault: The fault that has stopped the game before its end; None without one.
    """

    turn: int
    date: str
    role: str
    spec: Role | None
    observation: Any
    options: tuple[Option, ...]
    options_error: str
    effect: AnswerEffect | None
    steps: tuple[Step, ...]
    tables: Mapping[str, Rows]
    tables_error: str
    episode: Episode | None
    fault: Fault | None

    @property
    def options_are_answers(self) -> bool:
        """Whether the options are the answers to choose from, and no hint.

        They are if there are several and none has a higher value than another, such as the letters
        of a multiple choice.
        """
        return len(self.options) > 1 and len({option.value for option in self.options}) == 1


def offered_options(role: Role, observation: Any) -> tuple[tuple[Option, ...], str]:
    """Return the options, highest value first, and an error text if the model failed."""
    if role.options is None:
        return (), ""
    try:
        options = sorted(role.options(observation), key=lambda option: -option.value)
        for option in options:
            codec(role.action).take(option.action)
            value_text(option.value)
    except RAISED as error:
        return (), f"There are no options now: {call_failed(role.options, error)}"
    return tuple(options), ""


def offered_tables(model: Model[Any], state: Any, role: str) -> tuple[Mapping[str, Rows], str]:
    """Return the tables of a role by name, and an error text if the model failed."""
    if model.tables is None:
        return {}, ""
    try:
        tables = dict(model.tables(state, role))
        for name in tables:
            label_text(name)
    except RAISED as error:
        return {}, f"There are no tables now: {call_failed(model.tables, error)}"
    return tables, ""


def time_text(model: Model[Any], state: Any, role: str, tick: int) -> str:
    """Return a tick as a role may know it: the role's own time, or else the ISO date.

    Empty if the ticks of the model have neither, or the model's function fails.
    """
    try:
        time = model.time
        own = time.known_to(role, state, tick)
        if own is not None:
            return own
        return time.date(tick).isoformat() if time.date else ""
    except RAISED:  # the game continues without the time, as it does without tables
        return ""
