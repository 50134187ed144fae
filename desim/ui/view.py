"""The view of a person's game at one moment, which the page and the terminal show."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from desim.core.model_protocols import Rows
from desim.core.roles import Option
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.ui.game_faults import Fault


@frozen
class View:
    """A person's game between two changes.

    Attributes:
        turn: Grows with every change, also when a decision is taken back.
        date: The present tick as the role knows it: its own time, else an ISO date, else empty.
        role: The role whose decision is open; empty if no decision is open.
        observation: The observation of the open decision.
        options: Its options, the highest value first; empty if the role offers none.
        options_error: The error if the model failed to return options; empty otherwise.
        steps: The decisions of the person's roles so far.
        decisions: The number of decisions of all roles so far.
        tables: Tables that the role may look up, by name.
        tables_error: The error if the model failed to return tables; empty otherwise.
        episode: The whole episode once it has ended.
        fault: The fault that has stopped the game before its end; None without one.
    """

    turn: int
    date: str
    role: str
    observation: Any
    options: tuple[Option, ...]
    options_error: str
    steps: tuple[Step, ...]
    decisions: int
    tables: Mapping[str, Rows]
    tables_error: str
    episode: Episode | None
    fault: Fault | None
