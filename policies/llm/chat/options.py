"""What a user may set about a conversation, and the checks of such values.

The class of a world's file derives from `LLMOptions` and adds the options of that world.
"""

from collections.abc import Callable
from typing import Any

from attrs import Attribute, field, frozen

from desim.errors import UsageError, possible
from desim.schema.validators import not_negative

#: How a model answers: by tool calls, by JSON under a schema, by JSON somewhere in its text.
MODES = ("tools", "schema", "json")


#: Stands for the name of a method where a router chooses it.
ROUTED = "routed"


def choice(*values: str) -> "Callable[[Any, Attribute[str], str], None]":
    """Return a validator of an attrs field: one of these texts.

    The validator raises `UsageError` with the nearest and all possible values.
    """

    def check(_: Any, attribute: "Attribute[str]", value: str) -> None:
        if value not in values:
            known = [each for each in values if each]
            raise UsageError(f"{attribute.name}={value} was given; {possible(value, known)}")

    return check


@frozen(kw_only=True)
class LLMOptions:
    """Options of a conversation that every world has.

    Attributes:
        mode: One of `MODES`; empty for the mode that the world uses by default.
        history: Rounds kept in the conversation, at least 0; None for the world's own number.
        method: The method that makes replies out of calls; `ROUTED` where a router chooses one for
            each decision, empty for none. A protocol may differ by it.
    """

    mode: str = field(default="", validator=choice("", *MODES))
    history: int | None = field(default=None, validator=not_negative)
    method: str = ""
