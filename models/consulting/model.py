"""The case interview as a model: what it is made of, and where each part is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Calendar
from desim.core.reported import Figures, Periods, Texts, Time
from models.consulting import processes, report, rules_text, seats
from models.consulting.params import ConsultingParams
from models.consulting.rules import interviewer, judge
from models.consulting.state import Interview

#: When an interview that is held alone begins: a Monday morning, invented here.
_MORNING = datetime(2025, 1, 6, 9)  # noqa: DTZ001 (no zones)


@frozen(kw_only=True)
class Consulting(ConsultingParams, Model[Interview]):
    """A case interview: an interviewer leads a candidate through a case, and judges score it."""

    revision: ClassVar[int] = 1
    #: Seconds of an interview held alone.
    time: ClassVar[Time] = Time(
        calendar=Calendar(_MORNING, timedelta(seconds=1)), length="interview"
    )
    #: Facts hidden from the candidate that a redraw keeps, which replaces nothing: the seed only
    #: chooses the case, which the first message reveals.
    kept: ClassVar[tuple[str, ...]] = ("facts of the case that have not been told",)
    figures: ClassVar[Figures] = report.FIGURES

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        given = params.get("cases")
        return [given] if isinstance(given, str) and given else []

    @property
    def roles(self) -> dict[str, Role]:
        """The interviewer and the judges follow rules where no policy plays them."""
        seat = partial(Role, thinking=self.thinking)
        ruled = partial(seat, optional=True)
        judging = ruled(seats.JudgeView, seats.Verdict, judge.options, default_action=judge.verdict)
        return {
            "interviewer": ruled(
                seats.InterviewerView,
                seats.Say,
                interviewer.options,
                default_action=interviewer.message,
            ),
            "candidate": seat(
                seats.CandidateView,
                seats.Reply,
                seats.replies,
                default_action=lambda _: seats.Reply(""),
            ),
            **dict.fromkeys(self.judge_roles, judging),
        }

    def texts(self, role: str) -> Texts:
        return rules_text.texts(self, role)

    def begin(self, world: World) -> Interview:
        interview = Interview(world, self, self.chosen(world.seed))
        world.process(processes.run(world, interview))
        return interview

    def after(self, state: Interview, role: str, action: Any, observation: Any) -> str:
        return rules_text.effect(self, role, state.messages_left)

    def score(self, state: Interview) -> float:
        return report.score(state)

    def metrics(self, state: Interview) -> dict[str, Any]:
        return report.metrics(state)

    def series(self, state: Interview) -> dict[str, Periods]:
        return report.series(state)

    def tables(self, state: Interview, role: str) -> dict[str, list[dict[str, Any]]]:
        return report.tables(state, role)
