"""The published rules a player may know: numbers of the SPEC, nothing of the company's state."""

from typing import Any, Self

from attrs import fields, frozen

from policies.heuristics.yc_bench.working_time import WorkingTime

__all__ = ["Ruleset"]

#: SPEC 2.3: the first gain of trust and its power; shares of focus pressure and of fragility lost
#: with each completion for others and each day.
_GAIN, _POWER, _FOCUS, _DECAY = 1.6, 1.5, 0.06, 0.03
_MIDNIGHT = 24


@frozen(kw_only=True)
class Ruleset:
    """What the planner reckons with; the names and units are those of `models.yc_bench.rules`."""

    num_market_tasks: int = 200
    workday_start_hour: int = 9
    workday_end_hour: int = 18
    evening_progress: bool = True
    reassignment_replans: bool = True
    efficient_team: int = 4
    learners: int = 4
    skill_rate_max: float = 10.0
    salary_bump_pct: float = 0.01
    minimum_qty: int = 200
    trust_work_reduction_max: float = 0.5
    trust_max: float = 5.0
    trust_build_rate: float = 5.0
    trust_fragility: float = 0.3
    trust_focus_pressure: float = 0.3
    deadline_qty_per_day: float = 150
    deadline_min_biz_days: int = 7
    reward_prestige_scale: float = 0.3
    prestige_max: float = 10.0
    payout_prestige: str = "required"

    @classmethod
    def of(cls, model: Any) -> Self:
        """Take the rules, and nothing else, of a world's parameters."""
        return cls(**{each.name: getattr(model, each.name) for each in fields(cls)})

    @property
    def planning(self) -> WorkingTime:
        """Hours that plans count."""
        return WorkingTime(self.workday_start_hour, self.workday_end_hour)

    @property
    def progress(self) -> WorkingTime:
        """Hours that progress counts."""
        ends = _MIDNIGHT if self.evening_progress else self.workday_end_hour
        return WorkingTime(self.workday_start_hour, ends)

    def agreed(self, quantity: float, trust: float) -> float:
        """Return the units of work that an honest client's task has once accepted."""
        saved = self.trust_work_reduction_max * trust / self.trust_max
        return max(self.minimum_qty, int(quantity * (1 - saved)))

    def deadline_days(self, quantity: float) -> int:
        """Return in how many business days so much agreed work is due."""
        return max(self.deadline_min_biz_days, int(quantity / self.deadline_qty_per_day))

    def trusted(self, trust: float) -> float:
        """Return what trust becomes with a success."""
        missing = max(0.0, 1 - trust / self.trust_max)
        slower: float = missing**_POWER
        return trust + self.trust_max * _GAIN / self.trust_build_rate * slower

    def neglected(self, trust: float, completions: float, days: float) -> float:
        """Return what trust becomes while others are served and days pass."""
        focus = self.trust_focus_pressure * _FOCUS * completions
        return max(0.0, trust - focus - self.trust_fragility * _DECAY * days)

    def paid(self, listed: float, prestige: float) -> float:
        """Return what a listed reward comes to at the company's prestige in its domain."""
        if self.payout_prestige == "required":
            return listed
        return listed * (1 + self.reward_prestige_scale * (prestige - 1))
