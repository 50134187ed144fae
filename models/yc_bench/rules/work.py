"""Parameters of work: teams, deadlines, lateness and cancellation (SPEC 7, 8, 10 and 11)."""

from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, le

from desim.schema.validators import finite, finite_numbers, whole
from desim.short_repr import short_repr
from models.yc_bench.rules.checks import AMOUNT, SWITCH, as_tuple

__all__ = ["WorkRules"]

_shares = finite_numbers()


@frozen(kw_only=True, slots=False)
class WorkRules:
    """How tasks are accepted, worked on, completed on time or late, and given up.

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
