"""The documents on file: which exist when, and their contents."""

from typing import Any

import pytest
from attrs import evolve
from support.arena import Seat, document, names

from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import AccessFinancialDocs, BookClosing, FundRaisingRequest
from models.enterprise_arena.macro import builtin

QUIET = EnterpriseArena(zero_noise=True)
OPENING = [
    "t0_board_materials/cap_table",
    "t0_board_materials/company_overview",
    "t0_board_materials/governance_approvals",
    "t0_financials/t0_balance_sheet",
    "t0_financials/t0_income_statement",
    "t0_financials/t0_cash_flow_statement",
    "t0_operations/1A_customer_support",
    "t0_operations/1B_fraud_monitoring",
    "t0_operations/2A_software_development",
    "t0_operations/2B_hosting",
    "t0_operations/3A_sales_and_marketing",
]
CLOSING = ["income_statement_ytd", "balance_sheet", "cash_flow_ytd", "trial_balance"]
CLOSING += ["general_ledger"]
RAW = ["bank_statement", "loan_tape", "vendor_invoices"]


def rows(seat: Seat, filename: str) -> Any:
    """Return the rows of a document."""
    return document(seat, filename)["rows"]


# -- the register ----------------------------------------------------------------------------------


def test_the_opening_papers_are_on_file_from_the_start() -> None:
    """There is no other document in month 0."""
    assert names(Seat(QUIET)) == OPENING


def test_past_months_leave_raw_extracts_and_closings_statements() -> None:
    """A closing covers its own month and is readable from the next one on."""
    seat = Seat(QUIET).to(1, {0: BookClosing()})
    january = [f"raw/2xx0_01/{name}" for name in RAW]
    january += [f"closings/2xx0_01/{name}" for name in CLOSING]
    assert names(seat) == OPENING + january
    assert names(seat.to(2)) == OPENING + january + [f"raw/2xx0_02/{name}" for name in RAW]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "..",
        "raw/2xx0_01/../2xx0_01/bank_statement",
        "./raw/2xx0_01/bank_statement",
        "/raw/2xx0_01/bank_statement",
        "RAW/2xx0_01/bank_statement",
        "raw/2xx0_01/bank_statement ",
        "raw/2xx0_02/bank_statement",
        "raw/2xx0_00/bank_statement",
        "raw/2xx0_-1/bank_statement",
        "raw/2xx0_01/balance_sheet",
        "closings/2xx0_01/balance_sheet",
        "closings/2xx0_*/balance_sheet",
        "/etc/passwd",
        "../../models/enterprise_arena/macro.csv",
        "raw\\2xx0_01\\bank_statement",
        "raw/2xx0_01/bank_statement\0",
        "x" * 1_000,
    ],
    ids=lambda name: name[:40],
)
def test_names_are_looked_up_and_never_parsed(name: str) -> None:
    """A name that is not exactly on the list is unknown."""
    reply = Seat(QUIET).to(1).ask(AccessFinancialDocs("retrieve", name))
    assert not reply.ok
    assert reply.out.startswith("there is no document ")
    assert len(reply.out) < 400


# -- opening papers --------------------------------------------------------------------------------


def test_the_opening_income_statement_is_that_of_the_specification() -> None:
    """Its margin is the 16.4 percent of a projection without closings."""
    shown = rows(Seat(QUIET), "t0_financials/t0_income_statement")
    assert shown["revenue"] == 1_300_000
    assert shown["cost_of_revenue"] == 582_400
    assert (shown["payroll"], shown["vendor_operating_expense"]) == (277_420, 226_980)
    assert shown["ebitda"] == 213_200 == shown["gross_profit"] - 277_420 - 226_980
    assert shown["ebitda"] / shown["revenue"] * 100 == pytest.approx(QUIET.projection_ebitda_margin)
    assert (shown["provision_for_credit_losses"], shown["net_income"]) == (1_000_000, -786_800)


def test_the_cap_table_counts_the_rounds_that_have_closed() -> None:
    """Shares are issued at 10 dollars; a round under way is not in it."""
    model = evolve(QUIET, forced_funding=((0, True, 0.85, 3), (4, True, 0.7, 2)))
    asking = FundRaisingRequest("equity", 20e6)
    seat = Seat(model).to(2, {0: asking})
    before = document(seat, "t0_board_materials/cap_table")
    assert (before["opening_shares"], before["shares_now"]) == (10.5e6, 10.5e6)
    assert [row["percent"] for row in before["rows"]] == [35, 15, 50]
    after = document(seat.to(5, {4: asking}), "t0_board_materials/cap_table")
    assert after["rounds"] == [{"month": "Apr 2xx0", "amount": 17e6, "shares_issued": 1.7e6}]
    assert after["shares_now"] == 12.2e6


def test_the_texts_contain_no_names_and_no_horizon() -> None:
    """Company XYZ, no year of the real world, no number of months to come."""
    seat = Seat(evolve(QUIET, tool_budget=100))
    texts = [document(seat, name).get("text", "") for name in OPENING]
    assert sum("Company XYZ" in text for text in texts) == 7
    assert not [text for text in texts if "132" in text or "20" in text]


# -- statements ------------------------------------------------------------------------------------


def test_statements_are_year_to_date() -> None:
    """Worked example, months 0 to 2; a closing in January starts anew."""
    seat = Seat(QUIET).to(3, {2: BookClosing()})
    income = rows(seat, "closings/2xx0_03/income_statement_ytd")
    assert income["revenue"] == pytest.approx(110_268.98 + 106_590.30 + 103_121.18)
    assert income["net_income"] == pytest.approx(-221_671.09 - 27_626.93 - 22_371.66)
    flows = rows(seat, "closings/2xx0_03/cash_flow_ytd")
    assert (flows["opening_cash"], flows["closing_cash"]) == (15e6, 17_348_535.15)
    assert flows["net_change"] == pytest.approx(2_348_535.15)
    january = Seat(QUIET).to(13, {12: BookClosing()})
    assert rows(january, "closings/2xx1_01/income_statement_ytd")["revenue"] < 100_000
    sheet = rows(january, "closings/2xx1_01/balance_sheet")
    income = rows(january, "closings/2xx1_01/income_statement_ytd")
    assert sheet["current_year_earnings"] == income["net_income"]


def test_statements_ledger_and_trial_balance_agree() -> None:
    """Assets equal claims; the ledger ends with the trial balance; both sides are equal."""
    seat = Seat(EnterpriseArena(opening_cash=100e6), seed=5).to(17, {16: BookClosing()})
    sheet = rows(seat, "closings/2xx1_05/balance_sheet")
    assert sheet["total_assets"] == pytest.approx(
        sheet["total_liabilities"] + sheet["total_equity"]
    )
    trial = rows(seat, "closings/2xx1_05/trial_balance")
    assert sum(row["debit"] for row in trial) == pytest.approx(sum(row["credit"] for row in trial))
    accounts = document(seat, "closings/2xx1_05/general_ledger")["accounts"]
    assert [each["account"] for each in accounts] == [row["account"] for row in trial]
    for account, row in zip(accounts, trial, strict=True):
        closing = row["debit"] - row["credit"]
        lines = account["lines"]
        moved = sum(line["debit"] - line["credit"] for line in lines)
        assert account["opening_balance"] + moved == pytest.approx(closing, abs=0.01)
        assert not lines or lines[-1]["balance"] == pytest.approx(closing)
        assert {line["month"] for line in lines} <= set(builtin().label[12:17])


def test_vendors_costs_are_split_by_fixed_shares() -> None:
    """Five contracts share cost of revenue and vendor expense, and change no total."""
    seat = Seat(QUIET).to(1, {0: BookClosing()})
    shown = document(seat, "closings/2xx0_01/income_statement_ytd")
    costs = 49_400.50 + 19_252.96
    shares = [0.25, 0.15, 0.25, 0.20, 0.15]
    assert list(shown["vendors"].values()) == pytest.approx([costs * s for s in shares], abs=0.01)
    assert sum(shown["vendors"].values()) == pytest.approx(costs)


# -- raw extracts ----------------------------------------------------------------------------------


def test_the_bank_statement_shows_classes_of_the_cash_ledger() -> None:
    """Worked example, month 1: one sum of collections, and balances that add up."""
    shown = document(Seat(QUIET).to(2), "raw/2xx0_02/bank_statement")
    flows = {row["class"]: (row["inflow"], row["outflow"]) for row in shown["rows"]}
    assert flows == {
        "investor": (0, 0),
        "lender draw": (0, 0),
        "borrower collection": (round(1_893_813.63 + 106_960.91, 2), 0),
        "loan disbursement": (0, 367_555.0),
        "payroll": (0, 22_863.62),
        "vendor": (0, 68_653.46),
        "lender interest": (0, 0),
        "lender principal": (0, 0),
        "tax": (0, 0),
    }
    assert (shown["opening_balance"], shown["closing_balance"]) == (14_276_468.6, 15_818_171.06)


def test_the_loan_tape_counts_new_loans_and_what_was_billed() -> None:
    """Worked example, month 0: 35 loans; principal and interest billed in one sum."""
    shown = document(Seat(QUIET).to(1), "raw/2xx0_01/loan_tape")
    assert (shown["new_loans"], shown["amount_lent"]) == (35, 350_000.0)
    assert shown["amount_billed"] == round(1_952_385.19 + 110_268.98, 2)


def test_vendor_invoices_have_no_amount_for_their_own_month() -> None:
    """What earlier invoices were paid is split among the vendors."""
    shown = rows(Seat(QUIET).to(2), "raw/2xx0_02/vendor_invoices")
    assert [row["amount"] for row in shown] == [None] * 5
    paid = {row["vendor"]: row["paid_on_earlier"] for row in shown}
    assert list(paid) == [
        "customer support",
        "fraud monitoring",
        "software development",
        "hosting",
        "sales and marketing",
    ]
    assert sum(paid.values()) == pytest.approx(68_653.46)
    assert paid["hosting"] == pytest.approx(0.2 * 68_653.46, abs=0.01)
