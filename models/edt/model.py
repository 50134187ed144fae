"""The Enterprise Digital Twin as a model: roles, start, score, metrics and tables."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Months
from desim.core.reported import Figures, Periods, Refused, ScoreSeries, Span, Texts, Time
from ledgers.consolidation import Intercompany
from models.edt import desk, manager, options, report, rules_text
from models.edt.actions import Answer, Command, Decide
from models.edt.desk import Briefing, Dashboard
from models.edt.firm import MANAGER, Firm
from models.edt.params import DigitalTwinParams

#: The first day of a firm that is played alone.
OPENING_DAY = datetime(2025, 1, 1)  # noqa: DTZ001 (calendars have no time zones)


@frozen(kw_only=True)
class EnterpriseDigitalTwin(DigitalTwinParams, Model[Firm]):
    """A consulting firm: consultants work on projects, each with a life of its own."""

    revision: ClassVar[int] = 1
    default_roles: ClassVar[tuple[str, ...]] = (MANAGER,)

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the scenario document, where the parameter is a path."""
        return [given] if isinstance(given := params.get("scenario"), str) else []

    @property
    def roles(self) -> dict[str, Role]:
        """The manager; without a policy for it the scenario runs as it is given."""
        if self.asks == "once":
            role = Role(
                Briefing,
                Decide | Answer,
                options.decisions,
                optional=True,
                default_action=options.default_decision,
                described=options.described(self.loaded_scenario),
            )
        else:
            role = Role(
                Dashboard,
                Command,
                options.commands,
                optional=True,
                default_action=options.default_command,
                described=options.described(self.loaded_scenario),
                thinking=self.thinking,
            )
        return {MANAGER: role}

    def texts(self, role: str) -> Texts:
        """Return the rules that *role* may read."""
        return Texts(rules_text.rules(self), rules_text.briefing(self))

    def after(self, state: Firm, role: str, action: Any, observation: Any) -> str:
        """Return what the last command did; nothing before the run of the published game."""
        if observation.refused:
            return Refused(observation.refused)
        return rules_text.effect(action, observation) if isinstance(observation, Dashboard) else ""

    @property
    def time(self) -> Time:
        """Months of a firm played alone: tick 0 starts the first one, tick k ends step k.

        There is no calendar where a month is not a whole number of steps.
        """
        scenario = self.loaded_scenario
        steps = scenario.steps_a_month
        calendar = Months(OPENING_DAY, ticks=steps) if steps else None
        return Time(calendar=calendar, length=f"{scenario.steps} steps")

    def begin(self, world: World) -> Firm:
        """Set up the firm and start its processes."""
        return manager.begin(world, self)

    @property
    def kept(self) -> tuple[str, ...]:
        """Facts hidden from the manager that a redraw keeps: the rest of the scenario.

        It replaces nothing: a gate draws when it is reached, from the redrawn world.
        """
        hidden = "work that an extension adds"
        if self.asks == "once":
            return () if self.shows_costs else (hidden, "costs of the scenario")
        return (hidden,)

    def score(self, state: Firm) -> float:
        """Return the accumulated earnings, in money."""
        return report.score(state)

    def metrics(self, state: Firm) -> dict[str, Any]:
        """Return the figures of the last step under the names of reference SPEC section 7."""
        return report.metrics(state)

    def trace_spans(self, state: Firm) -> Iterator[Span]:
        """Yield the projects with their phases."""
        return report.projects(state)

    @property
    def figures(self) -> Figures:
        """Units of metrics and series."""
        return Figures(
            columns=report.METRIC_COLUMNS,
            series=report.COLUMNS,
            score_series=ScoreSeries("Earnings so far", ("accumulated_earnings",)),
        )

    def series(self, state: Firm) -> dict[str, Periods]:
        """Return money, staff and projects by step: README, "Series"."""
        return Periods.each(report.by_step(state), range(1, state.controlling.booked + 1))

    def tables(self, state: Firm, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the firm's trial balance and journal, in money."""
        return desk.tables(state)

    # -- in a group: behind the turns of a step ----------------------------------------------------

    def purse(self, state: Firm) -> Intercompany:
        """Return the cash in cents, rounded down, with all entries of the steps that are over."""
        state.settle()
        return state.intercompany

    def lose_project(self, state: Firm, name: str = "") -> None:
        """End a project without a follow-on; bills already posted stay.

        Args:
            state: The firm.
            name: Name of the project; without it, the one with the most contracted revenue left.

        Raises:
            ValueError: No project of that name is on the list, or it has ended.
        """
        manager.lose(state, name)
