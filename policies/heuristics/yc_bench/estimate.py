"""What a player knows of the company: read from replies, rounded as they are, nothing else.

Hidden and absent here: loyalty, rates beyond two decimals, and what will replace a task.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import define, field, frozen

from policies.heuristics.yc_bench.course import Row
from policies.heuristics.yc_bench.ruleset import Ruleset

__all__ = ["Estimate", "Offer", "Person"]

#: Calendar days of a month, on average.
_MONTH = 30.4
_DAY_SECONDS = 86_400


@define(eq=False)
class Person:
    """Somebody on the payroll.

    Attributes:
        name: As listed.
        rates: Units an hour by domain, two decimals.
        bump: Raise with each success, cents a month.
        jobs: Titles of active tasks they are on.
        typical: Units an hour in the work that lies ahead, by the plan's mix of domains.
        room: How many active tasks they may be on.
    """

    name: str
    rates: dict[str, float]
    bump: float
    jobs: list[str]
    typical: float = 1.0
    room: int = 1

    @property
    def load(self) -> int:
        """How many active tasks share their time."""
        return len(self.jobs)

    @property
    def free(self) -> int:
        """How many more tasks they may take."""
        return max(0, self.room - len(self.jobs))


@frozen(eq=False)
class Offer:
    """A task of the market that could be accepted.

    Attributes:
        title: Its name.
        client: Whose it is.
        domain: Of the work.
        listed: Units of work as listed.
        quantity: Units of work once accepted, if the client is honest.
        reward: Cents, as listed.
        boost: Share by which rates grow.
        delta: Prestige won.
        days: Business days until it is due.
        trust: Level of trust it needs.
    """

    title: str
    client: str
    domain: str
    listed: float
    quantity: float
    reward: float
    boost: float
    delta: float
    days: int
    trust: int


@define(eq=False)
class Estimate:
    """The company as far as it can be seen.

    Attributes:
        rules: The published ones.
        horizon: When the run ends.
        now: When it was last looked at.
        people: By name.
        trust: By client.
        specialties: Domains by client.
        prestige: By domain.
        adversarial: Clients found out.
    """

    rules: Ruleset
    horizon: datetime
    now: datetime
    people: dict[str, Person] = field(factory=dict)
    trust: dict[str, float] = field(factory=dict)
    specialties: dict[str, Sequence[str]] = field(factory=dict)
    prestige: dict[str, float] = field(factory=dict)
    adversarial: set[str] = field(factory=set)

    @property
    def hours(self) -> float:
        """Hours of progress until the horizon."""
        return self.rules.progress.between(self.now, self.horizon)

    @property
    def months(self) -> float:
        """Months until the horizon."""
        return (self.horizon - self.now).total_seconds() / _DAY_SECONDS / _MONTH

    @property
    def honest(self) -> list[str]:
        """Clients not found out, by name."""
        return sorted(self.trust.keys() - self.adversarial)

    def read_staff(self, listed: Iterable[Row]) -> None:
        """Take the reply of `employee list`."""
        bump = self.rules.salary_bump_pct
        self.people = {
            row["name"]: Person(
                row["name"],
                dict(row["skill_rates"]),
                bump * row["salary_cents"],
                list(row["active_tasks"]),
            )
            for row in listed
        }

    def read_clients(self, listed: Iterable[Row]) -> None:
        """Take the reply of `client list`."""
        for row in listed:
            self.trust[row["name"]] = row["trust_level"]
            self.specialties[row["name"]] = tuple(row["specialties"])

    def offer(self, row: Row) -> Offer:
        """Read a row of the market."""
        need = row["requirements"][0]
        trust = self.trust.get(row["client_name"], 0.0)
        quantity = self.rules.agreed(need["required_qty"], trust)
        return Offer(
            title=row["task_id"],
            client=row["client_name"],
            domain=need["domain"],
            listed=need["required_qty"],
            quantity=quantity,
            reward=row["reward_funds_cents"],
            boost=row["skill_boost_pct"],
            delta=row["reward_prestige_delta"],
            days=self.rules.deadline_days(quantity),
            trust=row["required_trust"],
        )
