"""What a policy has learned, as rows for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

__all__ = ["ShownMemory"]


@frozen
class ShownMemory:
    """The content of a file in which a policy keeps what it has learned.

    Attributes:
        method: The name of the method that learned it.
        rows: Plain JSON values by column, the role first. Rows of other kinds have other columns.
        episodes: How many episodes each role has played with it.
    """

    method: str
    rows: Sequence[Mapping[str, Any]]
    episodes: Mapping[str, int] = field(factory=dict)
