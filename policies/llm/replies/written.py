"""A call of a tool as it is written in a text."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen


@frozen
class WrittenCall:
    """A call of a tool in a text.

    Attributes:
        name: The tool's name as written; it may be unknown.
        arguments: Its arguments by name.
        as_text: Whether the form writes every argument as text, so that numbers are texts too.
    """

    name: str
    arguments: Mapping[str, Any]
    as_text: bool = False
