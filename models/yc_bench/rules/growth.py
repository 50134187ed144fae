"""Parameters of growth: prestige, skills and salaries (SPEC 2.2 and 10)."""

from attrs import field, frozen
from attrs.validators import ge

from desim.schema.validators import whole
from models.yc_bench.rules.checks import AMOUNT, CENTS, DIGITS, SWITCH

__all__ = ["GrowthRules"]


@frozen(kw_only=True, slots=False)
class GrowthRules:
    """What a completed task changes for the company and its staff.

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
