"""The reasoning tasks as a model: what they are made of, and grading outside an episode."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from attrs import frozen

from desim import Role, World
from desim.core.calendar import Calendar
from desim.core.model import ItemsModel
from desim.core.reported import Figures, Periods, Texts, Time
from desim.errors import UsageError, possible
from desim.short_repr import short_repr
from models.reasoning import score, seat
from models.reasoning.desk import Desk, question
from models.reasoning.item import MOST_ITEMS, groups
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded
from models.reasoning.scoring.extraction import MARKER, extract
from models.reasoning.scoring.grade import grade
from models.reasoning.seat import ANALYST, Answer, Command, Question

#: The first item of a world that is played alone arrives on a Monday, invented here.
_CALENDAR = Calendar(datetime(2025, 1, 6, 9), timedelta(seconds=1))  # noqa: DTZ001 (no zones)


@frozen(kw_only=True)
class ReasoningTasks(ReasoningParams, ItemsModel[Desk]):
    """Questions with one right answer each, which arrive in order or in windows."""

    revision: ClassVar[int] = 1

    #: If an answer takes no time all questions are at one tick; each is asked once.
    max_questions_per_tick: ClassVar[int] = MOST_ITEMS

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        given = params.get("items")
        return [given] if isinstance(given, str) and given else []

    @property
    def roles(self) -> dict[str, Role]:
        role = Role(Question, Command, seat.options, default_action=_empty, thinking=self.thinking)
        return {ANALYST: role}

    @property
    def time(self) -> Time:
        return Time(calendar=_CALENDAR, length=f"{len(self.chosen_items)} questions")

    @property
    def figures(self) -> Figures:
        return score.figures(self.chosen_items)

    @property
    def kept(self) -> tuple[str, ...]:
        answers = ("right answers of the items",)
        return answers if self.order == "shuffled" else (*answers, "items to come, as given")

    def texts(self, role: str) -> Texts:
        return Texts(seat.RULES, seat.briefing(len(self.chosen_items)))

    def begin(self, world: World) -> Desk:
        return Desk(world, self)

    def redraw(self, world: World, state: Desk) -> None:
        state.redraw()

    def after(self, state: Desk, role: str, action: Command, observation: Question) -> str:
        return seat.told(observation)

    def score(self, state: Desk) -> float:
        return score.score(state)

    def metrics(self, state: Desk) -> dict[str, Any]:
        return score.metrics(state)

    @property
    def item_groups(self) -> dict[str, tuple[str, ...]]:
        return {one.id: tuple(groups(one)) for one in self.chosen_items}

    def item_results(self, state: Desk) -> dict[str, tuple[float, bool]]:
        return score.item_results(state)

    def series(self, state: Desk) -> dict[str, Periods]:
        return score.series(state)

    def tables(self, state: Desk, role: str) -> dict[str, list[dict[str, Any]]]:
        return {"answers": state.answers()}

    @property
    def public_items(self) -> tuple[Question, ...]:
        """The questions of an episode, without feedback, in the order in which they are given."""
        given = self.chosen_items
        return tuple(question(self, one, at, len(given)) for at, one in enumerate(given, 1))

    def states_answer(self, text: str) -> bool:
        """Return whether an answer can be extracted from a whole reply."""
        return extract(text) != MARKER

    def grade(self, item_id: str, text: str, *, extracts: bool = True) -> Graded:
        """Grade a whole reply, or the answer itself; an unknown item is a `UsageError`."""
        items = {one.id: one for one in self.loaded_items}
        if item_id not in items:
            known = possible(item_id, [*items][:20])
            raise UsageError(f"item {short_repr(item_id)} was given; {known}")
        return grade(items[item_id], text, self, extracts=extracts)


def _empty(_: Question) -> Answer:
    return Answer("")
