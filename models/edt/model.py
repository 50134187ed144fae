"""The Enterprise Digital Twin as a model: roles, start, score, metrics and tables."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.catalog.known_scores import KnownScores, read_known_scores
from desim.core.calendar import Months
from desim.core.reported import ScoreSeries, SeatBriefing, Span
from desim.show.column import Column
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
    def known_scores(cls, preset: str) -> KnownScores | None:
        """Return the known scores of a preset, from `known_scores.json`."""
        return read_known_scores(__file__).get(preset)

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the scenario document, where the parameter is a path."""
        return [given] if isinstance(given := params.get("scenario"), str) else []

    @property
    def length(self) -> str:
        """The steps of an episode."""
        return f"{self.loaded_scenario.steps} steps"

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

    def rules_for(self, role: str) -> str:
        """Return the rules text that *role* may read."""
        return rules_text.rules(self)

    def briefing_for(self, role: str) -> SeatBriefing:
        """Return the rules of *role* in five answers."""
        return rules_text.briefing(self)

    def refusal(self, role: str, observation: Mapping[str, Any]) -> str:
        """Return why the last answer was refused, from the next observation."""
        return str(observation.get("refused") or "")

    def effect_of(self, state: Firm, role: str, action: Any, observation: Any) -> str:
        """Return what the last command did; nothing before the run of the published game."""
        return rules_text.effect(action, observation) if isinstance(observation, Dashboard) else ""

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

    def score_series(self, roles: Sequence[str]) -> ScoreSeries:
        """Return the earnings so far."""
        return ScoreSeries("Earnings so far", ("accumulated_earnings",))

    def metrics(self, state: Firm) -> dict[str, Any]:
        """Return the figures of the last step under the names of reference SPEC section 7."""
        return report.metrics(state)

    def trace_spans(self, state: Firm) -> Iterator[Span]:
        """Yield the projects with their phases."""
        return report.projects(state)

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """Units of score and metrics."""
        return report.METRIC_COLUMNS

    def series(self, state: Firm) -> dict[str, list[float]]:
        """Return money, staff and projects by step: README, "Series"."""
        return report.by_step(state)

    @property
    def series_columns(self) -> dict[str, Column]:
        """Unit and label of every series."""
        return report.COLUMNS

    def series_ticks(self, state: Firm) -> dict[str, range]:
        """Return the tick at the end of each posted step, for every series."""
        return dict.fromkeys(report.COLUMNS, range(1, state.controlling.booked + 1))

    def tables(self, state: Firm, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the firm's trial balance and journal, in money."""
        return desk.tables(state)

    # -- in a group: behind the turns of a step ----------------------------------------------------

    @property
    def calendar(self) -> Months:
        """The months of the steps: tick 0 is the start of the first month, tick k ends step k.

        Raises:
            ValueError: A month is not a whole number of steps.
        """
        return Months(OPENING_DAY, ticks=self.loaded_scenario.steps_a_month)

    def cash(self, state: Firm) -> int:
        """Return the cash in cents, rounded down, with all entries of the steps that are over."""
        state.settle()
        return state.intercompany.cash

    def receive_cash(self, state: Firm, cents: int, partner: str) -> None:
        """Post cash that a partner has sent.

        Raises:
            ValueError: The amount is not a whole number of cents above 0.
        """
        state.settle()
        state.intercompany.receive(state.world.now, partner, cents)

    def pay_cash(self, state: Firm, cents: int, partner: str) -> None:
        """Post cash that is sent to a partner.

        Raises:
            ValueError: It is more than the cash on hand, or no whole number of cents above 0.
        """
        state.settle()
        state.intercompany.pay(state.world.now, partner, cents)

    def intercompany(self, state: Firm) -> dict[str, int]:
        """Return the cash balances by partner in cents: above 0 is owed to this firm."""
        return state.intercompany.balances

    def lose_project(self, state: Firm, name: str = "") -> None:
        """End a project without a follow-on; bills already posted stay.

        Args:
            state: The firm.
            name: Name of the project; without it, the one with the most contracted revenue left.

        Raises:
            ValueError: No project of that name is on the list, or it has ended.
        """
        manager.lose(state, name)
