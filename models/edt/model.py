"""The Enterprise Digital Twin as a model: what it is made of, and where each part is."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Months
from desim.core.reported import Figures, Periods, Refused, ScoreSeries, Texts, Time
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
    figures: ClassVar[Figures] = Figures(
        columns=report.METRIC_COLUMNS,
        series=report.COLUMNS,
        score_series=ScoreSeries("Earnings so far", ("accumulated_earnings",)),
    )

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        return [given] if isinstance(given := params.get("scenario"), str) else []

    @property
    def roles(self) -> dict[str, Role]:
        of = partial(Role, optional=True, described=options.described(self.loaded_scenario))
        if self.asks == "once":
            choose, default = options.decisions, options.default_decision
            return {MANAGER: of(Briefing, Decide | Answer, choose, default_action=default)}
        waits, thinking = options.default_command, self.thinking
        return {
            MANAGER: of(
                Dashboard, Command, options.commands, default_action=waits, thinking=thinking
            )
        }

    @property
    def time(self) -> Time:
        # Tick 0 starts the first month, tick k ends step k.
        scenario = self.loaded_scenario
        steps = scenario.steps_a_month
        calendar = Months(OPENING_DAY, ticks=steps) if steps else None
        return Time(calendar=calendar, length=f"{scenario.steps} steps")

    @property
    def kept(self) -> tuple[str, ...]:
        # A gate draws when it is reached, so nothing is replaced.
        hidden = "work that an extension adds"
        if self.asks == "once":
            return () if self.shows_costs else (hidden, "costs of the scenario")
        return (hidden,)

    def texts(self, role: str) -> Texts:
        return rules_text.texts(self)

    def begin(self, world: World) -> Firm:
        return manager.begin(world, self)

    def after(self, state: Firm, role: str, action: Any, observation: Any) -> str:
        if observation.refused:
            return Refused(observation.refused)
        return rules_text.effect(action, observation) if isinstance(observation, Dashboard) else ""

    def score(self, state: Firm) -> float:
        return report.score(state)

    def metrics(self, state: Firm) -> dict[str, Any]:
        return report.metrics(state)

    def series(self, state: Firm) -> dict[str, Periods]:
        return Periods.each(report.by_step(state), range(1, state.controlling.booked + 1))

    def tables(self, state: Firm, role: str) -> dict[str, list[dict[str, Any]]]:
        return desk.tables(state)

    # -- in a group: behind the turns of a step ----------------------------------------------------

    def purse(self, state: Firm) -> Intercompany:
        state.settle()
        return state.intercompany

    def lose_project(self, state: Firm, name: str = "") -> None:
        """End a project without a follow-on, as `manager.lose` does."""
        manager.lose(state, name)
