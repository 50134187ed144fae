"""The case interview as a model: roles, start, score, metrics, series and tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Calendar
from desim.core.reported import Figures, Periods, Texts, Time
from models.consulting import processes, report, rules_text, seats
from models.consulting.params import ConsultingParams
from models.consulting.rules import interviewer, judge
from models.consulting.seats import (
    CandidateView,
    InterviewerView,
    JudgeView,
    Reply,
    Say,
    Verdict,
)
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

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the folder of the cases, where the parameter is a path."""
        given = params.get("cases")
        return [given] if isinstance(given, str) and given else []

    @property
    def roles(self) -> dict[str, Role]:
        """The interviewer and the judges follow rules where no policy plays them."""
        judging = Role(
            JudgeView,
            Verdict,
            judge.options,
            optional=True,
            default_action=judge.verdict,
            thinking=self.thinking,
        )
        return {
            "interviewer": Role(
                InterviewerView,
                Say,
                interviewer.options,
                optional=True,
                default_action=interviewer.message,
                thinking=self.thinking,
            ),
            "candidate": Role(
                CandidateView,
                Reply,
                seats.replies,
                default_action=seats.default_reply,
                thinking=self.thinking,
            ),
            **dict.fromkeys(self.judge_roles, judging),
        }

    def texts(self, role: str) -> Texts:
        """Return the rules that *role* may read."""
        return Texts(rules_text.rules(role), rules_text.briefing(self, role))

    def after(self, state: Interview, role: str, action: Any, observation: Any) -> str:
        """Return how many messages are left."""
        return rules_text.effect(self, role, state.messages_left)

    def begin(self, world: World) -> Interview:
        """Choose the case and start the interview."""
        return processes.begin(world, self)

    #: Facts hidden from the candidate that a redraw keeps, which replaces nothing: the seed only
    #: chooses the case, which the first message reveals.
    kept: ClassVar[tuple[str, ...]] = ("facts of the case that have not been told",)

    #: The scale of a verdict is 0 to 10. The judge by rubric weights shares from 0 to 1 by weights
    #: that sum to 1. Verdicts of other judges are not clipped: one off the scale ends a comparison
    #: that rests on this range.
    figures: ClassVar[Figures] = Figures(
        columns=report.METRIC_COLUMNS, series=report.COLUMNS, score_range=(0.0, 10.0)
    )

    def score(self, state: Interview) -> float:
        """Return the judges' mean score, 0 to 10 if they keep to the scale."""
        return report.score(state)

    def metrics(self, state: Interview) -> dict[str, Any]:
        """Return the scores by field and the counts of the dialogue: README, "Score"."""
        return report.metrics(state)

    def series(self, state: Interview) -> dict[str, Periods]:
        """Return words, facts and the minute by round."""
        return Periods.each(report.by_round(state), report.ticks(state))

    def tables(self, state: Interview, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the dialogue, and the facts or the verdict that *role* may see."""
        return report.tables(state, role)
