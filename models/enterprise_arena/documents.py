"""The documents on file, in our own words: the opening papers, and those of every month (SPEC 12).

The register grows month by month; a closing adds the statements of its month. A requested name is
looked up in the register as it is, and never parsed or used as a path.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from attrs import frozen

from models.enterprise_arena import statements
from models.enterprise_arena.books import CASH, ISSUE_SHARES, OPENING_MONTH, dollars
from models.enterprise_arena.desk import CommandRefused, unknown
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.params import UNBOUNDED, YEAR, ArenaParams
from models.enterprise_arena.regimes import MONTHS

#: Values of the argument `action` of the document tools.
ACTIONS = ("list", "retrieve")
#: The month in which the opening documents count as compiled.
COMPILED = 0
#: Name of the opening income statement, without its folder.
INCOME_STATEMENT = "t0_income_statement"


@frozen
class File:
    """A document on file; its contents are computed from the book when they are read."""

    filename: str
    period: str
    kind: str
    compiled: int
    read: Callable[[], dict[str, Any]]


def on_file(lender: Lender) -> dict[str, File]:
    """Return every document that can be read now, by name, the oldest first.

    A document on file never changes, so only the months since the last call are added.
    """
    files: dict[str, File] = lender.files
    closed = set(lender.closed)
    added = [] if files else [*_opening(lender)]
    for month in range(lender.months_filed, lender.month):
        added += _raw(lender, month)
        if month in closed:
            added += _closing(lender, month)
    files.update({file.filename: file for file in added})
    lender.months_filed = lender.month
    return files


def catalogued(files: Mapping[str, File]) -> list[dict[str, Any]]:
    """Return the list of the documents as the tools show it."""
    return [
        {
            "filename": name,
            "period": file.period,
            "kind": file.kind,
            "compiled_month": file.compiled,
        }
        for name, file in files.items()
    ]


def retrieved(files: Mapping[str, File], filename: str) -> dict[str, Any]:
    """Return the contents of a document, or raise `CommandRefused` if none has that name."""
    if filename not in files:
        why = unknown("document", filename, files)
        raise CommandRefused(f"{why}; action='list' tells those on file" if why[-1] != "?" else why)
    file = files[filename]
    about = {"filename": filename, "kind": file.kind, "period": file.period}
    return {"company": "Company XYZ", **about, "unit": "dollars", **file.read()}


def folder(month: int, label: str) -> str:
    """Return the name of a month's folder: "2xx0_03" for the label "Mar 2xx0".

    A label of another form, which is a text of the table's author, is followed by the index.
    """
    number = month % YEAR
    if re.fullmatch(rf"{MONTHS[number]} \S+", label):
        return f"{label[4:]}_{number + 1:02}"
    return f"{label}_{month:03}"


# -- a month ---------------------------------------------------------------------------------------


def _closing(lender: Lender, month: int) -> list[File]:
    book, labels = lender.books.book, lender.macro.label
    january = month - month % YEAR
    label, year = labels[month], f"{labels[january]} to {labels[month]}"

    def income() -> dict[str, Any]:
        statement = statements.reports(book, month).income_statement(book, january, month)
        costs = statement["cost_of_revenue"] + statement["vendor_operating_expense"]
        vendors = statements.by_vendor(costs, lender.params.vendor_shares)
        return {"rows": statement.money(), "vendors": vendors}

    def position() -> dict[str, Any]:
        return {"rows": statements.reports(book, month).balance_sheet(book, month).money()}

    def flows() -> dict[str, Any]:
        statement = statements.reports(book, month).cash_flow_statement(book, january, month)
        return {"rows": statement.money()}

    def trial() -> dict[str, Any]:
        return {"rows": statements.trial_balance(book, month)}

    def ledger() -> dict[str, Any]:
        return {"accounts": statements.ledger(book, month, labels)}

    name = f"closings/{folder(month, label)}"
    return [
        File(f"{name}/income_statement_ytd", year, "income statement", month, income),
        File(f"{name}/balance_sheet", label, "balance sheet", month, position),
        File(f"{name}/cash_flow_ytd", year, "cash flow statement", month, flows),
        File(f"{name}/trial_balance", label, "trial balance", month, trial),
        File(f"{name}/general_ledger", year, "general ledger", month, ledger),
    ]


def _raw(lender: Lender, month: int) -> list[File]:
    book, params, label = lender.books.book, lender.params, lender.macro.label[month]

    def invoices() -> dict[str, Any]:
        return {"rows": statements.vendor_invoices(book, month, params.vendor_shares)}

    bank = partial(statements.bank_statement, book, month)
    tape = partial(statements.loan_tape, book, month, params.average_loan)
    name = f"raw/{folder(month, label)}"
    return [
        File(f"{name}/bank_statement", label, "bank statement", month, bank),
        File(f"{name}/loan_tape", label, "loan tape", month, tape),
        File(f"{name}/vendor_invoices", label, "vendor invoices", month, invoices),
    ]


# -- the opening papers ----------------------------------------------------------------------------

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


#: Number, service and duty of the contracts with vendors.
_CONTRACTS = (
    ("1A", "customer support", "answers borrowers' calls and letters"),
    ("1B", "fraud monitoring", "screens applications and payments for fraud"),
    ("2A", "software development", "builds and maintains the lending platform"),
    ("2B", "hosting", "runs the platform's servers"),
    ("3A", "sales and marketing", "finds borrowers and places advertisements"),
)


def _opening(lender: Lender) -> Iterator[File]:
    start, year = "start", "prior twelve months"
    board, money = "t0_board_materials", "t0_financials"
    params, book = lender.params, lender.books.book
    sheet = statements.reports(book, OPENING_MONTH).balance_sheet(book, OPENING_MONTH).money()
    income = _INCOME if params.lends else dict.fromkeys(_INCOME, 0.0)
    papers: list[tuple[str, str, str, Callable[[], dict[str, Any]]]] = [
        (f"{board}/cap_table", start, "cap table", partial(cap_table, lender)),
        (f"{board}/company_overview", start, "overview", partial(_overview, params)),
        (f"{board}/governance_approvals", start, "governance", partial(_governance, params)),
        (f"{money}/t0_balance_sheet", start, "balance sheet", lambda: {"rows": dict(sheet)}),
        (f"{money}/{INCOME_STATEMENT}", year, "income statement", lambda: {"rows": dict(income)}),
        (
            f"{money}/t0_cash_flow_statement",
            *(year, "cash flow statement", lambda: {"rows": _flows(params)}),
        ),
    ]
    for number, service, duty in _CONTRACTS:
        name = f"t0_operations/{number}_{service.replace(' ', '_')}"
        text = partial(_contract, number, service, duty)
        papers.append((name, "open-ended", "vendor contract", text))
    for name, period, kind, read in papers:
        yield File(name, period, kind, COMPILED, read)


def _contract(number: str, service: str, duty: str) -> dict[str, Any]:
    return {
        "text": f"Contract {number} between Company XYZ and its vendor for {service}. The vendor "
        f"{duty}. Fees follow usage, are billed each month in arrears and fall due the following "
        "month. There is no minimum fee."
    }


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
    # The officer was notified of each when it closed.
    for entry in lender.books.book.journal:
        if entry.kind == ISSUE_SHARES.kind:
            amount = dollars(entry.amounts[CASH])
            yield {
                "month": lender.macro.label[entry.time],
                "amount": amount,
                "shares_issued": amount / lender.params.share_price,
            }


def _flows(params: ArenaParams) -> dict[str, float]:
    # Without lending, paid-in equity leads to opening cash.
    cash = params.opening_cash
    paid = dict.fromkeys(("equity_proceeds", "financing", "net_change"), cash)
    flows = _FLOWS if params.lends else {**dict.fromkeys(_FLOWS, 0.0), **paid}
    return {**flows, "opening_cash": cash - flows["net_change"], "closing_cash": cash}


def _overview(p: ArenaParams) -> dict[str, Any]:
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


def _governance(p: ArenaParams) -> dict[str, Any]:
    # The published board states no bound.
    most = p.largest_request
    amount = "any amount" if most >= UNBOUNDED else f"an amount of at most {most:,.0f} dollars"
    return {"text": _GOVERNANCE.format(amount=amount)}
