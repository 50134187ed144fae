"""The other two seats, scripted: policies around the rules that the model plays without them."""

from typing import Any, ClassVar

from attrs import evolve, field, frozen
from attrs.validators import ge, le

from desim import Policy, Seat
from desim.errors import UsageError
from models.consulting.rules import interviewer, judge
from models.consulting.seats import FIELDS, InterviewerView, JudgeView, Say, Verdict

_MOST = 10.0


class _AtSeat(Policy):
    """A rule of the model, at the seat that the model gives it."""

    __slots__ = ()
    seat: ClassVar[str]

    def seated(self, seat: Seat) -> None:
        """Check the seat; judges are numbered.

        Raises:
            UsageError: It is another one.
        """
        if seat.role.partition("_")[0] != self.seat:
            name = type(self).__name__.lower()
            raise UsageError(f"policy {name!r} plays {self.seat!r}; {seat.role!r} was given")


@frozen
class Scripted(_AtSeat):
    """The interviewer by rules: tells a fact for a question about its topic, closes by the pace."""

    seat = "interviewer"

    def decide(self, seen: InterviewerView) -> Say:
        """Return what the rules say."""
        return interviewer.message(seen)


@frozen
class Rubric(_AtSeat):
    """The judge by rubric: a stand-in; its scores are not comparable with published ones.

    Attributes:
        strictness: 1 scores by the share of the rubric that was found; at 2 half of it is worth a
            quarter of the points. 0.1 to 10.
    """

    seat = "judge"

    strictness: float = field(default=1.0, validator=[ge(0.1), le(10)])

    def decide(self, seen: JudgeView) -> Verdict:
        """Return the scores for the findings."""
        given = judge.verdict(seen)
        scores: dict[str, Any] = {name: self._strict(getattr(given, name)) for name in FIELDS}
        return evolve(given, **scores)

    def _strict(self, score: float) -> float:
        return round(_MOST * float((score / _MOST) ** self.strictness), 1)
