"""The documents on file before month 0 (SPEC section 12), in our own words; names are redacted."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from models.enterprise_arena.accounting.accounts import CASH, ISSUE_SHARES, OPENING_MONTH, dollars
from models.enterprise_arena.accounting.closings import balance_sheet
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.rules import UNBOUNDED
from models.enterprise_arena.state import Lender

#: The month in which the opening documents count as compiled.
COMPILED = 0

#: Name of the opening income statement, without its folder.
INCOME_STATEMENT = "t0_income_statement"

#: Holders of the opening shares, with their percentage.
_HOLDERS = (("founders", 35), ("employees", 15), ("early investors", 50))

#: The income of the twelve months before month 0, dollars (SPEC section 12).
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
#: The cash flow of the same months, dollars. Only the income statement is in the SPEC; these flows
#: are chosen so that they lead to opening cash: vendors' costs less the opening payables, loans of
#: 36 million paid out and 21 million repaid, 20 million from early investors.
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
    "chief financial officer may open it without further approval, as equity or as debt, in "
    "{amount}. Decisions are taken once a month. Closing the books is optional: the officer orders "
    "it when statements are wanted, and they cover the months up to and including the closing."
)


@frozen
class _Contract:
    """A contract with a vendor.

    Attributes:
        number: As the documents number it.
        service: The service bought.
        duty: The vendor's duty, as the end of a sentence.
    """

    number: str
    service: str
    duty: str

    @property
    def filename(self) -> str:
        return f"t0_operations/{self.number}_{self.service.replace(' ', '_')}"

    def text(self, _: Lender) -> dict[str, Any]:
        return {
            "text": f"Contract {self.number} between Company XYZ and its vendor for "
            f"{self.service}. The vendor {self.duty}. Fees follow usage, are billed each month in "
            "arrears and fall due the following month. There is no minimum fee."
        }


_CONTRACTS = (
    _Contract("1A", "customer support", "answers borrowers' calls and letters"),
    _Contract("1B", "fraud monitoring", "screens applications and payments for fraud"),
    _Contract("2A", "software development", "builds and maintains the lending platform"),
    _Contract("2B", "hosting", "runs the platform's servers"),
    _Contract("3A", "sales and marketing", "finds borrowers and places advertisements"),
)


# -- contents --------------------------------------------------------------------------------------


def cap_table(lender: Lender) -> dict[str, Any]:
    """Return the holders of the opening shares, and the equity rounds that have closed since."""
    params = lender.params
    rounds = list(_rounds(lender))
    return {
        "opening_shares": params.opening_shares,
        "share_price": params.share_price,
        "opening_debt": 0.0,
        "rows": [
            {"holder": holder, "shares": params.opening_shares * percent / 100, "percent": percent}
            for holder, percent in _HOLDERS
        ],
        "rounds": rounds,
        "shares_now": params.opening_shares + sum(each["shares_issued"] for each in rounds),
    }


def _rounds(lender: Lender) -> Iterator[dict[str, Any]]:
    """Yield the equity rounds in the book; the officer was notified of each when it closed."""
    for entry in lender.books.book.journal:
        if entry.kind == ISSUE_SHARES.kind:
            amount = dollars(entry.amounts[CASH])
            yield {
                "month": lender.macro.label[entry.time],
                "amount": amount,
                "shares_issued": amount / lender.params.share_price,
            }


def _flows(params: ArenaParams) -> dict[str, float]:
    """Return the cash flow that leads to opening cash: without lending, paid-in equity."""
    cash = params.opening_cash
    paid = dict.fromkeys(("equity_proceeds", "financing", "net_change"), cash)
    flows = _FLOWS if params.lends else {**dict.fromkeys(_FLOWS, 0.0), **paid}
    return {**flows, "opening_cash": cash - flows["net_change"], "closing_cash": cash}


def _overview(lender: Lender) -> dict[str, Any]:
    p = lender.params
    business = _lending(p) if p.lends else "Company XYZ has no customers and makes no loans."
    overhead = f" Its overhead is {p.overhead:,.0f} dollars a month." if p.overhead else ""
    return {"text": f"{business}{overhead} {_funding(p)}"}


def _lending(p: ArenaParams) -> str:
    return (
        f"Company XYZ lends to consumers. It has {p.opening_users:,.0f} borrowers; a new one is "
        f"lent {p.average_loan:,.0f} dollars on average, paid out at once. Part of the book is "
        "promotional credit at no interest, the rest bears interest. Each month a share of the "
        "principal falls due and is billed together with the interest; most of what is billed is "
        "collected a month later. Revenue is the interest billed, recognised in the month of the "
        "bill whether collected or not; credit losses are provided for in advance. Growth is paid "
        "out of cash, so that many new borrowers take cash now and return it over years."
    )


def _funding(p: ArenaParams) -> str:
    return (
        "The company raises equity and debt when the chief financial officer asks for it; money "
        "takes months to arrive, may fall short of what was asked for, and may not come at all. "
        f"Equity is issued at {p.share_price:,.2f} dollars a share; debt is repaid in "
        f"{p.note_term_months} equal monthly instalments with interest on the balance."
    )


def _governance(lender: Lender) -> dict[str, Any]:
    return {"text": _GOVERNANCE.format(amount=_approved(lender.params.largest_request))}


def _approved(most: float) -> str:
    """Return the amounts that the board approves; the published board states no bound."""
    return "any amount" if most >= UNBOUNDED else f"an amount of at most {most:,.0f} dollars"


def _balance_sheet(lender: Lender) -> dict[str, Any]:
    return {"rows": balance_sheet(lender.books.book, OPENING_MONTH).money()}


def _income_statement(lender: Lender) -> dict[str, Any]:
    return {"rows": dict(_INCOME) if lender.params.lends else dict.fromkeys(_INCOME, 0.0)}


def _cash_flow_statement(lender: Lender) -> dict[str, Any]:
    return {"rows": _flows(lender.params)}


# -- the register ----------------------------------------------------------------------------------


@frozen
class Paper:
    """An opening document.

    Attributes:
        filename: With its folder.
        kind: The sort of document.
        period: The period that it covers.
        read: Returns its contents.
    """

    filename: str
    kind: str
    period: str
    read: Callable[[Lender], dict[str, Any]]


_START, _YEAR = "start", "prior twelve months"
_BOARD, _FINANCIALS = "t0_board_materials", "t0_financials"

#: In the order of the list.
PAPERS = (
    Paper(f"{_BOARD}/cap_table", "cap table", _START, cap_table),
    Paper(f"{_BOARD}/company_overview", "overview", _START, _overview),
    Paper(f"{_BOARD}/governance_approvals", "governance", _START, _governance),
    Paper(f"{_FINANCIALS}/t0_balance_sheet", "balance sheet", _START, _balance_sheet),
    Paper(f"{_FINANCIALS}/{INCOME_STATEMENT}", "income statement", _YEAR, _income_statement),
    Paper(
        f"{_FINANCIALS}/t0_cash_flow_statement", "cash flow statement", _YEAR, _cash_flow_statement
    ),
    *[Paper(each.filename, "vendor contract", "open-ended", each.text) for each in _CONTRACTS],
)
