"""The company as a player observes it: the rounded figures of replies, and nothing else.

Loyalty, rates beyond two decimals and future replacements are hidden, so they are absent here.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import define, field, frozen

from models.yc_bench.formulas import agreed_quantity, deadline_days
from models.yc_bench.params import PublicRules
from policies.heuristics.yc_bench.generator_policy import Row

#: Calendar days of a month, on average.
_MONTH = 30.4
_DAY_SECONDS = 86_400


@define(eq=False)
class TeamMember:
    """An employee as listed.

    Attributes:
        rates: Units an hour by domain, two decimals.
        bump: Raise with each success, cents a month.
        jobs: Titles of their active tasks, which share their time.
        typical: Units an hour in the plan's mix of domains.
        room: The number of active tasks that they may have.
    """

    name: str
    rates: dict[str, float]
    bump: float
    jobs: list[str]
    typical: float = 1.0
    room: int = 1

    @property
    def free(self) -> int:
        """The number of further tasks that they may take."""
        return max(0, self.room - len(self.jobs))


@frozen(eq=False)
class TaskOffer:
    """A task of the market that could be accepted.

    Attributes:
        domain: Domain of the work; of several the first, by which alone it is valued.
        listed: Units of work as listed.
        quantity: Units of work once accepted, if the client is honest.
        reward: Cents, as listed.
        boost: Share by which rates grow.
        days: Business days until it is due.
    """

    title: str
    client: str
    domain: str
    listed: float
    quantity: float
    reward: float
    boost: float
    days: int


@define(eq=False)
class Estimate:
    """The company as far as it can be seen.

    Attributes:
        rules: The rules of the world.
        horizon: When the run ends.
        now: Time of the last look.
        people: Employees by name.
        trust: Level by client.
        specialties: Domains by client.
        prestige: Level by domain.
        adversarial: Clients known to be adversarial.
    """

    rules: PublicRules
    horizon: datetime
    now: datetime
    people: dict[str, TeamMember] = field(factory=dict)
    trust: dict[str, float] = field(factory=dict)
    specialties: dict[str, Sequence[str]] = field(factory=dict)
    prestige: dict[str, float] = field(factory=dict)
    adversarial: set[str] = field(factory=set)

    @property
    def hours(self) -> float:
        """Hours of progress until the horizon."""
        return self.rules.progress_between(self.now, self.horizon)

    @property
    def months(self) -> float:
        """Months until the horizon."""
        return (self.horizon - self.now).total_seconds() / _DAY_SECONDS / _MONTH

    @property
    def honest(self) -> list[str]:
        """Clients not known to be adversarial, sorted by name."""
        return sorted(self.trust.keys() - self.adversarial)

    def read_staff(self, listed: Iterable[Row]) -> None:
        """Read the rows of `employee list`."""
        bump = self.rules.salary_bump_pct
        self.people = {
            row["name"]: TeamMember(
                row["name"],
                dict(row["skill_rates"]),
                bump * row["salary_cents"],
                list(row["active_tasks"]),
            )
            for row in listed
        }

    def read_clients(self, listed: Sequence[Row]) -> None:
        """Read the rows of `client list`, where a client that has gone is absent."""
        self.trust = {row["name"]: row["trust_level"] for row in listed}
        self.specialties = {row["name"]: tuple(row["specialties"]) for row in listed}

    def offer(self, row: Row) -> TaskOffer:
        """Read a row of the market."""
        need, client = row["requirements"][0], row["client_name"]
        listed = need["required_qty"]
        quantity = agreed_quantity(self.rules, listed, self.trust.get(client, 0.0))
        return TaskOffer(
            title=row["task_id"],
            client=client,
            domain=need["domain"],
            listed=listed,
            quantity=quantity,
            reward=row["reward_funds_cents"],
            boost=row["skill_boost_pct"],
            days=deadline_days(self.rules, quantity),
        )
