"""The enterprise as a model: four worlds on one clock, a cash pool, and consolidated statements."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Self

from attrs import evolve, frozen

from desim import Model, Role, World
from desim.composition.group import Group
from desim.composition.parts_model import PartsModel
from desim.core.reported import Figures, Periods, Refused, Rows, ScoreSeries, Statement, Texts, Time
from models.enterprise import controller, processes, score
from models.enterprise.controller import Command, GroupPosition
from models.enterprise.params import CONTROLLER, PRESETS, EnterpriseParams
from models.enterprise.state import Company

_CONTROLLER = Role(
    GroupPosition,
    Command,
    controller.options,
    optional=True,
    default_action=lambda _: controller.Continue(),
)


@frozen(kw_only=True, slots=False)
class Enterprise(EnterpriseParams, PartsModel):
    """One company: a treasury that finances a plant, a consultancy and a start-up."""

    revision: ClassVar[int] = 1
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    @property
    def models(self) -> dict[str, Model[Any]]:
        every = {name: getattr(self, name) for name in self.worlds}
        return {name: model for name, model in every.items() if model is not None}

    def with_models(self, models: Mapping[str, Any]) -> Self:
        return evolve(self, **models)

    @classmethod
    def inner_models(
        cls, params: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        inside = ((name, world, params.get(name)) for name, world in cls.worlds.items())
        return ((name, world, one) for name, world, one in inside if isinstance(one, Mapping))

    @property
    def time(self) -> Time:
        return evolve(super().time, length=f"{self.months} months")

    @property
    def roles(self) -> dict[str, Role]:
        described, thinking = controller.described(self), self.thinking
        own = evolve(_CONTROLLER, described=described, thinking=thinking)
        return {CONTROLLER: own, **super().roles}

    def texts(self, role: str) -> Texts:
        return Texts(controller.rules(self), controller.briefing(self))

    def after(self, state: Company, role: str, action: Any, observation: Any) -> str | None:
        if role == CONTROLLER:
            return Refused(observation.reply) if observation.reply else ""
        return super().after(state, role, action, observation)

    def begin(self, world: World) -> Company:
        group = Group(world, self.models, datetime.fromisoformat(self.start))
        return processes.begin(world, self, group)

    @property
    def kept(self) -> tuple[str, ...]:
        losses = {"project": self.lost_project, "client": self.lost_client}
        return tuple(f"month of a lost {what}" for what, month in losses.items() if month)

    def group_of(self, state: Company) -> Group:
        return state.group

    def score(self, state: Company) -> float:
        return score.score(state)

    def metrics(self, state: Company) -> dict[str, Any]:
        return {**score.metrics(state), **super().metrics(state)}

    @property
    def figures(self) -> Figures:
        # The end comes early where a company runs out of cash, so boards show the months.
        parts = super().figures
        return Figures(
            columns={**parts.columns, **score.METRIC_COLUMNS},
            series={**score.COLUMNS, **parts.series},
            score_series=ScoreSeries("Net worth", ("net_worth",)),
            board=("months",),
        )

    def series(self, state: Company) -> dict[str, Sequence[float] | Periods]:
        own = Periods.each(score.series(state), score.ticks(state))
        return {**own, **super().series(state)}

    def statements(self, state: Company) -> dict[str, Rows | Statement]:
        return {**score.statements(state)}

    def tables(self, state: Company, role: str) -> dict[str, Rows]:
        if role == CONTROLLER:
            return {**score.statements(state)}
        return super().tables(state, role)
