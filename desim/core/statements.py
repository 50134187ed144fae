"""The statements of a model as tables, in whichever form the model returns them."""

from collections.abc import Mapping, Sequence
from typing import Any

from desim.core.protocols import HasStatements, Model, Rows, Statement, offers
from desim.errors import UsageError
from desim.short_repr import short_repr

__all__ = ["rows_of", "statements_of"]


def statements_of(model: Model[Any], state: Any) -> dict[str, Rows]:
    """Return the statements of a model by name; none of a model that reports none.

    Raises:
        UsageError: A statement is neither a table nor has `money`.
    """
    found = model.statements(state) if offers(model, HasStatements) else {}
    return {name: rows_of(name, given) for name, given in found.items()}


def rows_of(name: str, given: Rows | Statement) -> Rows:
    """Return a table as rows; of a statement its lines and amounts, under "line" and "amount".

    Args:
        name: What error texts call the table.
        given: Rows, or an object with `money`.

    Raises:
        UsageError: It is neither.
    """
    if offers(given, Statement):
        return [{"line": line, "amount": amount} for line, amount in given.money().items()]
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return given
    raise UsageError(
        f"the table {name!r} is {short_repr(given)}; a table is a list of mappings by column, or "
        "a statement with `money`"
    )
