"""The parameters of YC-Bench: every number with unit, range and source, and the presets."""

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, ClassVar

from attrs import Attribute, field, fields, frozen
from attrs.validators import ge, gt, in_, instance_of, le, optional

from desim.core.calendar import BusinessHours, Calendar
from desim.core.roles import Thinking
from desim.schema.validators import finite, finite_numbers, whole
from desim.short_repr import short_repr
from models.yc_bench.specs import DOMAINS
from models.yc_bench.world_file import WorldFile, as_world

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Quad = tuple[float, float, float, float]

_COUNT: list[Any] = [whole, ge(1), le(100_000)]
_NATURAL: list[Any] = [whole, ge(0)]
_POSITIVE: list[Any] = [whole, ge(1)]
_CENTS: list[Any] = [whole, ge(0), le(10**15)]
_SHARE: list[Any] = [finite, ge(0), le(1)]
_AMOUNT: list[Any] = [finite, ge(0), le(1e9)]
_SCALE: list[Any] = [finite, gt(0), le(1e6)]
_DIGITS: list[Any] = [whole, ge(0), le(12)]
_SWITCH: Any = instance_of(bool)
_SEED: Any = optional(_NATURAL)

#: Years in which a run may start, and years of all episodes together: dates end in the year 9999.
_FIRST_YEAR, _LAST_YEAR, _MOST_YEARS = 1900, 3000, 1000


def _numbers(count: int | None, fit: Callable[..., bool], what: str) -> Any:
    def validate(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
        finite_numbers(count)(instance, attribute, value)
        if not fit(*value):
            raise ValueError(f"{attribute.name}={short_repr(value)} was given; {what}")

    return validate


_TRIANGLE = _numbers(
    3, lambda low, high, mode: low <= mode <= high != low, "it is low, high, mode in between"
)
_LEVELS = [_TRIANGLE, _numbers(3, lambda low, *_: low >= 1, "prestige is at least 1")]
_POSITIVE_PAIR = _numbers(2, lambda *pair: min(pair) > 0, "both are above 0")
_INCREASING_SHARES = _numbers(
    None,
    lambda *given: list(given) == sorted({share for share in given if 0 < share < 1}),
    "each is above 0 and below 1, and they increase",
)


@frozen(kw_only=True, slots=False)
class PublicRules:
    """The rules of the market, of time, work, growth and trust, which a player may know.

    Attributes:
        num_market_tasks: Open tasks on the market; each accepted one is replaced.
        required_prestige: Low, high and mode of a triangular draw.
        reward_funds_cents: Low, high and mode, cents, before prestige and client.
        domain_count: Domains of a task, 1 to 4; the slowest sets the pace, prestige counts in each.
        required_qty: Low, high and mode, units of work in each domain, before prestige.
        prestige_delta_scale: Largest prestige a task brings.
        prestige_delta_beta: The two parameters of the Beta distribution that scales it.
        skill_boost: Mean, deviation, lowest and highest of a normal draw.
        reward_prestige_scale: Growth of rewards for each level of prestige above 1.
        payout_prestige: What scales rewards: "required" when drawn, or "company" when done.
        prestige_qty_scale: Growth of quantities for each level of required prestige above 1.
        specialty_bias: Chance that a task's domain is drawn among the client's specialties.
        trust_gate: Which tasks need trust: the likelier the higher their "reward", or a "share".
        trust_gating_fraction: That share.
        trust_gated_reward_boost: Growth of a gated task's reward for each level of trust.
        replacement_stream: What numbers the replacements: each "slot", or the whole "run".
        replacements_multiplied: Whether replacements pay the client's multiplier too.
        start_date: ISO date of the first day; the clock starts at its opening hour.
        horizon_years: Years until the run ends, 1 to 100.
        workday_start_hour: Opening hour, 0 to 23.
        workday_end_hour: Closing hour, 1 to 24, after the opening.
        evening_progress: Whether progress counts full weekdays until midnight; plans never do.
        payday_at_horizon: Whether a payday at the very horizon is paid.
        resume_stops_at_paydays: Whether each payday ends a resume.
        bankruptcy_is_queued: Whether a bankruptcy by payroll is also an event of the next resume.
        efficient_team: How many of a team work, the fastest first; 0 for all.
        planned_tasks_split: Whether planned tasks split a person's rate as active ones do.
        reassignment_replans: Whether naming people again plans an active task's completion anew.
        task_progress_milestones: Shares of the work at which the clock stops as well; increasing.
        deadline_qty_per_day: Units of work a business day that set the deadline.
        deadline_min_biz_days: Business days until a deadline at least.
        minimum_qty: Units of work that remain at least when a task is accepted.
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
        initial_funds_cents: Money at the start, cents.
        initial_prestige_level: Prestige at the start, in every domain.
        prestige_max: Highest level.
        prestige_min: Lowest level.
        prestige_decay_per_day: Levels lost a calendar day in every domain.
        prestige_delta_digits: Decimals with which a task's prestige is used and shown.
        learners: How many of a team learn, the fastest first; 0 for all.
        skill_rate_max: Highest rate, units an hour.
        salary_bump_pct: Raise with each success, as a share.
        salary_max_cents: Highest salary, cents a month.
        bump_of_salary: Whether raises are a share of the person's salary, not the tier's midpoint.
        bump_report_of_salary: Whether reports sum a share of the new salaries, not the raises.
        trust_max: Highest trust.
        trust_build_tasks: Tasks in time until trust is significant; published: `trust_build_rate`.
        trust_fragility: Scales what trust loses with failures and days.
        trust_focus_pressure: Scales what trust of all other clients loses with every completion.
        trust_work_reduction_max: Share of the work that full trust saves.
        trust_digits: Decimals to which trust is rounded at every stop.
        accepting_step_unrounded: Whether trust is not rounded in the step after an acceptance.
    """

    # The market: SPEC 2.4 and 4.3 to 4.5.
    num_market_tasks: int = field(default=200, validator=_COUNT)
    required_prestige: Triple = field(default=(1.0, 5.0, 1.0), validator=_LEVELS)
    reward_funds_cents: Triple = field(default=(2e5, 12e5, 5e5), validator=_TRIANGLE)
    domain_count: int = field(default=1, validator=[whole, ge(1), le(len(DOMAINS))])
    required_qty: Triple = field(default=(400.0, 1500.0, 800.0), validator=_TRIANGLE)
    prestige_delta_scale: float = field(default=0.35, validator=_AMOUNT)
    prestige_delta_beta: Pair = field(default=(1.2, 2.8), validator=_POSITIVE_PAIR)
    skill_boost: Quad = field(default=(0.12, 0.06, 0.01, 0.40), validator=finite_numbers(4))
    reward_prestige_scale: float = field(default=0.3, validator=_AMOUNT)
    payout_prestige: str = field(default="required", validator=in_(("required", "company")))
    prestige_qty_scale: float = field(default=0.3, validator=_AMOUNT)
    specialty_bias: float = field(default=0.7, validator=_SHARE)
    trust_gate: str = field(default="reward", validator=in_(("reward", "share")))
    trust_gating_fraction: float = field(default=0.3, validator=_SHARE)
    trust_gated_reward_boost: float = field(default=0.0, validator=_AMOUNT)
    replacement_stream: str = field(default="slot", validator=in_(("slot", "run")))
    replacements_multiplied: bool = field(default=False, validator=_SWITCH)

    # Office hours, paydays and the horizon: SPEC 6 and 9.
    start_date: str = field(default="2025-01-01", validator=instance_of(str))
    horizon_years: int = field(default=1, validator=[whole, ge(1), le(100)])
    workday_start_hour: int = field(default=9, validator=[whole, ge(0), le(23)])
    workday_end_hour: int = field(default=18, validator=[whole, ge(1), le(24)])
    evening_progress: bool = field(default=True, validator=_SWITCH)
    payday_at_horizon: bool = field(default=False, validator=_SWITCH)
    resume_stops_at_paydays: bool = field(default=True, validator=_SWITCH)
    bankruptcy_is_queued: bool = field(default=True, validator=_SWITCH)

    # Teams, deadlines, lateness and cancellation: SPEC 7, 8, 10 and 11.
    efficient_team: int = field(default=4, validator=_NATURAL)
    planned_tasks_split: bool = field(default=False, validator=_SWITCH)
    reassignment_replans: bool = field(default=True, validator=_SWITCH)
    task_progress_milestones: tuple[float, ...] = field(default=(), validator=_INCREASING_SHARES)
    deadline_qty_per_day: float = field(default=150, validator=[finite, gt(0)])
    deadline_min_biz_days: int = field(default=7, validator=[whole, ge(0), le(100_000)])
    minimum_qty: int = field(default=200, validator=_POSITIVE)
    scope_creep: bool = field(default=True, validator=_SWITCH)
    scope_creep_floor: float = field(default=3.0, validator=_AMOUNT)
    scope_creep_limit: int = field(default=25_000, validator=_POSITIVE)
    inflations: int = field(default=1, validator=[whole, ge(1), le(10)])
    deadline_before_inflation: bool = field(default=True, validator=_SWITCH)
    penalty_fail_multiplier: float = field(default=1.0, validator=_AMOUNT)
    penalty_fail_funds_pct: float = field(default=0.35, validator=_AMOUNT)
    penalty_cancel_multiplier: float = field(default=1.5, validator=_AMOUNT)
    cancel_fails: bool = field(default=True, validator=_SWITCH)
    late_fines_as_rewards: bool = field(default=True, validator=_SWITCH)

    # Prestige, skills and salaries: SPEC 2.2 and 10.
    initial_funds_cents: int = field(default=20_000_000, validator=_CENTS)
    initial_prestige_level: float = field(default=1.0, validator=_AMOUNT)
    prestige_max: float = field(default=10.0, validator=_AMOUNT)
    prestige_min: float = field(default=1.0, validator=_AMOUNT)
    prestige_decay_per_day: float = field(default=0.0, validator=_AMOUNT)
    prestige_delta_digits: int = field(default=3, validator=_DIGITS)
    learners: int = field(default=4, validator=_NATURAL)
    skill_rate_max: float = field(default=10.0, validator=_AMOUNT)
    salary_bump_pct: float = field(default=0.01, validator=_AMOUNT)
    salary_max_cents: int = field(default=10_000_000, validator=_CENTS)
    bump_of_salary: bool = field(default=False, validator=_SWITCH)
    bump_report_of_salary: bool = field(default=True, validator=_SWITCH)

    # The clients' trust: SPEC 2.3 and 10.
    trust_max: float = field(default=5.0, validator=_SCALE)
    trust_build_tasks: float = field(default=5.0, validator=_SCALE)
    trust_fragility: float = field(default=0.3, validator=_AMOUNT)
    trust_focus_pressure: float = field(default=0.3, validator=_AMOUNT)
    trust_work_reduction_max: float = field(default=0.5, validator=_SHARE)
    trust_digits: int = field(default=3, validator=_DIGITS)
    accepting_step_unrounded: bool = field(default=False, validator=_SWITCH)

    @start_date.validator
    def _a_date(self, _: object, value: str) -> None:
        try:
            fits = _FIRST_YEAR <= date.fromisoformat(value).year <= _LAST_YEAR
        except ValueError:
            fits = False
        if not fits:
            given = f"start_date={short_repr(value)} was given"
            raise ValueError(f"{given}; it is a date such as 2025-01-01")

    @workday_end_hour.validator
    def _after_opening(self, _: Any, value: int) -> None:
        if value <= (opens := self.workday_start_hour):
            given = f"workday_end_hour={value} was given"
            raise ValueError(f"{given}; it is after workday_start_hour={opens}")

    @property
    def public(self) -> "PublicRules":
        """These rules alone."""
        return PublicRules(**{each.name: getattr(self, each.name) for each in fields(PublicRules)})

    @property
    def start(self) -> datetime:
        """The opening hour of the first day, which is tick 0."""
        return datetime.combine(date.fromisoformat(self.start_date), time(self.workday_start_hour))

    @property
    def end(self) -> datetime:
        """The horizon: the same date and time some years later, or 28 February for the 29th."""
        start, year = self.start, self.start.year + self.horizon_years
        try:
            return start.replace(year=year)
        except ValueError:
            return start.replace(year=year, day=28)

    @property
    def open_hours(self) -> BusinessHours:
        """The hours that plans count, Monday to Friday, in ticks of a microsecond."""
        return _weekday_hours(self.start, self.workday_start_hour, self.workday_end_hour)

    @property
    def progress_hours(self) -> BusinessHours:
        """The hours that progress counts on a full weekday: with evenings, until midnight."""
        closes = 24 if self.evening_progress else self.workday_end_hour
        return _weekday_hours(self.start, self.workday_start_hour, closes)

    @property
    def progress_day_hours(self) -> int:
        """Hours that progress counts on a full weekday."""
        return self.progress_hours.closes - self.progress_hours.opens

    def progress_between(self, first: datetime, last: datetime) -> float:
        """Return the hours of progress on full weekdays between two instants, at least 0."""
        hours = self.progress_hours
        start, end = hours.calendar.ticks(first), hours.calendar.ticks(last)
        return max(0, hours.between(start, end)) / hours.calendar.ticks(timedelta(hours=1))


# A value cached on the parameter object itself would be written to records.
@lru_cache(maxsize=64)
def _weekday_hours(start: datetime, opens: int, closes: int) -> BusinessHours:
    return BusinessHours(Calendar(start), opens, closes)


@frozen
class Tier:
    """A salary tier (SPEC 2.5): its lowest and highest salary, cents a month, and units an hour.

    Attributes:
        share: Share of the staff; used where `roster` is "shares".
        published: How many the published list holds before it is cut to the staff's size.
    """

    name: str = field(validator=instance_of(str))
    share: float = field(validator=_SHARE)
    published: int = field(validator=_NATURAL)
    salary_cents: tuple[int, int] = field(validator=finite_numbers(2))
    rate: Pair = field(validator=finite_numbers(2))


def _sum_to_one(_: object, __: "Attribute[Any]", value: tuple[Tier, ...]) -> None:
    if not math.isclose(math.fsum(tier.share for tier in value), 1):
        raise ValueError(f"tiers={short_repr(value)} was given; their shares sum to 1")


_TIERS = (
    Tier("junior", 0.5, 5, (200_000, 400_000), (1.0, 4.0)),
    Tier("mid", 0.35, 3, (600_000, 800_000), (4.0, 7.0)),
    Tier("senior", 0.15, 2, (1_000_000, 1_500_000), (7.0, 10.0)),
)

#: Rules of the published bot runner (`bots.md`, section 1).
_DIRECT: dict[str, Any] = {
    "inflations": 2,
    "replacement_stream": "run",
    "tasks_by_identifier": True,
    "market_browse_default_limit": 200,
    "accepting_step_unrounded": True,
}
#: The paper's values of parameters for which the code differs (SPEC section 17).
_PAPER: dict[str, Any] = {
    "task_progress_milestones": (0.25, 0.5, 0.75),
    "people_seed": None,
    "roster": "shares",
    "spiky_skills": True,
    "trust_gate": "share",
    "replacements_multiplied": True,
    "payout_prestige": "company",
    "trust_fragility": 0.0,
    "forced_advance": True,
    **dict.fromkeys(("efficient_team", "learners"), 0),
    **dict.fromkeys(("evening_progress", "reassignment_replans", "cancel_fails"), False),
    **dict.fromkeys(("late_fines_as_rewards", "bump_report_of_salary"), False),
    **dict.fromkeys(("resume_reports_new_time", "errors_count_as_resume"), False),
    **dict.fromkeys(("status_number_lags", "stale_scratchpad"), False),
}
_EXPLOIT = (
    "the best known score is an exploit of the published rules: accepting costs nothing, so tasks "
    "are accepted only to have others drawn"
)


@frozen(kw_only=True, slots=False)
class YCBenchParams(PublicRules):
    """Every number and switch of the world, named as in the SPEC; the defaults are as published.

    Attributes:
        num_employees: Size of the staff.
        num_clients: At most 15, the number of published names.
        people_seed: Seed of clients and staff, the published worlds' own; none takes the run's.
        roster: "published": the first of a fixed list of tiers; "shares": by the tiers' shares.
        spiky_skills: Whether a domain's rate may fall into any tier's band up to the person's own.
        tiers: Salaries and rates by tier.
        client_multiplier: Low, high and mode of the clients' reward multipliers.
        client_tiers: Multipliers from which a client is Premium, and Enterprise.
        one_specialty_probability: Chance of one specialty; otherwise a client has two.
        loyalty_rat_fraction: Share of adversarial clients.
        loyalty_severity: Scales how much their tasks swell; `scope_creep_floor` holds below it.
        adversarial_loyalty: Loyalty strictly below which a client is adversarial.
        adversarial_multiplier: An adversarial client's least multiplier, as a share of the largest.
        company_name: Name of the company.
        desk_titles: Planned tasks that an observation lists at most, those created last.
        tasks_by_identifier: Whether replies name tasks by identifiers, as titles may repeat.
        market_browse_default_limit: Rows of the market shown where no limit is given.
        browse_shows_one_row: Whether a limit of 0 or less still shows one row.
        browse_total_is_page: Whether `total` counts the rows shown and not the matches.
        resume_reports_new_time: Whether a resume reports the new time as the old one.
        auto_advance_after_turns: Turns without a resume after which the clock is moved on.
        forced_advance: Whether the clock is then moved on even if no task is active.
        idle_limit: Turns without time and an active task until a founder is idle; 0 for no limit.
        idle_year_passes: Whether the year then passes, with paydays; else the episode ends, "idle".
        max_turns: Turns after which the run ends, an error in the published loop; 0 for no limit.
        episodes: Episodes of a run, 1 to 1,000: a bankruptcy opens the same seed again (SPEC 15).
        errors_count_as_resume: Whether a refused resume counts as one.
        status_number_lags: Whether the status after a resume has the number of the turn before.
        stale_scratchpad: Whether the scratchpad shown is that of the last turn without a resume.
        world: A world as a file or as read from one; without one it is drawn from the seed.
        plays_on: Whether commands are taken after bankruptcy or the horizon, as by the store.
        max_questions_per_tick: Commands at one tick; with more the episode fails with `Stuck`.
        thinking: Microseconds that the commands of the founder take, while the company works on.
    """

    # Clients and staff: SPEC 2.3, 2.5, 4.1 and 4.2.
    num_employees: int = field(default=8, validator=_COUNT)
    num_clients: int = field(default=6, validator=[whole, ge(1), le(15)])
    people_seed: int | None = field(default=1, validator=_SEED)
    roster: str = field(default="published", validator=in_(("published", "shares")))
    spiky_skills: bool = field(default=False, validator=_SWITCH)
    tiers: tuple[Tier, ...] = field(default=_TIERS, converter=tuple, validator=_sum_to_one)
    client_multiplier: Triple = field(default=(0.7, 2.5, 1.0), validator=_TRIANGLE)
    client_tiers: Pair = field(default=(1.0, 1.7), validator=finite_numbers(2))
    one_specialty_probability: float = field(default=0.6, validator=_SHARE)
    loyalty_rat_fraction: float = field(default=0.35, validator=_SHARE)
    loyalty_severity: float = field(default=1.0, validator=_AMOUNT)
    adversarial_loyalty: float = field(default=-0.3, validator=[finite, ge(-1), le(1)])
    adversarial_multiplier: float = field(default=0.75, validator=_AMOUNT)

    # The console and the founder's turns: SPEC 13 and 14.
    company_name: str = field(default="BenchCo", validator=instance_of(str))
    desk_titles: int = field(default=50, validator=_COUNT)
    tasks_by_identifier: bool = field(default=False, validator=_SWITCH)
    market_browse_default_limit: int = field(default=50, validator=_POSITIVE)
    browse_shows_one_row: bool = field(default=True, validator=_SWITCH)
    browse_total_is_page: bool = field(default=True, validator=_SWITCH)
    resume_reports_new_time: bool = field(default=True, validator=_SWITCH)
    auto_advance_after_turns: int = field(default=5, validator=_COUNT)
    forced_advance: bool = field(default=False, validator=_SWITCH)
    idle_limit: int = field(default=1_000, validator=_NATURAL)
    idle_year_passes: bool = field(default=True, validator=_SWITCH)
    max_turns: int = field(default=0, validator=_NATURAL)
    episodes: int = field(default=1, validator=[whole, ge(1), le(1000)])
    errors_count_as_resume: bool = field(default=True, validator=_SWITCH)
    status_number_lags: bool = field(default=True, validator=_SWITCH)
    stale_scratchpad: bool = field(default=True, validator=_SWITCH)

    # The world file, and the running of an episode.
    world: WorldFile | str | None = field(default=None, converter=as_world)
    plays_on: bool = field(default=False, validator=_SWITCH)
    max_questions_per_tick: int = field(default=10_000, validator=_POSITIVE)
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    presets: ClassVar[Mapping[str, Any]] = {"default": {}, "direct": _DIRECT, "paper": _PAPER}
    preset_warnings: ClassVar[Mapping[str, str]] = {
        "default": _EXPLOIT,
        "direct": _EXPLOIT,
        "paper": "the paper's text pays far more than its code: the best rule makes four times "
        "what it makes in default, and no published score belongs to this preset",
    }

    def __attrs_post_init__(self) -> None:
        """Check the years of all episodes, and that a world file covers the same time."""
        if self.episodes * self.horizon_years > _MOST_YEARS:
            given = f"episodes={self.episodes} of horizon_years={self.horizon_years} were given"
            raise ValueError(f"{given}; together they are at most {_MOST_YEARS:,} years")
        if self.fixed_world is None:
            return
        own = (self.start.isoformat(), self.end.isoformat())
        times = (self.fixed_world.start or own[0], self.fixed_world.horizon_end or own[1])
        if own != times:
            raise ValueError(
                f"world: its file runs from {times[0]} to {times[1]}, the parameters from {own[0]} "
                f"to {own[1]}; set start_date and horizon_years to the file's"
            )

    @property
    def fixed_world(self) -> WorldFile | None:
        """The world that was given; none where it is drawn from the seed."""
        assert not isinstance(self.world, str)  # the converter has read a path
        return self.world
