"""Every number of the world, by the section of the SPEC it belongs to.

Units and ranges stand with each parameter. The last mark of its line is that of its value in the
SPEC: [P] fixed by the paper, [A] taken from public descriptions of the simulator, [C] calibrated
or proposed there. The classes have no slots, so that the model can inherit from all of them.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, in_, instance_of, le, optional

from desim.params import finite

__all__ = ["Information", "Lending", "Noise", "Opening", "Raising", "Scoring"]

Range = tuple[float, float]
#: Month, whether it succeeds, share of the amount that comes, months until it is known.
Forced = tuple[int, bool, float, int]


def _range(least: float, most: float) -> Any:
    """Check a pair, low and high, within bounds."""

    def check(_: object, attribute: "Attribute[Any]", value: Any) -> None:
        if len(value) != 2:  # noqa: PLR2004 (a pair)
            raise ValueError(f"{attribute.name}={value!r} was given; it is low and high")
        for each in value:
            finite(_, attribute, each)
        low, high = value
        if not least <= low <= high <= most:
            raise ValueError(
                f"{attribute.name}={value!r} was given; low and high lie between {least:g} and "
                f"{most:g}, low first"
            )

    return check


def _pair(value: Iterable[float]) -> tuple[Any, ...]:
    return tuple(value)


_switch: Any = instance_of(bool)
_share: list[Any] = [finite, ge(0), le(1)]
_money: list[Any] = [finite, ge(0), le(1e12)]
_percent: list[Any] = [finite, ge(-100), le(100)]
_slope: list[Any] = [finite, ge(0), le(100)]
_sigma: list[Any] = [finite, ge(0), le(50)]
_whole: list[Any] = [finite, instance_of(int)]
_count: list[Any] = [*_whole, ge(0), le(100_000)]
_limit: Any = optional(_count)
_multiple: Any = optional([finite, gt(0), le(1e6)])


def _rows(value: Any) -> tuple[Forced, ...]:
    """Bring a forced-funding table into its one form: rows in the order of their months."""
    try:
        if isinstance(value, Mapping):
            value = [(int(month), *_outcome(told)) for month, told in value.items()]
        return tuple(sorted(tuple(row) for row in value))
    except (TypeError, ValueError, KeyError):
        raise ValueError(
            f"forced_funding={value!r} was given; it is rows of month, success, fill, delay, or a "
            "mapping of months to the other three"
        ) from None


def _outcome(told: Any) -> Iterable[Any]:
    return (told["success"], told["fill"], told["delay"]) if isinstance(told, Mapping) else told


def _forced(_: object, attribute: "Attribute[Any]", value: tuple[Forced, ...]) -> None:
    for row in value:
        if len(row) != 4 or not _plausible(*row):  # noqa: PLR2004 (month, success, fill, delay)
            raise ValueError(
                f"{attribute.name}: {row!r} was given; a row is month from 0, success true or "
                "false, fill from 0 to 1, delay of 1 month or more"
            )
    if len({row[0] for row in value}) < len(value):
        raise ValueError(f"{attribute.name}={value!r} was given; each month stands once")


def _plausible(month: Any, success: Any, fill: Any, delay: Any) -> bool:
    numbers = type(month) is int and type(delay) is int and type(fill) in (int, float)
    return numbers and type(success) is bool and month >= 0 and 0 <= fill <= 1 and delay >= 1


@frozen(kw_only=True, slots=False)
class Opening:
    """The company before month 0 (SPEC section 3).

    Attributes:
        opening_cash: Dollars, 0 to 1e12. [P]
        opening_users: Active borrowers, 1 to 1e9. [P]
        average_loan: Dollars lent to a new borrower, 0 to 1e6. [P]
        opening_loans: Principal not yet billed, dollars. [P]
        opening_principal_receivable: Billed and not yet collected, dollars. [C]
        opening_interest_receivable: Billed and not yet collected, dollars. [C]
        opening_allowance: For credit losses, dollars. [C]
        opening_payables: Owed to vendors, dollars. [C]
        opening_tax_payable: Dollars. [C]
        opening_shares: Common shares, 0 to 1e9. [P]
        share_price: Dollars for which a share is issued, 0.01 to 1e6. [P]
        opening_loss_carryforward: Losses that reduce taxable income, dollars. [C]

    Paid-in capital is shares x price, [C]; retained earnings balance the rest, [C].
    """

    opening_cash: float = field(default=15_000_000.0, validator=_money)
    opening_users: float = field(default=5_000.0, validator=[finite, ge(1), le(1e9)])
    average_loan: float = field(default=10_000.0, validator=[finite, ge(0), le(1e6)])
    opening_loans: float = field(default=50_000_000.0, validator=_money)
    opening_principal_receivable: float = field(default=0.0, validator=_money)
    opening_interest_receivable: float = field(default=0.0, validator=_money)
    opening_allowance: float = field(default=1_000_000.0, validator=_money)
    opening_payables: float = field(default=350_000.0, validator=_money)
    opening_tax_payable: float = field(default=0.0, validator=_money)
    opening_shares: float = field(default=10_500_000.0, validator=[finite, ge(0), le(1e9)])
    share_price: float = field(default=10.0, validator=[finite, ge(0.01), le(1e6)])
    opening_loss_carryforward: float = field(default=0.0, validator=_money)


@frozen(kw_only=True, slots=False)
class Noise:
    """The company's own deviation from its industry, month by month (SPEC section 5).

    Attributes:
        sigma_gross_margin: Percentage points, 0 to 50. [P]
        sigma_ebitda_margin: Percentage points, 0 to 50. [P]
        sigma_growth: Percentage points of monthly borrower growth, 0 to 50. [P]
        sigma_collection: Of the collection rate, a share, 0 to 1. [P]
        gross_margin_range: Lowest and highest, percent, within -100 to 100. [P]
        ebitda_margin_range: Lowest and highest, percent, within -100 to 100. [P]
        collection_base: Share of billed amounts collected a month later. [P]
        collection_range: Lowest and highest collection rate, shares. [P]
        zero_noise: Whether all four deviations are 0, whatever the sigmas. [C]
    """

    sigma_gross_margin: float = field(default=2.0, validator=_sigma)
    sigma_ebitda_margin: float = field(default=1.5, validator=_sigma)
    sigma_growth: float = field(default=0.5, validator=_sigma)
    sigma_collection: float = field(default=0.04, validator=_share)
    gross_margin_range: Range = field(
        default=(10.0, 80.0), converter=_pair, validator=_range(-100, 100)
    )
    ebitda_margin_range: Range = field(
        default=(0.0, 60.0), converter=_pair, validator=_range(-100, 100)
    )
    collection_base: float = field(default=0.97, validator=_share)
    collection_range: Range = field(default=(0.85, 1.0), converter=_pair, validator=_range(0, 1))
    zero_noise: bool = field(default=False, validator=_switch)


@frozen(kw_only=True, slots=False)
class Lending:
    """How a month closes (SPEC section 6).

    Attributes:
        amortisation_rate: Share of unbilled principal billed each month. [C]
        interest_bearing_share: phi, the share of the lending rate that the book earns. [C]
        chargeoff_base_annual: Share of the book lost a year at the pivot. [C]
        chargeoff_unemployment_slope: Change of that share, relative, a point of unemployment. [C]
        chargeoff_unemployment_pivot: Unemployment at which the base holds, percent. [C]
        chargeoff_floor: Least multiple of the base. [C]
        receivable_chargeoff_share: Of what stayed uncollected, written off each month. [C]
        allowance_on_loans: Required share of unbilled principal. [C]
        allowance_on_receivables: Required share of billed amounts. [C]
        payroll_share_of_opex: The rest of operating expense is vendors'. [C]
        tax_rate: Share of taxable income. [C]
        note_term_months: Equal instalments of a note, 1 to 1,200. [C]
        vendor_shares: Customer support, fraud monitoring, software development, hosting, sales
            and marketing: shares of all that vendors get; they sum to 1. [C]
    """

    amortisation_rate: float = field(default=0.0391, validator=_share)
    interest_bearing_share: float = field(default=0.53, validator=_share)
    chargeoff_base_annual: float = field(default=0.015, validator=_share)
    chargeoff_unemployment_slope: float = field(default=0.10, validator=_slope)
    chargeoff_unemployment_pivot: float = field(default=5.0, validator=_percent)
    chargeoff_floor: float = field(default=0.5, validator=_slope)
    receivable_chargeoff_share: float = field(default=0.25, validator=_share)
    allowance_on_loans: float = field(default=0.02, validator=_share)
    allowance_on_receivables: float = field(default=0.10, validator=_share)
    payroll_share_of_opex: float = field(default=0.55, validator=_share)
    tax_rate: float = field(default=0.21, validator=_share)
    note_term_months: int = field(default=60, validator=[*_whole, ge(1), le(1_200)])
    vendor_shares: tuple[float, float, float, float, float] = field(
        default=(0.25, 0.15, 0.25, 0.20, 0.15), converter=_pair
    )

    @vendor_shares.validator
    def _vendors(self, _: object, value: tuple[float, ...]) -> None:
        fine = len(value) == 5 and all(0 <= share <= 1 for share in value)  # noqa: PLR2004 (five contracts)
        if not fine or abs(math.fsum(value) - 1) > 1e-9:  # noqa: PLR2004 (rounding)
            raise ValueError(f"vendor_shares={value!r} was given; five shares sum to 1")


@frozen(kw_only=True, slots=False)
class Raising:
    """What money costs, and whether and when it comes (SPEC section 8).

    Attributes:
        equity_midpoint: VIX at which half of equity requests succeed, index points. [C]
        equity_scale: Of the logistic curve, index points, 0.5 to 100. [C]
        round_decay: Multiple of the chance for every round closed before. [P]
        debt_base: Chance of debt at a SOFR of zero and a narrow spread. [C]
        debt_sofr_slope: Chance lost a point of SOFR. [C]
        debt_spread_slope: Chance lost a point of Baa over ten-year Treasuries above the pivot. [C]
        debt_spread_pivot: Percentage points. [C]
        debt_range: Lowest and highest chance before leverage counts. [C]
        leverage_threshold: Notes over book equity from which debt is penalised. [P]
        leverage_penalty: Share of the chance lost a unit of leverage above the threshold. [P]
        leverage_spread: Added to the contract rate a unit of leverage above the threshold, a
            share: 0.05 is 500 basis points. [P]
        fill_range: Share of the amount that comes, uniform. [P]
        delay_range: Months to the outcome, uniform on whole months, 1 to 1,200. [P]
        max_raise_multiple: Most that comes, a multiple of book equity at the request; none. [C]
        largest_request: Dollars up to which books in 64-bit cents are exact; not of the paper.
        forced_funding: Outcomes that replace the draws of some months: rows of month, success,
            fill, delay, or a mapping of months to the other three. [C]
    """

    equity_midpoint: float = field(default=30.0, validator=[finite, ge(0), le(1_000)])
    equity_scale: float = field(default=6.5, validator=[finite, ge(0.5), le(100)])
    round_decay: float = field(default=0.75, validator=_share)
    debt_base: float = field(default=0.95, validator=_share)
    debt_sofr_slope: float = field(default=0.05, validator=_slope)
    debt_spread_slope: float = field(default=0.05, validator=_slope)
    debt_spread_pivot: float = field(default=2.0, validator=_percent)
    debt_range: Range = field(default=(0.30, 0.97), converter=_pair, validator=_range(0, 1))
    leverage_threshold: float = field(default=0.5, validator=_slope)
    leverage_penalty: float = field(default=1.5, validator=_slope)
    leverage_spread: float = field(default=0.05, validator=_share)
    fill_range: Range = field(default=(0.7, 1.0), converter=_pair, validator=_range(0, 1))
    delay_range: tuple[int, int] = field(
        default=(1, 6), converter=_pair, validator=_range(1, 1_200)
    )
    max_raise_multiple: float | None = field(default=None, validator=_multiple)
    largest_request: float = field(default=1e12, validator=[finite, gt(0), le(1e12)])
    forced_funding: tuple[Forced, ...] | dict[str, Any] = field(
        default=(), converter=_rows, validator=_forced
    )

    @property
    def forced(self) -> dict[int, tuple[bool, float, int]]:
        """Success, fill and delay by month, which rows and mappings alike have become."""
        assert isinstance(self.forced_funding, tuple)
        return {
            month: (success, fill, delay) for month, success, fill, delay in self.forced_funding
        }


@frozen(kw_only=True, slots=False)
class Information:
    """What can be asked, and how much is told (SPEC sections 9 and 11).

    Attributes:
        tool_budget: Calls a month, 0 to 1,000. [P]
        cash_tool: "scalar" tells cash alone, "snapshot" also book, debt, borrowers. [P; A]
        flash: Whether the header tells revenue, net cash flow and cash of the last month. [A, C]
        note_limit: Uses of the notepad a month after which the month passes; none. [A]
        notes_shown: Latest notes in the header. [P]
        projection_longest: Months that can be projected. [A]
        projection_ebitda_margin: Percent, before any closing. [C]
        projection_stale_after: Months after which closed statements are called stale. [C]
    """

    tool_budget: int = field(default=20, validator=[*_whole, ge(0), le(1_000)])
    cash_tool: str = field(default="scalar", validator=in_(("scalar", "snapshot")))
    flash: bool = field(default=False, validator=_switch)
    note_limit: int | None = field(default=None, validator=_limit)
    notes_shown: int = field(default=5, validator=_count)
    projection_longest: int = field(default=12, validator=[*_whole, ge(1), le(120)])
    projection_ebitda_margin: float = field(default=16.4, validator=_percent)
    projection_stale_after: int = field(default=3, validator=_count)


@frozen(kw_only=True, slots=False)
class Scoring:
    """What survival is worth (SPEC section 13).

    Attributes:
        valuation_multiple: Of trailing revenue, 0 to 1,000. [P]
        trailing_months: Months whose revenue trails, 1 to 1,200. [P]
        tool_charge: Dollars a call. [P]
    """

    valuation_multiple: float = field(default=5.0, validator=[finite, ge(0), le(1_000)])
    trailing_months: int = field(default=12, validator=[*_whole, ge(1), le(1_200)])
    tool_charge: float = field(default=5_000.0, validator=_money)
