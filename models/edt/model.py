"""The Enterprise Digital Twin as a model: roles, start, score, metrics and tables."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from attrs import frozen

from desim import Role, World, from_preset
from models.edt import manager, options, score, series, tables
from models.edt.actions import Answer, Command, Decide
from models.edt.firm import MANAGER, Firm
from models.edt.observation import Briefing, Dashboard
from models.edt.params import DigitalTwinParams

__all__ = ["EnterpriseDigitalTwin"]


@frozen(kw_only=True)
class EnterpriseDigitalTwin(DigitalTwinParams):
    """A consulting firm: consultants work on projects, each with a life of its own."""

    default_roles: ClassVar[tuple[str, ...]] = (MANAGER,)

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset, the first one if *name* is empty, with some parameters changed."""
        return from_preset(cls, name, changes)

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
            )
        else:
            role = Role(
                Dashboard,
                Command,
                options.commands,
                optional=True,
                default_action=options.default_command,
            )
        return {MANAGER: role}

    def begin(self, world: World) -> Firm:
        """Set up the firm and start its processes."""
        return manager.begin(world, self)

    def score(self, state: Firm) -> float:
        """Return the accumulated earnings, in money."""
        return score.score(state)

    def metrics(self, state: Firm) -> dict[str, Any]:
        """Return the figures of the last step under the names of reference SPEC section 7."""
        return score.metrics(state)

    def series(self, state: Firm) -> dict[str, list[float]]:
        """Return money, staff and projects by step: README, "Series"."""
        return series.by_step(state)

    def tables(self, state: Firm, role: str) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG002
        """Return the firm's trial balance and journal, in money."""
        return tables.tables(state)
