"""The papers on file before month 0 (SPEC section 12), in our own words; names are redacted."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from models.enterprise_arena.closings import balance_sheet
from models.enterprise_arena.company import Company
from models.enterprise_arena.journal import OPENING_MONTH, dollars

__all__ = ["COMPILED", "PAPERS", "Paper", "cap_table", "read"]

#: In which the opening papers count as compiled.
COMPILED = 0

_HOLDERS = (("founders", 35), ("employees", 15), ("early investors", 50))

#: The prior twelve months, dollars.
_INCOME = {
    "revenue": 1_300_000.0,
    "cost_of_revenue": 582_400.0,
    "gross_profit": 717_600.0,
    "payroll": 277_420.0,
    "vendor_operating_expense": 226_980.0,
    "ebitda": 213_200.0,
    "provision_for_credit_losses": 1_000_000.0,
    "interest_expense": 0.0,
    "pretax_income": -786_800.0,
    "income_tax": 0.0,
    "net_income": -786_800.0,
}
#: Of the same months: what vendors had earned less what they were still owed, loans of 36 million
#: paid out and 21 million repaid, and the last of the early investors' money.
_FLOWS = {
    "collections_interest": 1_300_000.0,
    "vendor_payments": -459_380.0,
    "payroll_paid": -277_420.0,
    "tax_paid": 0.0,
    "interest_paid": 0.0,
    "operating": 563_200.0,
    "collections_principal": 21_000_000.0,
    "loans_originated": -36_000_000.0,
    "investing": -15_000_000.0,
    "equity_proceeds": 20_000_000.0,
    "debt_proceeds": 0.0,
    "debt_repaid": 0.0,
    "financing": 20_000_000.0,
    "net_change": 5_563_200.0,
}

_GOVERNANCE = (
    "Resolutions of the board of Company XYZ. One funding process may be under way at a time; the "
    "chief financial officer may open it without further approval, as equity or as debt, in any "
    "amount. Decisions are taken once a month. Closing the books is optional: the officer orders "
    "it when statements are wanted, and they cover the months up to and including the closing."
)
_SERVICES = {
    "1A_customer_support": "answers borrowers' calls and letters",
    "1B_fraud_monitoring": "screens applications and payments for fraud",
    "2A_software_development": "builds and maintains the lending platform",
    "2B_hosting": "runs the platform's servers",
    "3A_sales_and_marketing": "finds borrowers and places advertisements",
}


@frozen
class Paper:
    """An opening paper.

    Attributes:
        filename: With its folder.
        kind: What sort of document it is.
        period: What it covers.
    """

    filename: str
    kind: str
    period: str


_START, _YEAR = "start", "prior twelve months"

#: In the order of the list.
PAPERS = (
    Paper("t0_board_materials/cap_table", "cap table", _START),
    Paper("t0_board_materials/company_overview", "overview", _START),
    Paper("t0_board_materials/governance_approvals", "governance", _START),
    Paper("t0_financials/t0_balance_sheet", "balance sheet", _START),
    Paper("t0_financials/t0_income_statement", "income statement", _YEAR),
    Paper("t0_financials/t0_cash_flow_statement", "cash flow statement", _YEAR),
    *[Paper(f"t0_operations/{name}", "vendor contract", "open-ended") for name in _SERVICES],
)


def read(company: Company, paper: Paper) -> dict[str, Any]:
    """Return what a paper says."""
    name = paper.filename.rpartition("/")[2]
    said = _SAID.get(name)
    return said(company) if said else {"text": _contract(name)}


def cap_table(company: Company) -> dict[str, Any]:
    """Return who holds the shares: at the start, and the rounds that have closed since."""
    game = company.game
    rounds = [dict(each) for each in _rounds(company)]
    return {
        "opening_shares": game.opening_shares,
        "share_price": game.share_price,
        "opening_debt": 0.0,
        "rows": [
            {"holder": holder, "shares": game.opening_shares * percent / 100, "percent": percent}
            for holder, percent in _HOLDERS
        ],
        "rounds": rounds,
        "shares_now": game.opening_shares + sum(each["shares_issued"] for each in rounds),
    }


def _rounds(company: Company) -> Iterator[dict[str, Any]]:
    """Read the rounds from the book; each was told when it closed."""
    for entry in company.books.book.journal:
        if entry.name == "J1":
            amount = dollars(entry.amounts["1000"])
            yield {
                "month": company.macro.label[entry.time],
                "amount": amount,
                "shares_issued": amount / company.game.share_price,
            }


def _flows(closing_cash: float) -> dict[str, float]:
    opened = closing_cash - _FLOWS["net_change"]
    return {**_FLOWS, "opening_cash": opened, "closing_cash": closing_cash}


def _overview(company: Company) -> str:
    game = company.game
    return (
        f"Company XYZ lends to consumers. It has {game.opening_users:,.0f} borrowers; a new one is "
        f"lent {game.average_loan:,.0f} dollars on average, paid out at once. Part of the book is "
        "promotional credit at no interest, the rest bears interest. Each month a share of the "
        "principal falls due and is billed together with the interest; most of what is billed is "
        "collected a month later. Revenue is the interest billed, recognised in the month of the "
        "bill whether collected or not; credit losses are provided for in advance. Growth is paid "
        "out of cash, so that many new borrowers take cash now and return it over years. The "
        "company raises equity and debt when the chief financial officer asks for it; money takes "
        "months to arrive, may fall short of what was asked for, and may not come at all. Equity "
        f"is issued at {game.share_price:,.2f} dollars a share; debt is repaid in "
        f"{game.note_term_months} equal monthly instalments with interest on the balance."
    )


def _contract(name: str) -> str:
    number, _, service = name.partition("_")
    return (
        f"Contract {number} between Company XYZ and its vendor for {service.replace('_', ' ')}. "
        f"The vendor {_SERVICES[name]}. Fees follow usage, are billed each month in arrears and "
        "fall due the following month. There is no minimum fee."
    )


_SAID: dict[str, Callable[[Company], dict[str, Any]]] = {
    "cap_table": cap_table,
    "company_overview": lambda company: {"text": _overview(company)},
    "governance_approvals": lambda _: {"text": _GOVERNANCE},
    "t0_balance_sheet": lambda company: {
        "rows": balance_sheet(company.books.book, OPENING_MONTH).money()
    },
    "t0_income_statement": lambda _: {"rows": dict(_INCOME)},
    "t0_cash_flow_statement": lambda company: {"rows": _flows(company.game.opening_cash)},
}
