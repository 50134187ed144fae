"""The other two seats, scripted: policies around the rules that the model plays without them."""

from typing import Any

from attrs import evolve, field, frozen
from attrs.validators import ge, le

from desim import Policy, Seat
from desim.errors import UsageError
from models.consulting.rules import interviewer, judge
from models.consulting.seats import FIELDS, InterviewerView, JudgeView, Say, Verdict

_MOST = 10.0


@frozen
class Scripted(Policy):
    """The interviewer by rules: tells a fact for a question about its topic, closes by the pace."""

    def seated(self, seat: Seat) -> None:
        """Check the seat.

        Raises:
            UsageError: It is not the interviewer's.
        """
        _require(seat, "scripted", "interviewer")

    def decide(self, seen: InterviewerView) -> Say:
        """Return what the rules say."""
        return interviewer.message(seen)


@frozen
class Rubric(Policy):
    """The judge by rubric: a stand-in; its scores are not comparable with published ones.

    Attributes:
        strictness: 1 scores by the share of the rubric that was found; at 2 half of it is worth a
            quarter of the points. 0.1 to 10.
    """

    strictness: float = field(default=1.0, validator=[ge(0.1), le(10)])

    def seated(self, seat: Seat) -> None:
        """Check the seat.

        Raises:
            UsageError: It is not a judge's.
        """
        _require(seat, "rubric", "judge")

    def decide(self, seen: JudgeView) -> Verdict:
        """Return the scores for the findings."""
        given = judge.verdict(seen)
        scores: dict[str, Any] = {name: self._strict(getattr(given, name)) for name in FIELDS}
        return evolve(given, **scores)

    def _strict(self, score: float) -> float:
        return round(_MOST * float((score / _MOST) ** self.strictness), 1)


def _require(seat: Seat, policy: str, kind: str) -> None:
    """Check that a policy sits where it can: judges are numbered."""
    if seat.role.partition("_")[0] != kind:
        raise UsageError(f"policy {policy!r} plays {kind!r}; {seat.role!r} was given")
