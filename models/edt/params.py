"""The parameters of the Enterprise Digital Twin and its presets."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

from attrs import field, frozen
from attrs.validators import ge, in_, instance_of, le

from desim import Role, World, from_preset
from models.edt import document, manager, options, score, sheets
from models.edt.actions import Answer, Command, Decide
from models.edt.firm import MANAGER, Firm
from models.edt.observation import Briefing, Desk
from models.edt.scenario import Scenario

__all__ = ["EnterpriseDigitalTwin"]

_whole = [instance_of(int), ge(1), le(100_000)]


@frozen(kw_only=True)
class EnterpriseDigitalTwin:
    """A consulting firm: consultants work on projects, each with a life of its own.

    Attributes:
        scenario: The firm and its market: the path of a scenario document, read when the model is
            made, or the scenario itself.
        asks: When the manager is asked: "once" before the run, or at every one of the "events".
        mode: What becomes of a decision that is not well-formed: "repair" mends it as published,
            "strict" refuses it with a code, "second_pass" mends it as the published scenario side
            alone does, which lets a firm without consultants through.
        gating: How extensions and follow-ons come about: "threshold" as published, or "bernoulli",
            in which a draw must fall below the probability as well.
        shows_costs: Whether the briefing tells costs and extension efforts, which the published one
            leaves out.
        quarter: Steps after which the manager is asked although nothing has happened, at least 1.
        patience: Questions at one instant, after which a manager whose answers are refused, or who
            never waits, is given up.

    Source: reference SPEC sections 1 to 11; `interactive` is ours.
    """

    scenario: Scenario | str = field(factory=document.template, converter=document.read)
    asks: str = field(default="once", validator=in_(("once", "events")))
    mode: str = field(default="repair", validator=in_(("repair", "strict", "second_pass")))
    gating: str = field(default="threshold", validator=in_(("threshold", "bernoulli")))
    shows_costs: bool = field(default=False, validator=instance_of(bool))
    quarter: int = field(default=12, validator=_whole)
    patience: int = field(default=1_000, validator=_whole)

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {},
        "interactive": {"asks": "events", "shows_costs": True},
    }
    lead: ClassVar[tuple[str, ...]] = (MANAGER,)

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset with some parameters changed."""
        return from_preset(cls, name, changes)

    @property
    def firm(self) -> Scenario:
        """The scenario, which a path has become."""
        assert isinstance(self.scenario, Scenario)
        return self.scenario

    @property
    def roles(self) -> dict[str, Role]:
        """The manager; where nobody sits, the scenario runs as it is given."""
        if self.asks == "once":
            plans = partial(options.plans, self)
            once = Role(Briefing, Decide | Answer, plans, optional=True, neutral=options.default)
            return {MANAGER: once}
        commands = partial(options.commands, self)
        return {MANAGER: Role(Desk, Command, commands, optional=True, neutral=options.idle)}

    def begin(self, world: World) -> Firm:
        """Set up the firm."""
        return manager.begin(world, self)

    def score(self, state: Firm) -> float:
        """Accumulated earnings, in money: higher is better."""
        return score.score(state)

    def metrics(self, state: Firm) -> dict[str, Any]:
        """Return the figures of the last step under the names of SPEC section 7."""
        return score.metrics(state)

    def sheets(self, state: Firm, role: str) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG002
        """Return the firm's books, in money."""
        return sheets.sheets(state)
