"""The faults of a suite's entry that its table shows, before a policy is built."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from desim.schema import to_plain
from desim.suites.schema import EntryTable, Suite

__all__ = ["argument_text", "entry_faults", "option_faults"]


def entry_faults(table: EntryTable, suite: Suite) -> Iterator[str]:
    """Yield a sentence for each fault of an entry."""
    yield from _model_faults(table) if table.model else _policy_faults(table)
    limited = table.max_cost is not None or suite.max_cost is not None
    if table.model and limited and (table.price_in is None or table.price_out is None):
        yield "a limit of money needs price_in and price_out (0 where the model is free)"


def _policy_faults(table: EntryTable) -> Iterator[str]:
    given = to_plain(table)
    if not table.policy:
        yield "it names neither a policy nor a language model (policy or model)"
    for key in ("roles", "base_url", "key_env", "method", "options", "price_in", "price_out"):
        if given.get(key) not in (None, "", [], {}):
            yield f"{key} belongs to a language model; give its name as model"


def _model_faults(table: EntryTable) -> Iterator[str]:
    if not table.roles and (isinstance(table.policy, str) and table.policy):
        yield "beside a model, policy is for the other roles; name the model's own as roles"
    yield from option_faults(table.options)


def option_faults(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each fault of the options of a language model."""
    if "memory" in options:
        yield (
            "options.memory is a file that several episodes would write at once; episodes = N of a "
            "world plays N in a row with one memory, which their records keep"
        )
    for key, value in options.items():
        if "," in argument_text(value):
            yield f"options.{key} holds a comma, which no argument of a policy can"
        if key in ("model", "base_url", "key_env", "method", "price_in", "price_out"):
            yield f"options.{key} is a key of the entry itself"


def argument_text(value: Any) -> str:
    """Return a value of a suite's file as the text of an argument."""
    return value if isinstance(value, str) else json.dumps(to_plain(value))
