"""A firm and its market as frozen classes: the content of a scenario document."""

import math
from itertools import count, groupby, pairwise
from operator import itemgetter
from typing import Any, Literal, get_args

from attrs import Attribute, field, frozen
from attrs.validators import ge, instance_of, le

from desim.schema.validators import finite, whole
from desim.short_repr import short_repr

Kind = Literal["consultant", "project", "controlling"]
#: The kind of an agent, and its number among those of its kind.
Agent = tuple[Kind, int]

#: Most steps and agents of a scenario; a file beyond them is more likely wrong than large.
STEPS, AGENTS = 100_000, 1_000

#: Limit of money per unit of time, effort and times: doubles below it keep three decimals.
_LARGEST = 1e12


def _float(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _named(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    if type(value) is not str or not value:
        raise ValueError(
            f"'{attribute.name}' must be a text of at least one letter, not {short_repr(value)}"
        )


def _number(*limits: float) -> Any:
    bounds = [ge(limits[0]), le(limits[1])] if limits else []
    return field(converter=_float, validator=[finite, *bounds])


def _runs(order: Any) -> Any:
    """Join neighbouring runs of one kind, so that equal orders have equal runs."""
    kinds = get_args(Kind)
    given = [tuple(run) if isinstance(run, list | tuple) else (run,) for run in order]
    for run in given:
        match run:
            case (kind, int(copies)) if kind in kinds and copies >= 1:
                continue
        raise ValueError(f"'order' must be runs of {', '.join(kinds)}, not {short_repr(run)}")
    runs = groupby(given, key=itemgetter(0))
    return tuple((kind, sum(copies for _, copies in run)) for kind, run in runs)


@frozen(kw_only=True)
class Consultant:
    """A consultant, who can deliver one unit of effort per unit of time.

    Attributes:
        name: For people.
        salary: Money per unit of time, busy or not.
        workplace_cost: Money per unit of time, busy or not.
    """

    name: str = field(validator=_named)
    salary: float = _number(0, _LARGEST)
    workplace_cost: float = _number(0, _LARGEST)


@frozen(kw_only=True)
class Project:
    """Work that is offered between two times.

    Attributes:
        name: For people.
        contracted_effort: Consultant time to deliver before the first extension.
        contracted_probability: How sure the revenue is, 0 to 1; reported only.
        extension_probability: Compared with the risk level when the work is done, 0 to 1.
        extension_effort: Consultant time that one extension adds.
        follow_on_probability: Compared with the risk level at the deadline, 0 to 1.
        deadline: Time at which the project ends; the step at that time still counts.
        consultants: Seats, at least 1.
        start_time: Time at which it becomes ready; work starts one step later.
        billing_rate: Money per unit of effort.
        is_follow_on: Whether it follows another; decisions do not cover such projects.
    """

    name: str = field(validator=_named)
    contracted_effort: float = _number(0, _LARGEST)
    contracted_probability: float = _number(0, 1)
    extension_probability: float = _number(0, 1)
    extension_effort: float = _number(0, _LARGEST)
    follow_on_probability: float = _number(0, 1)
    deadline: float = _number(-_LARGEST, _LARGEST)
    consultants: int = field(validator=[whole, ge(1), le(AGENTS)])
    start_time: float = _number(-_LARGEST, _LARGEST)
    billing_rate: float = _number(0, _LARGEST)
    is_follow_on: bool = field(default=False, validator=instance_of(bool))

    def __attrs_post_init__(self) -> None:
        if self.deadline < self.start_time:
            raise ValueError(
                f"'deadline' must not come before start_time {self.start_time:g}: {self.deadline:g}"
            )


@frozen(kw_only=True)
class Scenario:
    """The firm and its market before the first decision.

    Attributes:
        starttime: Time of the first step.
        stoptime: Time of the last step at the latest.
        dt: Time between steps, above 0.
        revenue_risk_level: R unless a decision sets it, 0 to 1.
        fixed_cost: Money per unit of time.
        consultants: In the order in which they act.
        projects: In the order in which they act.
        order: Runs of agents in the order in which they act: ("consultant", 12), ...; exactly one
            "controlling", which posts to the ledger.
        manager: Key of the document around the scenario; like `key`, `name` and `model`, which the
            document holds, too, it has no effect.
    """

    starttime: float = _number()
    stoptime: float = _number()
    dt: float = _number()
    revenue_risk_level: float = _number(0, 1)
    fixed_cost: float = _number(0, _LARGEST)
    consultants: tuple[Consultant, ...] = field(converter=tuple)
    projects: tuple[Project, ...] = field(converter=tuple)
    order: tuple[tuple[Kind, int], ...] = field(converter=_runs)
    manager: str = field(default="smEDT", validator=_named)
    key: str = field(default="interactive", validator=_named)
    name: str = field(default="EDT", validator=instance_of(str))
    model: str = field(default="enterprise_digital_twin", validator=instance_of(str))

    def __attrs_post_init__(self) -> None:
        if self.dt <= 0:
            raise ValueError(f"'dt' must be > 0: {self.dt:g}")
        if self.stoptime < self.starttime:
            raise ValueError(
                f"'stoptime' must not come before starttime {self.starttime:g}: {self.stoptime:g}"
            )
        if (self.stoptime - self.starttime) / self.dt >= STEPS:
            raise ValueError(f"'dt' makes more than {STEPS:,} steps: {self.dt:g}")
        self._check_order()
        _check_names("consultant", self.consultants)
        _check_names("project", self.projects)

    def _check_order(self) -> None:
        counts = dict.fromkeys(get_args(Kind), 0)
        for kind, copies in self.order:
            counts[kind] += copies
        listed = {"consultant": len(self.consultants), "project": len(self.projects)}
        if (boards := counts["controlling"]) != 1:
            raise ValueError(f"exactly one controlling agent is needed, not {boards}")
        if counts != {**listed, "controlling": 1}:
            raise ValueError(f"'order' must hold each agent once: {counts} for {listed}")

    @property
    def steps_a_month(self) -> int | None:
        """Steps of a month, which is a unit of time; None if it is not a whole number of them."""
        steps = round(min(1 / self.dt, STEPS))
        return steps if steps >= 1 and 1 / steps == self.dt else None

    @property
    def agents(self) -> list[Agent]:
        """The agents in the order in which they act."""
        numbers = {kind: count() for kind in get_args(Kind)}
        return [(kind, next(numbers[kind])) for kind, copies in self.order for _ in range(copies)]

    @property
    def offered(self) -> dict[int, Project]:
        """The projects that decisions cover, by number."""
        return {at: one for at, one in enumerate(self.projects) if not one.is_follow_on}

    @property
    def steps(self) -> int:
        """Number of steps; the first step is step 1."""
        return self.last_step_until(self.stoptime)

    def time(self, step: int) -> float:
        """Return the time of a step."""
        return self.starttime + (step - 1) * self.dt

    def last_step_until(self, time: float) -> int:
        """Return the last step that is not after a time; below 1 before the first step."""
        step = math.floor((time - self.starttime) / self.dt) + 1
        # Rounding of the quotient can put it on the wrong side of a whole number.
        if self.time(step + 1) <= time:
            return step + 1
        return step if self.time(step) <= time else step - 1

    def step_at(self, time: float) -> int | None:
        """Return the step at exactly that time, or None."""
        step = self.last_step_until(time)
        return step if self.time(step) == time else None

    def first_step_from(self, time: float) -> int:
        """Return the first step that is not before a time."""
        step = self.last_step_until(time)
        return step if self.time(step) == time else step + 1


def _check_names(kind: str, agents: tuple[Any, ...]) -> None:
    """Refuse two agents of one name, except equal neighbours, which a document counts."""
    names = [agent.name for agent in agents]
    copies = sum(a == b for a, b in pairwise(agents))
    if len(set(names)) + copies < len(names):
        twice = next(n for at, n in enumerate(names) if n in names[:at])
        raise ValueError(f"two {kind}s are named {twice!r}; a name is used once")
