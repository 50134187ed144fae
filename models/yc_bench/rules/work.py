"""Parameters of work: teams, deadlines, lateness and cancellation (SPEC 7, 8, 10 and 11).

Parameters of growth: prestige, skills and salaries (SPEC 2.2 and 10).

Parameters of the clients' trust (SPEC 2.3 and 10).
"""

from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, le

from desim.schema.validators import finite, finite_numbers, whole
from desim.short_repr import short_repr
from models.yc_bench.rules.checks import AMOUNT, CENTS, DIGITS, SHARE, SWITCH, as_tuple

_shares = finite_numbers()


@frozen(kw_only=True, slots=False)
class WorkRules:
    """Rules of accepting, working on, completing (on time or late) and cancelling tasks.

    Attributes:
        efficient_team: How many of a team work, the fastest first; 0 for all.
        planned_tasks_split: Whether planned tasks split a person's rate as active ones do.
        reassignment_replans: Whether naming people who are on an active task already plans its
            completion anew.
        task_progress_milestones: Shares of the work at which the clock stops as well; each above 0
            and below 1, increasing.
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
    """

    efficient_team: int = field(default=4, validator=[whole, ge(0)])
    planned_tasks_split: bool = field(default=False, validator=SWITCH)
    reassignment_replans: bool = field(default=True, validator=SWITCH)
    task_progress_milestones: tuple[float, ...] = field(default=(), converter=as_tuple)
    deadline_qty_per_day: float = field(default=150, validator=[finite, gt(0)])
    deadline_min_biz_days: int = field(default=7, validator=[whole, ge(0), le(100_000)])
    minimum_qty: int = field(default=200, validator=[whole, ge(1)])
    scope_creep: bool = field(default=True, validator=SWITCH)
    scope_creep_floor: float = field(default=3.0, validator=AMOUNT)
    scope_creep_limit: int = field(default=25_000, validator=[whole, ge(1)])
    inflations: int = field(default=1, validator=[whole, ge(1), le(10)])
    deadline_before_inflation: bool = field(default=True, validator=SWITCH)
    penalty_fail_multiplier: float = field(default=1.0, validator=AMOUNT)
    penalty_fail_funds_pct: float = field(default=0.35, validator=AMOUNT)
    penalty_cancel_multiplier: float = field(default=1.5, validator=AMOUNT)
    cancel_fails: bool = field(default=True, validator=SWITCH)
    late_fines_as_rewards: bool = field(default=True, validator=SWITCH)

    @task_progress_milestones.validator
    def _increasing(self, attribute: "Attribute[Any]", value: tuple[float, ...]) -> None:
        _shares(self, attribute, value)
        if list(value) != sorted({share for share in value if 0 < share < 1}):
            raise ValueError(
                f"task_progress_milestones={short_repr(value)} was given; each is above 0 and "
                "below 1, and they increase"
            )


@frozen(kw_only=True, slots=False)
class GrowthRules:
    """Effects of a completed task on the company and its staff.

    Attributes:
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
        bump_report_of_salary: Whether reports sum a share of the new salaries, as published, and
            not the raises.
    """

    initial_funds_cents: int = field(default=20_000_000, validator=CENTS)
    initial_prestige_level: float = field(default=1.0, validator=AMOUNT)
    prestige_max: float = field(default=10.0, validator=AMOUNT)
    prestige_min: float = field(default=1.0, validator=AMOUNT)
    prestige_decay_per_day: float = field(default=0.0, validator=AMOUNT)
    prestige_delta_digits: int = field(default=3, validator=DIGITS)
    learners: int = field(default=4, validator=[whole, ge(0)])
    skill_rate_max: float = field(default=10.0, validator=AMOUNT)
    salary_bump_pct: float = field(default=0.01, validator=AMOUNT)
    salary_max_cents: int = field(default=10_000_000, validator=CENTS)
    bump_of_salary: bool = field(default=False, validator=SWITCH)
    bump_report_of_salary: bool = field(default=True, validator=SWITCH)


@frozen(kw_only=True, slots=False)
class TrustRules:
    """Growth, loss and effects of trust; `formulas.py` holds the equations.

    Attributes:
        trust_max: Highest trust.
        trust_build_tasks: Tasks done in time until trust is significant: the first one gains
            `1.6 * trust_max / trust_build_tasks`, so twice as many build trust half as fast. The
            published name is `trust_build_rate`, although it divides.
        trust_fragility: Scales what trust loses with failures and days.
        trust_focus_pressure: Scales what trust of all other clients loses with every completion.
        trust_work_reduction_max: Share of the work that full trust saves.
        trust_digits: Decimals to which trust is rounded at every stop.
        accepting_step_unrounded: Whether a client's trust is not rounded in the first step after
            one of its tasks was accepted, as in the published bot runner.
    """

    trust_max: float = field(default=5.0, validator=[finite, gt(0), le(1e6)])
    trust_build_tasks: float = field(default=5.0, validator=[finite, gt(0), le(1e6)])
    trust_fragility: float = field(default=0.3, validator=AMOUNT)
    trust_focus_pressure: float = field(default=0.3, validator=AMOUNT)
    trust_work_reduction_max: float = field(default=0.5, validator=SHARE)
    trust_digits: int = field(default=3, validator=DIGITS)
    accepting_step_unrounded: bool = field(default=False, validator=SWITCH)
