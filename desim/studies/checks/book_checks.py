"""Checks of books: balances, statements, and the files that are exported of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from desim.core.ledger_protocols import Exportable, Ledger, Rows, inner_ledger, ledgers_of
from desim.core.model import Model, statements_of
from desim.episodes.export import STATEMENTS_FORM, Exported, export
from desim.errors import DesimError
from desim.faults import RAISED
from desim.schema import to_plain
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.outcomes import CheckFailed, NotChecked, class_place, fault_sentence
from desim.studies.checks.wording import counted

#: Amounts are compared to half a cent, as statements hold them in the currency itself.
_HALF = 0.005

#: Lines of which the first is the sum of the others, by their names in `ledgers.statements`.
_SUMS = (
    ("total_assets", ("total_liabilities", "total_equity")),
    ("closing_cash", ("opening_cash", "net_change")),
)


def ledgers(world: CheckedWorld) -> str:
    """The balances of every ledger sum to zero, and nothing was created or lost."""
    model, names = world.model, []
    for course in world.ended():
        _check_conserved(model, course.state)
        if not ledgers_of(course.state):
            raise NotChecked("the state has no `ledgers`, so that results have no digest")
        names = [_check_balances(ledger) for ledger in ledgers_of(course.state)]
    return f"{counted(len(names), 'ledger')}: {', '.join(names)}"


def _check_conserved(model: Model[Any], state: Any) -> None:
    try:
        model.check(state)
    except RAISED as fault:
        raise CheckFailed(fault_sentence(fault), model.check) from None


def _check_balances(ledger: Ledger) -> str:
    """Check the balances of a ledger, and return its name with their number."""
    inner = inner_ledger(ledger)
    kind = type(inner)
    name = getattr(ledger, "name", "") or kind.__name__
    if ledger.digest() != ledger.digest():
        raise CheckFailed(f"the digest of {name} changes between two calls", kind.digest)
    held = getattr(inner, "held", None)
    if held is None:
        return f"{name} (no balances)"
    if total := sum(held.values()):
        failed = CheckFailed(f"the balances of {name} sum to {total}, not to zero")
        failed.place = class_place(kind)
        raise failed
    return f"{name} ({counted(len(held), 'balance')})"


def statements(world: CheckedWorld) -> str:
    """Statements are tables of JSON values, and their totals agree with each other."""
    model: Any = world.model
    compared = 0
    for course in world.ended():
        try:
            found = statements_of(model, course.state)
            to_plain({name: [*rows] for name, rows in found.items()})
        except (DesimError, TypeError, ValueError) as fault:
            raise CheckFailed(fault_sentence(fault), model.statements) from fault
        if not found:
            raise NotChecked("the model reports no `statements`")
        for name, rows in found.items():
            compared += _check_sums(name, rows, model.statements)
    return f"{', '.join(found)}: {counted(compared, 'total')} agree with their parts"


def _check_sums(name: str, rows: Rows, at: Any) -> int:
    """Compare totals of a statement with the sums of their parts; return how many.

    Raises:
        CheckFailed: One differs.
    """
    lines = {str(next(iter(row.values()))): row for row in rows if row}
    compared = 0
    for total, parts in _SUMS:
        if not {total, *parts} <= lines.keys():
            continue
        for column, amount in lines[total].items():
            whole = sum(lines[part][column] for part in parts) if _is_amount(amount) else amount
            compared += _is_amount(amount)
            if _is_amount(amount) and abs(amount - whole) >= _HALF:
                text = f"{name}, column {column!r}: {total} is {amount:,.2f}, and "
                text += f"{' plus '.join(parts)} is {whole:,.2f}"
                raise CheckFailed(text, at)
    return compared


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def exports(world: CheckedWorld) -> str:
    """Ledgers, statements, series and decisions are written as files in every form."""
    record, files, forms = world.record(), 0, _exports(world)
    if not forms:
        raise NotChecked("the model has no series and no ledgers, and no role was asked")
    for what, form in forms:
        folder = Path(world.folder) / f"{what}-{form}"
        try:
            files += len(export(record, form, folder, what=what, trust=True))
        except (DesimError, TypeError, ValueError) as fault:
            raise CheckFailed(f"{what} as {form}: {fault_sentence(fault)}") from fault
    return f"{counted(files, 'file')} of {', '.join(f'{w} ({f})' for w, f in forms)}"


def _exports(world: CheckedWorld) -> Sequence[tuple[Exported, str]]:
    """Return what can be exported, each with its forms."""
    course, _ = world.first()
    exportable = [one for one in ledgers_of(course.state) if isinstance(one, Exportable)]
    forms = dict.fromkeys(form for one in exportable for form in one.export_forms)
    if world.model.statements(course.state):
        forms[STATEMENTS_FORM] = None
    found: list[tuple[Exported, str]] = [("ledgers", form) for form in forms]
    series: list[tuple[Exported, str]] = [("series", "csv")] * (world.model.series is not None)
    decisions: list[tuple[Exported, str]] = [("decisions", "csv")] * bool(course.asked)
    return [*found, *series, *decisions]
