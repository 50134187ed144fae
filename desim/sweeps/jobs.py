"""A job of a sweep: one episode to play, as plain data that can be sent to another process."""

from typing import Any

from attrs import frozen

from desim.core.limits import Limits
from desim.core.protocols import Model
from desim.sweeps.entries import PolicyEntry

__all__ = ["Job", "Row", "Variant"]

#: The result of one job: plain JSON values, the same keys in the same order in all rows of a sweep
#: (see `Rows`).
Row = dict[str, Any]


@frozen
class Variant:
    """A model, and its name in rows.

    Attributes:
        name: Its name in the catalog.
        preset: The preset it was made from, or the nearest one.
        params: The parameters that were set, vary in the sweep, or differ from the preset.
        model: The model with all its parameters.
    """

    name: str
    preset: str
    params: dict[str, Any]
    model: Model[Any]


@frozen
class Job:
    """One episode to play.

    Attributes:
        variant: The model.
        entry: The policies.
        seed: A whole number of at least 0.
        limits: Of wall time, events and decisions; an episode that reaches one fails.
        series: Whether its row holds the model's series.
    """

    variant: Variant
    entry: PolicyEntry
    seed: int
    limits: Limits | None = None
    series: bool = False
