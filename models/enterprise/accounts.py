"""The group's chart and statements, and where the accounts of each world belong in it."""

from ledgers.chart import Account, Chart, Kind
from ledgers.consolidation import ACCOUNT as INTERCOMPANY
from ledgers.entry import Entry
from ledgers.statements import Reports, standard_reports

CASH, CAPITAL, NOTES, PAYABLES = "cash", "capital", "notes", "payables"

#: Code and kind of each account of the group, and the codes of a world's book that differ from it.
#: Of codes with dots the first word counts, as every stage of the plant has accounts of its own;
#: numbers are the lender's. Intercompany balances are an asset that sums to zero.
_ACCOUNTS: tuple[tuple[str, Kind, str], ...] = (
    (CASH, "asset", "1000"),
    ("receivables", "asset", "1110 1120"),
    ("loans", "asset", "1100"),
    (INTERCOMPANY, "asset", ""),
    ("allowance", "contra_asset", "1190"),
    (PAYABLES, "liability", "2000 payable"),
    ("taxes", "liability", "2100"),
    ("accrued_interest", "liability", "2110"),
    (NOTES, "liability", "2200"),
    (CAPITAL, "equity", "3000"),
    ("retained_earnings", "equity", "3900"),
    ("sales", "income", "revenue rewards"),
    ("interest_income", "income", "4000"),
    ("payroll", "expense", "5100 salaries wages"),
    ("operating_costs", "expense", "5000 5200 workplaces fixed_cost"),
    ("stock_costs", "expense", "holding backlog"),
    ("fines", "expense", ""),
    ("credit_losses", "expense", "5300"),
    ("interest", "expense", "5400"),
    ("income_tax", "expense", "5500"),
)
CHART = Chart(Account(code, code.replace("_", " "), kind) for code, kind, _ in _ACCOUNTS)
_GROUP_CODES = {name: code for code, _, names in _ACCOUNTS for name in names.split()}

#: Kind of cash flow in the group by an entry's kind in a part's book; others are operations. The
#: year-end close is left out: the group's income accounts run over the whole episode.
RAISED, DRAWN, REPAID, OPENING = "equity_raised", "notes_drawn", "notes_repaid", "opening"
_FLOWS = {"J0": "", "J1": RAISED, "J2": DRAWN, "J14": REPAID, OPENING: OPENING}
_FINANCING = (RAISED, DRAWN, REPAID, OPENING, INTERCOMPANY)


def account(code: str) -> str:
    """Return the group's account for an account of a part."""
    first = code.partition(".")[0]
    return _GROUP_CODES.get(first, first)


def flow(part: str, entry: Entry) -> str:
    """Return the line of the cash-flow statement for an entry of a part; empty for none."""
    if INTERCOMPANY in entry.amounts:
        return INTERCOMPANY
    return _FLOWS.get(entry.kind, OPENING if CAPITAL in entry.amounts else f"operations_{part}")


def reports(parts: tuple[str, ...]) -> Reports:
    """Return the reports of a group of some parts."""
    return standard_reports(
        CHART,
        CASH,
        {"operations": [f"operations_{part}" for part in parts], "financing": _FINANCING},
    )
