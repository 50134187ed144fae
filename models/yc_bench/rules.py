"""Every number and switch of the world, by the section of the SPEC it belongs to.

A parameter keeps the name it has in the SPEC. Switches are named after what they switch on; the
defaults behave as the published code. The classes have no slots, so that the model can inherit from
all of them.
"""

import math
from collections.abc import Iterable
from datetime import date
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, in_, instance_of, le, optional

from desim.params import finite

__all__ = ["Calendar", "Generation", "Growth", "Protocol", "Tier", "Work"]

Triple = tuple[float, float, float]
Pair = tuple[float, float]


def _numbers(size: int) -> Any:
    def check(_: object, attribute: "Attribute[Any]", value: Any) -> None:
        if len(value) != size:
            raise ValueError(f"{attribute.name}={value!r} was given; it has {size} numbers")
        for each in value:
            finite(_, attribute, each)

    return check


def _triangle(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Check low, high, mode."""
    _numbers(3)(_, attribute, value)
    if not value[0] <= value[2] <= value[1] or value[0] == value[1]:
        raise ValueError(f"{attribute.name}={value!r} was given; it is low, high, mode in between")


def _prestige(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Check low, high, mode of levels, of which the least is 1."""
    _triangle(_, attribute, value)
    if value[0] < 1:
        raise ValueError(f"{attribute.name}={value!r} was given; prestige is at least 1")


def _positive(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    _numbers(2)(_, attribute, value)
    if min(value) <= 0:
        raise ValueError(f"{attribute.name}={value!r} was given; both are above 0")


def _floats(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


_whole: list[Any] = [finite, instance_of(int)]
_count: list[Any] = [*_whole, ge(1), le(100_000)]
_cents: list[Any] = [*_whole, ge(0), le(10**15)]
_share: list[Any] = [finite, ge(0), le(1)]
_amount: list[Any] = [finite, ge(0), le(1e9)]
_seed: Any = optional([*_whole, ge(0)])
_switch: Any = instance_of(bool)
_digits: list[Any] = [*_whole, ge(0), le(12)]


@frozen(kw_only=True)
class Tier:
    """A salary tier (SPEC 2.5).

    Attributes:
        name: Of the tier.
        share: Of the staff; used where `roster` is "shares".
        published: How many the published list holds before it is cut to the staff's size.
        salary_cents: Lowest and highest salary, cents a month.
        rate: Lowest and highest rate, units an hour.
    """

    name: str = field(validator=instance_of(str))
    share: float = field(validator=_share)
    published: int = field(validator=[*_whole, ge(0)])
    salary_cents: tuple[int, int] = field(converter=_floats, validator=_numbers(2))
    rate: Pair = field(converter=_floats, validator=_numbers(2))

    @property
    def midpoint(self) -> int:
        """Middle of the salaries, cents."""
        return sum(self.salary_cents) // 2


_TIERS = (
    Tier(name="junior", share=0.5, published=5, salary_cents=(200_000, 400_000), rate=(1.0, 4.0)),
    Tier(name="mid", share=0.35, published=3, salary_cents=(600_000, 800_000), rate=(4.0, 7.0)),
    Tier(
        name="senior",
        share=0.15,
        published=2,
        salary_cents=(1_000_000, 1_500_000),
        rate=(7.0, 10.0),
    ),
)


def _tiers(_: object, __: "Attribute[Any]", value: tuple[Tier, ...]) -> None:
    if not value or abs(math.fsum(t.share for t in value) - 1) > 1e-9:  # noqa: PLR2004 (rounding)
        raise ValueError(f"tiers={value!r} was given; their shares sum to 1")


@frozen(kw_only=True, slots=False)
class Generation:
    """How worlds are drawn (SPEC 2.2 to 2.5, 3 and 4).

    Attributes:
        initial_funds_cents: Money at the start, cents.
        initial_prestige_level: In every domain.
        num_employees: Size of the staff.
        num_clients: At most 15, of whom there are names.
        num_market_tasks: Open tasks on the market; each one taken is replaced.
        people_seed: Seed of clients and staff, the same in all published worlds; none takes the
            run's seed.
        roster: "published": the first of a fixed list of tiers; "shares": by the tiers' shares.
        spiky_skills: A domain's rate may fall into any tier's band up to the own one.
        tiers: Salaries and rates.
        required_prestige: Low, high and mode of a triangular draw.
        reward_funds_cents: Low, high and mode, cents, before prestige and client.
        required_qty: Low, high and mode, units of work, before prestige.
        prestige_delta_scale: Largest prestige a task brings.
        prestige_delta_beta: The two parameters of the Beta distribution that scales it.
        skill_boost: Mean, deviation, lowest and highest of a normal draw.
        reward_prestige_scale: Growth of rewards a level of required prestige above 1.
        prestige_qty_scale: Growth of quantities a level of required prestige above 1.
        client_multiplier: Low, high and mode of the clients' reward multipliers.
        client_tiers: Multipliers from which a client is Premium, and Enterprise.
        one_specialty_probability: Otherwise a client has two.
        specialty_bias: Chance that a task's domain is drawn among the client's specialties.
        loyalty_rat_fraction: Share of adversarial clients.
        loyalty_severity: Scales how much their tasks swell; a floor of 3 holds below it.
        adversarial_loyalty: Loyalty strictly below which a client is adversarial.
        adversarial_multiplier: Floor under an adversarial client's multiplier, as a share of the
            largest.
        trust_gate: "reward": the chance that a task needs trust grows with its reward; "share":
            `trust_gating_fraction` of all tasks do.
        trust_gating_fraction: See `trust_gate`.
        trust_gated_reward_boost: Growth of a gated task's reward a level of trust.
        replacement_stream: What numbers the replacements: each "slot" and its generation, or one
            counter for the "run".
        replacements_multiplied: Whether replacements pay the client's multiplier too.
    """

    initial_funds_cents: int = field(default=20_000_000, validator=_cents)
    initial_prestige_level: float = field(default=1.0, validator=_amount)
    num_employees: int = field(default=8, validator=_count)
    num_clients: int = field(default=6, validator=[*_whole, ge(1), le(15)])
    num_market_tasks: int = field(default=200, validator=_count)
    people_seed: int | None = field(default=1, validator=_seed)
    roster: str = field(default="published", validator=in_(("published", "shares")))
    spiky_skills: bool = field(default=False, validator=_switch)
    tiers: tuple[Tier, ...] = field(default=_TIERS, converter=tuple, validator=_tiers)
    required_prestige: Triple = field(
        default=(1.0, 5.0, 1.0), converter=_floats, validator=_prestige
    )
    reward_funds_cents: Triple = field(
        default=(200_000.0, 1_200_000.0, 500_000.0), converter=_floats, validator=_triangle
    )
    required_qty: Triple = field(
        default=(400.0, 1500.0, 800.0), converter=_floats, validator=_triangle
    )
    prestige_delta_scale: float = field(default=0.35, validator=_amount)
    prestige_delta_beta: Pair = field(default=(1.2, 2.8), converter=_floats, validator=_positive)
    skill_boost: tuple[float, float, float, float] = field(
        default=(0.12, 0.06, 0.01, 0.40), converter=_floats, validator=_numbers(4)
    )
    reward_prestige_scale: float = field(default=0.3, validator=_amount)
    prestige_qty_scale: float = field(default=0.3, validator=_amount)
    client_multiplier: Triple = field(
        default=(0.7, 2.5, 1.0), converter=_floats, validator=_triangle
    )
    client_tiers: Pair = field(default=(1.0, 1.7), converter=_floats, validator=_numbers(2))
    one_specialty_probability: float = field(default=0.6, validator=_share)
    specialty_bias: float = field(default=0.7, validator=_share)
    loyalty_rat_fraction: float = field(default=0.35, validator=_share)
    loyalty_severity: float = field(default=1.0, validator=_amount)
    adversarial_loyalty: float = field(default=-0.3, validator=[finite, ge(-1), le(1)])
    adversarial_multiplier: float = field(default=0.75, validator=_amount)
    trust_gate: str = field(default="reward", validator=in_(("reward", "share")))
    trust_gating_fraction: float = field(default=0.3, validator=_share)
    trust_gated_reward_boost: float = field(default=0.0, validator=_amount)
    replacement_stream: str = field(default="slot", validator=in_(("slot", "run")))
    replacements_multiplied: bool = field(default=False, validator=_switch)


@frozen(kw_only=True, slots=False)
class Calendar:
    """When time passes and when it stops (SPEC 6 and 9).

    Attributes:
        start_date: ISO date of the first day; the clock starts at its opening hour.
        horizon_years: Years until the run ends, 1 to 100.
        workday_start_hour: Opening hour, 0 to 23.
        workday_end_hour: Closing hour, 1 to 24, behind the opening.
        evening_progress: Whether progress counts every full weekday until midnight, as published;
            plans never do.
        payday_at_horizon: Whether a payday at the very horizon is paid.
        resume_stops_at_paydays: Whether each payday ends a resume.
        bankruptcy_is_queued: Whether a bankruptcy by payroll is also an event of the next resume.
    """

    start_date: str = field(default="2025-01-01", validator=instance_of(str))
    horizon_years: int = field(default=1, validator=[*_whole, ge(1), le(100)])
    workday_start_hour: int = field(default=9, validator=[*_whole, ge(0), le(23)])
    workday_end_hour: int = field(default=18, validator=[*_whole, ge(1), le(24)])
    evening_progress: bool = field(default=True, validator=_switch)
    payday_at_horizon: bool = field(default=False, validator=_switch)
    resume_stops_at_paydays: bool = field(default=True, validator=_switch)
    bankruptcy_is_queued: bool = field(default=True, validator=_switch)

    @start_date.validator
    def _a_date(self, _: object, value: str) -> None:
        try:
            year = date.fromisoformat(value).year
        except ValueError:
            year = 0
        if not 1900 <= year <= 3000:  # noqa: PLR2004 (room for a hundred years)
            raise ValueError(f"start_date={value!r} was given; it is a date such as 2025-01-01")

    @workday_end_hour.validator
    def _behind_opening(self, _: object, value: int) -> None:
        if value <= self.workday_start_hour:
            raise ValueError(
                f"workday_end_hour={value} was given; it lies behind workday_start_hour="
                f"{self.workday_start_hour}"
            )


@frozen(kw_only=True, slots=False)
class Work:
    """Accepting, working, completing on time or late, giving up (SPEC 7, 8, 10 and 11).

    Attributes:
        efficient_team: How many of a team work, the fastest first; 0 for all.
        planned_tasks_split: Whether planned tasks split a person's rate as active ones do.
        reassignment_replans: Whether naming people who are on an active task already plans its
            completion anew.
        task_progress_milestones: Shares of the work at which the clock stops as well; each above 0
            and below 1, increasing.
        deadline_qty_per_day: Units of work a business day that set the deadline.
        deadline_min_biz_days: Business days a deadline is away at least.
        minimum_qty: Units of work that remain at least when a task is accepted.
        trust_work_reduction_max: Share of the work that full trust saves.
        scope_creep: Whether adversarial clients' tasks swell when accepted.
        scope_creep_floor: By how many times the quantity they swell at least.
        scope_creep_limit: Units of work a swollen task has at most.
        inflations: How often a task swells: the published bot runner swells it twice.
        deadline_before_inflation: Whether the deadline is set from the quantity before it swells.
        penalty_fail_multiplier: Times the task's prestige lost when late.
        penalty_fail_funds_pct: Share of the advertised reward paid as a fine when late.
        penalty_cancel_multiplier: Times the task's prestige lost when cancelled.
        cancel_fails: Whether cancelling breaks with an exception, as published.
        late_fines_as_rewards: Whether the published ledger shows fines as negative rewards.
    """

    efficient_team: int = field(default=4, validator=[*_whole, ge(0)])
    planned_tasks_split: bool = field(default=False, validator=_switch)
    reassignment_replans: bool = field(default=True, validator=_switch)
    task_progress_milestones: tuple[float, ...] = field(default=(), converter=_floats)
    deadline_qty_per_day: float = field(default=150, validator=[finite, gt(0)])
    deadline_min_biz_days: int = field(default=7, validator=[*_whole, ge(0), le(100_000)])
    minimum_qty: int = field(default=200, validator=[*_whole, ge(1)])
    trust_work_reduction_max: float = field(default=0.5, validator=_share)
    scope_creep: bool = field(default=True, validator=_switch)
    scope_creep_floor: float = field(default=3.0, validator=_amount)
    scope_creep_limit: int = field(default=25_000, validator=[*_whole, ge(1)])
    inflations: int = field(default=1, validator=[*_whole, ge(1), le(10)])
    deadline_before_inflation: bool = field(default=True, validator=_switch)
    penalty_fail_multiplier: float = field(default=1.0, validator=_amount)
    penalty_fail_funds_pct: float = field(default=0.35, validator=_amount)
    penalty_cancel_multiplier: float = field(default=1.5, validator=_amount)
    cancel_fails: bool = field(default=True, validator=_switch)
    late_fines_as_rewards: bool = field(default=True, validator=_switch)

    @task_progress_milestones.validator
    def _increasing(self, attribute: "Attribute[Any]", value: tuple[float, ...]) -> None:
        for each in value:
            finite(self, attribute, each)
        if list(value) != sorted({v for v in value if 0 < v < 1}):
            raise ValueError(
                f"task_progress_milestones={value!r} was given; each lies above 0 and below 1, "
                "and they increase"
            )


@frozen(kw_only=True, slots=False)
class Growth:
    """Prestige, skills, salaries, payout and trust (SPEC 2.2, 2.3 and 10).

    Attributes:
        prestige_max: Highest level.
        prestige_min: Lowest level.
        prestige_decay_per_day: Lost a calendar day in every domain.
        prestige_delta_digits: Decimals with which a task's prestige is used and shown.
        payout_prestige: What scales a reward: the task's "required" prestige when it is drawn, or
            the "company" prestige of its domain when it is done.
        learners: How many of a team learn, the fastest first; 0 for all.
        skill_rate_max: Highest rate, units an hour.
        salary_bump_pct: Raise a success, as a share.
        salary_max_cents: Highest salary, cents a month.
        bump_of_salary: Whether raises are a share of the person's salary, not the tier's midpoint.
        bump_report_of_salary: Whether reports sum a share of the new salaries, as published, and
            not the raises.
        trust_max: Highest trust.
        trust_build_rate: Successes until trust is significant.
        trust_fragility: Scales what trust loses.
        trust_focus_pressure: Scales what trust of all others loses with every completion.
        trust_digits: Decimals to which trust is rounded at every stop.
        accepting_step_unrounded: Whether a client's trust is not rounded in the first step after
            one of its tasks was accepted, as in the published bot runner.
    """

    prestige_max: float = field(default=10.0, validator=_amount)
    prestige_min: float = field(default=1.0, validator=_amount)
    prestige_decay_per_day: float = field(default=0.0, validator=_amount)
    prestige_delta_digits: int = field(default=3, validator=_digits)
    payout_prestige: str = field(default="required", validator=in_(("required", "company")))
    learners: int = field(default=4, validator=[*_whole, ge(0)])
    skill_rate_max: float = field(default=10.0, validator=_amount)
    salary_bump_pct: float = field(default=0.01, validator=_amount)
    salary_max_cents: int = field(default=10_000_000, validator=_cents)
    bump_of_salary: bool = field(default=False, validator=_switch)
    bump_report_of_salary: bool = field(default=True, validator=_switch)
    trust_max: float = field(default=5.0, validator=[finite, gt(0), le(1e6)])
    trust_build_rate: float = field(default=5.0, validator=[finite, gt(0), le(1e6)])
    trust_fragility: float = field(default=0.3, validator=_amount)
    trust_focus_pressure: float = field(default=0.3, validator=_amount)
    trust_digits: int = field(default=3, validator=_digits)
    accepting_step_unrounded: bool = field(default=False, validator=_switch)


@frozen(kw_only=True, slots=False)
class Protocol:
    """The console and the turns (SPEC 13 and 14).

    Attributes:
        company_name: What the company is called.
        desk_titles: Planned tasks that a desk shows at most, those created last; `task list` tells
            all.
        tasks_by_identifier: Whether replies name tasks by identifiers, which are unique as the
            published bot runner's objects are, and not by titles, which may repeat.
        market_browse_default_limit: Rows of the market shown where no limit is given.
        browse_shows_one_row: Whether a limit of 0 or less still shows one row.
        browse_total_is_page: Whether `total` counts the rows shown and not the matches.
        resume_reports_new_time: Whether a resume reports the new time as the old one.
        auto_advance_after_turns: Turns without a resume after which the clock is moved on.
        forced_advance: Whether the clock is then moved on even if no task is active.
        idle_limit: Turns without time passing and without an active task, after which the episode
            ends as "idle"; 0 for none. The published loop then goes on for ever.
        max_turns: Turns after which the episode ends; 0 for no limit.
        errors_count_as_resume: Whether a refused resume counts as one.
        status_number_lags: Whether the status after a resume bears the number of the turn before.
        stale_scratchpad: Whether the notes shown are those of the last turn that did not follow a
            resume.
    """

    company_name: str = field(default="BenchCo", validator=instance_of(str))
    desk_titles: int = field(default=50, validator=_count)
    tasks_by_identifier: bool = field(default=False, validator=_switch)
    market_browse_default_limit: int = field(default=50, validator=[*_whole, ge(1)])
    browse_shows_one_row: bool = field(default=True, validator=_switch)
    browse_total_is_page: bool = field(default=True, validator=_switch)
    resume_reports_new_time: bool = field(default=True, validator=_switch)
    auto_advance_after_turns: int = field(default=5, validator=_count)
    forced_advance: bool = field(default=False, validator=_switch)
    idle_limit: int = field(default=1_000, validator=[*_whole, ge(0)])
    max_turns: int = field(default=0, validator=[*_whole, ge(0)])
    errors_count_as_resume: bool = field(default=True, validator=_switch)
    status_number_lags: bool = field(default=True, validator=_switch)
    stale_scratchpad: bool = field(default=True, validator=_switch)
