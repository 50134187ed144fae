"""Options and tables, which a model offers a person beside the observation.

If the model fails to give one, the game goes on without it and states the failure.
"""

from collections.abc import Mapping
from typing import Any

from desim.core.ledger_protocols import rows_of
from desim.core.model_protocols import Model, Rows, offers
from desim.core.reported import HasTables
from desim.core.roles import Option, Role
from desim.errors import UsageError, possible
from desim.faults import RAISED
from desim.schema import codec
from desim.show.labels import label_text, value_text
from desim.show.table import Table
from desim.ui.game_faults import call_failed
from desim.ui.layout import text_table


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
    if not offers(model, HasTables):
        return {}, ""
    try:
        tables = dict(model.tables(state, role))
        for name in tables:
            label_text(name)
    except RAISED as error:
        return {}, f"There are no tables now: {call_failed(model.tables, error)}"
    return tables, ""


def shown_table(tables: Mapping[str, Rows], name: str) -> Table:
    """Lay out a table.

    Raises:
        UsageError: The table does not exist, or its rows cannot be shown.
    """
    if name not in tables:
        raise UsageError(f"there is no table {name!r}; {possible(name, tables)}")
    rows = rows_of(name, tables[name])
    try:
        return text_table(label_text(name), rows)
    except RAISED as error:
        raise UsageError(
            f"the table {name!r} cannot be shown: {type(error).__name__}: {error}"
        ) from None
