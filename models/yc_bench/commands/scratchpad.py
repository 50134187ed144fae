"""The scratchpad: a text that the founder keeps between turns (SPEC section 13)."""

from typing import Any

from models.yc_bench.actions import (
    ScratchpadAppend,
    ScratchpadClear,
    ScratchpadRead,
    ScratchpadWrite,
)
from models.yc_bench.refusal import CommandRefused
from models.yc_bench.state import CompanyState

__all__ = ["MOST_CHARACTERS", "append", "clear", "read", "write"]

#: Characters that the scratchpad holds at most; the published one has no limit.
MOST_CHARACTERS = 1_000_000


def read(company: CompanyState, _: ScratchpadRead) -> dict[str, Any]:
    """Show the text."""
    return {"content": company.scratchpad}


def write(company: CompanyState, action: ScratchpadWrite) -> dict[str, Any]:
    """Replace the text."""
    company.scratchpad = action.content
    return {"ok": True, "content": company.scratchpad}


def append(company: CompanyState, action: ScratchpadAppend) -> dict[str, Any]:
    """Add a line to the text.

    Raises:
        CommandRefused: The text would be too long.
    """
    former = company.scratchpad
    longer = f"{former}\n{action.content}" if former else action.content
    if len(longer) > MOST_CHARACTERS:
        raise CommandRefused(f"The scratchpad holds {MOST_CHARACTERS} characters at most.")
    company.scratchpad = longer
    return {"ok": True, "content": company.scratchpad}


def clear(company: CompanyState, _: ScratchpadClear) -> dict[str, Any]:
    """Remove the text."""
    company.scratchpad = ""
    return {"ok": True}
