"""The parameters of YC-Bench and its presets."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from attrs import field, frozen
from attrs.validators import ge, instance_of

from desim import Role, World, from_preset
from models.yc_bench import options, processes, score, sheets, world_file
from models.yc_bench.actions import Command
from models.yc_bench.clock import Clock
from models.yc_bench.company import FOUNDER, Company
from models.yc_bench.observation import Desk
from models.yc_bench.rules import Calendar, Generation, Growth, Protocol, Work
from models.yc_bench.world_file import WorldFile

__all__ = ["YCBench"]

#: Rules of the published bot runner (`bots.md`, section 1).
_DIRECT: dict[str, Any] = {
    "inflations": 2,
    "replacement_stream": "run",
    "tasks_by_identifier": True,
    "market_browse_default_limit": 200,
    "accepting_step_unrounded": True,
}
#: What the paper says where the code differs (SPEC section 17).
_PAPER: dict[str, Any] = {
    "task_progress_milestones": (0.25, 0.5, 0.75),
    "people_seed": None,
    "roster": "shares",
    "spiky_skills": True,
    "trust_gate": "share",
    "replacements_multiplied": True,
    "evening_progress": False,
    "efficient_team": 0,
    "reassignment_replans": False,
    "cancel_fails": False,
    "late_fines_as_rewards": False,
    "learners": 0,
    "bump_of_salary": True,
    "bump_report_of_salary": False,
    "payout_prestige": "company",
    "trust_fragility": 0.0,
    "resume_reports_new_time": False,
    "forced_advance": True,
    "errors_count_as_resume": False,
    "status_number_lags": False,
    "stale_scratchpad": False,
}


@frozen(kw_only=True, slots=False)
class YCBench(Generation, Calendar, Work, Growth, Protocol):
    """A start-up's year: accept tasks, put people on them, meet payroll.

    The parameters stand with their units, ranges and sources in `rules.py`, by the section of
    the SPEC to which they belong.

    Attributes:
        world: A world as a file or as read from one; none draws it from the seed.
        plays_on: Go on taking commands after bankruptcy or the horizon, as the published store
            does; otherwise the episode ends there.
        patience: Commands at one instant, after which a founder who lets no time pass is given up.
    """

    world: WorldFile | str | None = field(default=None, converter=world_file.given)
    plays_on: bool = field(default=False, validator=instance_of(bool))
    patience: int = field(default=10_000, validator=[instance_of(int), ge(1)])

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "direct": _DIRECT,
        "paper": _PAPER,
    }

    def __attrs_post_init__(self) -> None:
        if self.told is None:
            return
        clock = Clock.of(self)
        mine = f"from {clock.text(0)} to {clock.text(clock.horizon)}"
        files = f"from {self.told.start} to {self.told.horizon_end}"
        if mine != files:
            raise ValueError(
                f"world: its file runs {files}, the parameters {mine}; "
                "set start_date and horizon_years to the file's"
            )

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset with some parameters changed."""
        return from_preset(cls, name, changes)

    @property
    def told(self) -> WorldFile | None:
        """The world from a file, which a path has become."""
        assert not isinstance(self.world, str)
        return self.world

    @property
    def roles(self) -> dict[str, Role]:
        """The founder, who gives one command at a time."""
        return {FOUNDER: Role(Desk, Command, options.options, neutral=options.neutral)}

    def begin(self, world: World) -> Company:
        """Draw the world and start its processes."""
        return processes.begin(world, self)

    def score(self, state: Company) -> float:
        """Funds at the end, in dollars: higher is better."""
        return score.score(state)

    def metrics(self, state: Company) -> dict[str, Any]:
        """Return the paper's figures."""
        return score.metrics(state)

    def sheets(self, state: Company, role: str) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG002
        """Return the published ledger and the funds, in cents."""
        return sheets.sheets(state)
