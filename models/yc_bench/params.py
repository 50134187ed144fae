"""The parameters of YC-Bench and its presets: plain data, below everything that plays."""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import field, frozen
from attrs.validators import ge, instance_of

from desim.core.roles import Thinking
from desim.schema.validators import whole
from models.yc_bench.company.world_file import WorldFile
from models.yc_bench.company.world_format import as_world
from models.yc_bench.rules.checks import SWITCH
from models.yc_bench.rules.console import ConsoleRules
from models.yc_bench.rules.formulas import PublicRules
from models.yc_bench.rules.people import PeopleRules

#: Years of all episodes together: dates have four digits.
_MOST_YEARS = 1000

#: Rules of the published bot runner (`bots.md`, section 1).
_DIRECT: dict[str, Any] = {
    "inflations": 2,
    "replacement_stream": "run",
    "tasks_by_identifier": True,
    "market_browse_default_limit": 200,
    "accepting_step_unrounded": True,
}
#: The paper's values of parameters for which the code differs (SPEC section 17).
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
class YCBenchParams(PeopleRules, PublicRules, ConsoleRules):
    """Every number and switch of the world.

    A parameter keeps the name it has in the SPEC; a switch is named after what it switches on. The
    classes in `rules/` state units, ranges and sources by section of the SPEC. The defaults behave
    as the published code.

    Attributes:
        world: A world as a file or as read from one; without one it is drawn from the seed.
        plays_on: Whether commands are taken after bankruptcy or the horizon, as the published store
            does; otherwise the episode ends there.
        max_questions_per_tick: Commands at one tick; the episode fails with `Stuck` when a founder
            gives more.
        thinking: Microseconds that the commands of the founder take, while the company works on.
    """

    world: WorldFile | str | None = field(default=None, converter=as_world)
    plays_on: bool = field(default=False, validator=SWITCH)
    max_questions_per_tick: int = field(default=10_000, validator=[whole, ge(1)])
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "direct": _DIRECT,
        "paper": _PAPER,
    }

    preset_warnings: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("default", "direct"),
            "the best known score is an exploit of the published rules: accepting costs nothing, "
            "so tasks are accepted only to have others drawn",
        ),
        "paper": "the paper's text pays far more than its code: the best rule makes four times "
        "what it makes in default, and no published score belongs to this preset",
    }

    def __attrs_post_init__(self) -> None:
        """Check the years of all episodes, and that a world file covers the same time, if it says.

        Raises:
            ValueError: They are too many, or it does not.
        """
        if self.episodes * self.horizon_years > _MOST_YEARS:
            raise ValueError(
                f"episodes={self.episodes} of horizon_years={self.horizon_years} were given; "
                f"together they are at most {_MOST_YEARS:,} years"
            )
        if self.fixed_world is None:
            return
        # A file may leave either open; then the parameters decide.
        own = (self.start.isoformat(), self.end.isoformat())
        times = (self.fixed_world.start or own[0], self.fixed_world.horizon_end or own[1])
        if own != times:
            raise ValueError(
                f"world: its file runs from {times[0]} to {times[1]}, the parameters from {own[0]} "
                f"to {own[1]}; set start_date and horizon_years to the file's"
            )

    @property
    def fixed_world(self) -> WorldFile | None:
        """The world that was given; none where it is drawn from the seed."""
        # The converter has read a path.
        assert not isinstance(self.world, str)
        return self.world
