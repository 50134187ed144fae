"""The parameters: one class for each section of the SPEC, and the presets.

The mark at the end of a line gives the source of the value: [P] fixed by the paper, [A] taken from
public descriptions of the simulator, [C] calibrated or proposed by the SPEC, [D] added by desim.
The defaults are those of the SPEC, so `Raising()` holds the terms of funding that the paper
publishes. The classes have no slots, so that the model can inherit from all of them.
"""

import math
from collections.abc import Iterable, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Any, ClassVar

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, in_, instance_of, le, optional

from desim.core.roles import Thinking
from desim.schema.validators import finite, whole
from desim.short_repr import short_repr
from models.enterprise_arena import macro
from models.enterprise_arena.macro import Macro

#: The order of the events of one month (SPEC section 2.1), lower ranks first: in January the close
#: of the year before (J0); a funding request that is due (J1, J2); the solvency test, then the
#: officer's decisions; operations (J3 to J9); payroll, last month's payables and provision (J10 to
#: J12); interest and principal of notes (J13, J14); tax (J15, J16) and the month's record, then the
#: solvency test at its end.
YEAR_END, SETTLE, OPEN, OPERATE, PAYDAY, SERVICE, MONTH_END = range(7)

#: Months of a year; its first is January.
YEAR = 12

#: The largest request of a world without a bound of its own, dollars: up to it, books in 64-bit
#: cents are exact.
UNBOUNDED = 1e12

Range = tuple[float, float]
#: Month, whether the request succeeds, share of the amount that arrives, months to the outcome.
Forced = tuple[int, bool, float, int]


def _range(least: float, most: float) -> Any:
    """Return a validator of a pair (low, high) within bounds."""

    def check(_: object, attribute: "Attribute[Any]", value: Any) -> None:
        if len(value) != 2:  # noqa: PLR2004 (a pair)
            raise ValueError(
                f"{attribute.name}={short_repr(value)} was given; it is a pair (low, high)"
            )
        for each in value:
            finite(_, attribute, each)
        low, high = value
        if not least <= low <= high <= most:
            raise ValueError(
                f"{attribute.name}={short_repr(value)} was given; it is a pair (low, high) with "
                f"{least:g} <= low <= high <= {most:g}"
            )

    return check


def _pair(value: Iterable[float]) -> tuple[Any, ...]:
    return tuple(value)


_switch: Any = instance_of(bool)
_by_name = itemgetter("success", "fill", "delay")
_share: list[Any] = [finite, ge(0), le(1)]
_money: list[Any] = [finite, ge(0), le(1e12)]
_percent: list[Any] = [finite, ge(-100), le(100)]
_slope: list[Any] = [finite, ge(0), le(100)]
_sigma: list[Any] = [finite, ge(0), le(50)]
_count: list[Any] = [whole, ge(0), le(100_000)]
_limit: Any = optional(_count)
_multiple: Any = optional([finite, gt(0), le(1e6)])


def _rows(value: Any) -> tuple[Forced, ...]:
    """Convert a forced-funding table to rows in the order of their months."""
    try:
        if isinstance(value, Mapping):
            forms = (_by_name(o) if isinstance(o, Mapping) else o for o in value.values())
            value = [(int(month), *each) for month, each in zip(value, forms, strict=True)]
        return tuple(sorted(tuple(row) for row in value))
    except (TypeError, ValueError, KeyError):
        raise ValueError(
            f"forced_funding={short_repr(value)} was given; it is rows of month, success, fill, "
            "delay, or a mapping of months to the other three"
        ) from None


def _forced(_: object, attribute: "Attribute[Any]", value: tuple[Forced, ...]) -> None:
    for row in value:
        if len(row) != 4 or not _plausible(*row):  # noqa: PLR2004 (month, success, fill, delay)
            raise ValueError(
                f"{attribute.name}: {short_repr(row)} was given; a row is month from 0, success "
                "true or false, fill from 0 to 1, delay of 1 month or more"
            )
    if len({row[0] for row in value}) < len(value):
        raise ValueError(
            f"{attribute.name}={short_repr(value)} was given; each month may occur once"
        )


def _plausible(month: Any, success: Any, fill: Any, delay: Any) -> bool:
    numbers = type(month) is int and type(delay) is int and type(fill) in (int, float)
    return numbers and type(success) is bool and month >= 0 and 0 <= fill <= 1 and delay >= 1


@frozen(kw_only=True, slots=False)
class Opening:
    """The company before month 0 (SPEC section 3).

    Attributes:
        opening_cash: Dollars, 0 to 1e12. [P]
        opening_users: Active borrowers, 0 to 1e9. [P]
        average_loan: Dollars lent to a new borrower, 0 to 1e6. [P]
        opening_loans: Principal not yet billed, dollars. [P]
        opening_principal_receivable: Billed and not yet collected, dollars. [C]
        opening_interest_receivable: Billed and not yet collected, dollars. [C]
        opening_allowance: For credit losses, dollars. [C]
        opening_payables: Accounts payable to vendors, dollars. [C]
        opening_tax_payable: Dollars. [C]
        opening_shares: Common shares, 0 to 1e9. [P]
        share_price: Issue price of a share, dollars, 0.01 to 1e6. [P]
        opening_loss_carryforward: Losses that reduce taxable income, dollars. [C]

    Opening paid-in capital is opening_shares x share_price [C]; opening retained earnings are what
    balances the sheet [C]. A company without borrowers never gets any, because growth is a share of
    them.
    """

    opening_cash: float = field(default=15_000_000.0, validator=_money)
    opening_users: float = field(default=5_000.0, validator=[finite, ge(0), le(1e9)])
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

    @property
    def lends(self) -> bool:
        """Whether the company has borrowers or loans."""
        loans = self.opening_loans or self.opening_principal_receivable
        return bool(self.opening_users or loans)


@frozen(kw_only=True, slots=False)
class Noise:
    """The lender's own deviation from its industry, month by month (SPEC section 5).

    Attributes:
        sigma_gross_margin: Standard deviation, percentage points, 0 to 50. [P]
        sigma_ebitda_margin: Standard deviation, percentage points, 0 to 50. [P]
        sigma_growth: Standard deviation of monthly borrower growth, percentage points, 0 to 50. [P]
        sigma_collection: Standard deviation of the collection rate, a share, 0 to 1. [P]
        gross_margin_range: Lowest and highest, percent, within -100 to 100. [P]
        ebitda_margin_range: Lowest and highest, percent, within -100 to 100. [P]
        collection_base: Share of billed amounts collected a month later. [P]
        collection_range: Lowest and highest collection rate, shares. [P]
        zero_noise: Whether the noise is 0 regardless of the four sigmas. [C]
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

    @property
    def sigmas(self) -> tuple[float, float, float, float]:
        """The four standard deviations in the order of the draws, zeros with `zero_noise`."""
        if self.zero_noise:
            return (0.0, 0.0, 0.0, 0.0)
        return (
            self.sigma_gross_margin,
            self.sigma_ebitda_margin,
            self.sigma_growth,
            self.sigma_collection,
        )


@frozen(kw_only=True, slots=False)
class Lending:
    """Rules of the monthly postings of loans, costs, notes and tax (SPEC section 6).

    Attributes:
        amortisation_rate: Share of unbilled principal billed each month. [C]
        interest_bearing_share: phi, the share of the lending rate that the loans earn. [C]
        chargeoff_base_annual: Share of the loans lost a year at the pivot. [C]
        chargeoff_unemployment_slope: Relative change of that share for a point of unemployment. [C]
        chargeoff_unemployment_pivot: Unemployment at which the base applies, percent. [C]
        chargeoff_floor: Lowest multiple of the base. [C]
        receivable_chargeoff_share: Share of uncollected amounts charged off each month. [C]
        allowance_on_loans: Required share of unbilled principal. [C]
        allowance_on_receivables: Required share of billed amounts. [C]
        overhead: Operating expense that does not depend on revenue, dollars a month; split between
            payroll and vendors like the rest of it. 0 by default, as in the SPEC. [D]
        payroll_share_of_opex: Payroll's share of operating expense; vendors get the rest. [C]
        tax_rate: Share of taxable income. [C]
        note_term_months: Number of equal instalments of a note, 1 to 1,200. [C]
        vendor_shares: Shares of the five vendors (customer support, fraud monitoring, software
            development, hosting, sales and marketing) in what vendors get; they sum to 1. [C]
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
    overhead: float = field(default=0.0, validator=_money)
    payroll_share_of_opex: float = field(default=0.55, validator=_share)
    tax_rate: float = field(default=0.21, validator=_share)
    note_term_months: int = field(default=60, validator=[whole, ge(1), le(1_200)])
    vendor_shares: tuple[float, float, float, float, float] = field(
        default=(0.25, 0.15, 0.25, 0.20, 0.15), converter=_pair
    )

    @vendor_shares.validator
    def _vendors(self, _: object, value: tuple[float, ...]) -> None:
        fine = len(value) == 5 and all(0 <= share <= 1 for share in value)  # noqa: PLR2004 (five contracts)
        if not fine or abs(math.fsum(value) - 1) > 1e-9:  # noqa: PLR2004 (rounding)
            raise ValueError(
                f"vendor_shares={short_repr(value)} was given; it is five shares that sum to 1"
            )


@frozen(kw_only=True, slots=False)
class Raising:
    """The terms of funding: its odds, its delay and its price (SPEC section 8).

    Attributes:
        equity_midpoint: VIX at which half of equity requests succeed, index points. [C]
        equity_scale: Scale of the logistic curve, index points, 0.5 to 100. [C]
        round_decay: Factor on the chance of equity for every round closed before. [P]
        debt_base: Chance of debt at a SOFR of zero and a narrow spread. [C]
        debt_sofr_slope: Chance lost for a point of SOFR. [C]
        debt_spread_slope: Chance lost for a point of Baa over ten-year Treasuries above the
            pivot. [C]
        debt_spread_pivot: Percentage points. [C]
        debt_range: Lowest and highest chance before the leverage factor. [C]
        leverage_threshold: Notes over book equity above which debt is penalised. [P]
        leverage_penalty: Share of the chance lost for a unit of leverage above the threshold. [P]
        leverage_spread: Added to the contract rate for a unit of leverage above the threshold, a
            share: 0.05 is 500 basis points. [P]
        fill_range: Lowest and highest share of the amount that arrives, uniform. [P]
        delay_range: Fewest and most months to the outcome, uniform, 1 to 1,200. [P]
        max_raise_multiple: Cap on the amount that arrives, as a multiple of book equity at the
            request; no cap by default. [C]
        largest_request: Largest amount accepted, dollars, up to 1e12, which stands for no bound,
            as in the paper.
        free_refusals: Refused requests a month that do not use the month, 0 to 900; the next one
            does. With 0, as published, every refused request uses the month. [A]
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
    largest_request: float = field(default=UNBOUNDED, validator=[finite, gt(0), le(UNBOUNDED)])
    free_refusals: int = field(default=0, validator=[whole, ge(0), le(900)])
    forced_funding: tuple[Forced, ...] | dict[str, Any] = field(
        default=(), converter=_rows, validator=_forced
    )

    @property
    def forced(self) -> dict[int, tuple[bool, float, int]]:
        """Success, fill and delay by month."""
        assert isinstance(self.forced_funding, tuple)  # the converter's form
        return {
            month: (success, fill, delay) for month, success, fill, delay in self.forced_funding
        }


@frozen(kw_only=True, slots=False)
class Information:
    """Contents of tools and headers (SPEC sections 9 and 11).

    Attributes:
        tool_budget: Tool calls a month, 0 to 1,000. [P]
        cash_tool: "scalar" shows cash alone, "snapshot" also loans, debt, borrowers. [P; A]
        header: "full": a month opens with cash, borrowers, loans, debt and yield, as the public
            simulator shows them; "calls": with the month, the calls left, whether a request is
            under way, its outcome, and notes alone, so that tools alone show the state, as the
            paper says. [A; P]
        flash: Whether the header shows revenue, net cash flow and cash of the last month, if it is
            full. [A, C]
        note_limit: Uses of the notepad a month, after which the next one passes the month; no
            limit by default. [A]
        notes_shown: How many of the latest notes the header shows. [P]
        projection_longest: Most months of a projection. [A]
        projection_ebitda_margin: Margin assumed before any closing, percent. [C]
        projection_stale_after: Months after which closed statements are marked stale. [C]
    """

    tool_budget: int = field(default=20, validator=[whole, ge(0), le(1_000)])
    cash_tool: str = field(default="scalar", validator=in_(("scalar", "snapshot")))
    header: str = field(default="full", validator=in_(("full", "calls")))
    flash: bool = field(default=False, validator=_switch)
    note_limit: int | None = field(default=None, validator=_limit)
    notes_shown: int = field(default=5, validator=_count)
    projection_longest: int = field(default=12, validator=[whole, ge(1), le(120)])
    projection_ebitda_margin: float = field(default=16.4, validator=_percent)
    projection_stale_after: int = field(default=3, validator=_count)


@frozen(kw_only=True, slots=False)
class Scoring:
    """The weights of the score (SPEC section 13).

    Attributes:
        valuation_multiple: Factor on trailing revenue, 0 to 1,000. [P]
        trailing_months: Months of trailing revenue, 1 to 1,200. [P]
        tool_charge: Dollars charged for a tool call. [P]
        score_of: "value" as in the paper, which counts money raised in full, or "value_added": less
            the equity raised and the debt owed.
    """

    valuation_multiple: float = field(default=5.0, validator=[finite, ge(0), le(1_000)])
    trailing_months: int = field(default=12, validator=[whole, ge(1), le(1_200)])
    tool_charge: float = field(default=5_000.0, validator=_money)
    score_of: str = field(default="value", validator=in_(("value", "value_added")))


# -- presets ---------------------------------------------------------------------------------------

_COLUMNS = ("ind_user_growth_monthly", "ind_user_growth_monthly_alt")

#: The largest request of `capped`, dollars: the opening loan book, 5,000 borrowers x 10,000 [P].
#: At the mean fill of 0.85 it brings 42.5 million, what a surge of borrowers absorbs (SPEC section
#: 1). As equity it buys 50 / (105 + 50), a third of a company whose 10.5 million shares cost 10
#: each [P].
_LOAN_BOOK = 50_000_000.0

#: Changes of the presets that boards play: a request has a bound, as many refused requests a month
#: are free as tool calls are allowed [P], and money that was raised is owed.
_CAPPED = {"largest_request": _LOAN_BOOK, "free_refusals": 20, "score_of": "value_added"}

#: Changes of parameters for a company that lends nothing: funding and its own overhead remain, as
#: in a group's treasury. It is not a preset, because boards should not compare rules in it. The
#: amounts are ours: paid-in capital of two million, all of it in cash, which is overhead for 40
#: months.
TREASURY: Mapping[str, Any] = MappingProxyType(
    {
        "opening_cash": 2_000_000.0,
        "opening_users": 0.0,
        "opening_loans": 0.0,
        "opening_allowance": 0.0,
        "opening_payables": 0.0,
        "opening_shares": 200_000.0,
        "overhead": 50_000.0,
    }
)


@frozen(kw_only=True, slots=False)
class ArenaParams(Opening, Noise, Lending, Raising, Information, Scoring):
    """All parameters: those of the rules, and those of the episode.

    Attributes:
        horizon: Months, 1 to 1,200; no more than the table has, unless the history is drawn. [P]
        macro: The macro table: a table, the path of a CSV file, or None for 2015 to 2025. [P]
        growth_column: The column of the table that holds borrower growth: the profile. [C]
        solvency: When cash below zero ends the episode: "opening" when a month opens, where money
            that is due then counts, "month_end" at its end, as in the paper; the last month in
            either case at its end. [P, C]
        history: "table" plays the table itself; "regimes" plays a path drawn from the seed by the
            Markov-switching model that is fitted to the table.
        max_questions_per_tick: Commands in one month; with more the episode fails with `Stuck`.
        thinking: Months that the commands of the officer take; a month without one is a pass.
    """

    horizon: int = field(default=132, validator=[whole, ge(1), le(1_200)])
    macro: Macro | str | None = field(default=None, converter=macro.given)
    growth_column: str = field(default=_COLUMNS[0], validator=in_(_COLUMNS))
    solvency: str = field(default="opening", validator=in_(("opening", "month_end")))
    history: str = field(default="table", validator=in_(("table", "regimes")))
    max_questions_per_tick: int = field(default=1_000, validator=[whole, ge(1)])
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: The first is the default. The defaults of the parameters are those of `paper` except for
    #: `solvency`, so a record written before a parameter existed is read as it was played.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "capped": _CAPPED,
        "regime": {**_CAPPED, "history": "regimes"},
        "paper": {"solvency": "month_end"},
        "snapshot": {"growth_column": _COLUMNS[1]},
        "hidden": {"solvency": "month_end", "header": "calls", "cash_tool": "snapshot"},
    }

    preset_warnings: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("paper", "snapshot"),
        "the best known score is an exploit of the published rules: it counts equity raised as "
        "earned, and a request has no limit",
    )

    def __attrs_post_init__(self) -> None:
        if self.history == "table" and self.horizon > len(self.table):
            raise ValueError(
                f"horizon={self.horizon} was given; the macro table has {len(self.table)} months"
            )

    @property
    def deterministic(self) -> bool:
        """Whether there is no noise, the history is given and no outcome is drawn."""
        forced = self.forced.keys() >= set(range(self.horizon))
        return forced and not any(self.sigmas) and self.history == "table"

    @property
    def table(self) -> Macro:
        """The macro table in use."""
        assert not isinstance(self.macro, str)  # the converter has read the file
        return macro.builtin() if self.macro is None else self.macro
