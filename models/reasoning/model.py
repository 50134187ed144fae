"""The reasoning tasks as a model: role, start, score, metrics, and grading outside an episode."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from attrs import frozen

from desim import Role, World
from desim.core.calendar import Calendar
from desim.core.model import ItemsModel
from desim.core.reported import Figures, Periods, ScoreSeries, Texts, Time
from desim.errors import UsageError, possible
from desim.short_repr import short_repr
from desim.show.column import directed
from models.reasoning import desk, item_file, score, seat
from models.reasoning.desk import Desk
from models.reasoning.item import groups, slug
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded
from models.reasoning.scoring.extraction import MARKER, extract
from models.reasoning.scoring.grade import grade
from models.reasoning.seat import ANALYST, Command, Question

#: When the first item of a world that is played alone arrives: a Monday, invented here.
_MONDAY = datetime(2025, 1, 6, 9)  # noqa: DTZ001 (no zones)


@frozen(kw_only=True)
class ReasoningTasks(ReasoningParams, ItemsModel[Desk]):
    """Questions with one right answer each, which arrive in order or in windows."""

    revision: ClassVar[int] = 1

    #: If an answer takes no time all questions are at one tick; each is asked once.
    max_questions_per_tick: ClassVar[int] = item_file.MOST_ITEMS

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the file or the folder of items, where the parameter is a path."""
        given = params.get("items")
        return [given] if isinstance(given, str) and given else []

    @property
    def roles(self) -> dict[str, Role]:
        """The analyst."""
        choose, default = seat.options, seat.default_action
        thinking = self.thinking
        role = Role(Question, Command, choose, default_action=default, thinking=thinking)
        return {ANALYST: role}

    def texts(self, role: str) -> Texts:
        """Return the rules that *role* may read."""
        return Texts(seat.RULES, seat.briefing(len(self.chosen_items)))

    def after(self, state: Desk, role: str, action: Command, observation: Question) -> str:
        """Return the outcome of the answer before a question, where the world states it."""
        return seat.told(observation)

    @property
    def time(self) -> Time:
        """Seconds from the first arrival, of tasks played alone."""
        calendar = Calendar(_MONDAY, timedelta(seconds=1))
        return Time(calendar=calendar, length=f"{len(self.chosen_items)} questions")

    def begin(self, world: World) -> Desk:
        """Put the items in order and start the analyst's work."""
        return desk.begin(world, self)

    @property
    def kept(self) -> tuple[str, ...]:
        """Facts hidden from the analyst that a redraw keeps."""
        answers = ("right answers of the items",)
        return answers if self.order == "shuffled" else (*answers, "items to come, as given")

    def redraw(self, world: World, state: Desk) -> None:
        """Shuffle the items again that the analyst has not seen."""
        desk.redraw(world, state)

    def score(self, state: Desk) -> float:
        """Return the accuracy, 0 to 1: the mean over tasks, each weighted by its items."""
        return score.score(state)

    def metrics(self, state: Desk) -> dict[str, Any]:
        """Return accuracies and their counts by task, category, capability and bucket."""
        return score.metrics(state)

    @property
    def figures(self) -> Figures:
        """Directions of metrics: accuracies and right answers of all, of each task and so on.

        The score is a mean of shares of right labels. Boards show the answers for which the scorer
        raised an exception.
        """
        items = self.chosen_items
        named = {name for i in items for name in (slug(i.task), slug(i.category), *groups(i))}
        parts = [f"{figure}_{name}" for figure in ("accuracy", "right") for name in named]
        return Figures(
            columns=directed({}, higher=("accuracy", "right", *parts), lower=("raised",)),
            series=score.COLUMNS,
            score_series=ScoreSeries("Right answers so far", ("right",), is_total=True),
            board=("raised",),
            score_range=(0.0, 1.0),
        )

    @property
    def item_groups(self) -> dict[str, tuple[str, ...]]:
        """By item its capability and the bucket of its difficulty."""
        return {one.id: tuple(groups(one)) for one in self.chosen_items}

    def item_results(self, state: Desk) -> dict[str, tuple[float, bool]]:
        """Return by item its part of the score and whether it was answered right."""
        return score.item_results(state)

    def series(self, state: Desk) -> dict[str, Periods]:
        """Return by item whether it was right: 1, 0, or NaN where its scorer failed."""
        return Periods.each(score.series(state), score.ticks(state))

    def tables(self, state: Desk, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the items answered so far, with the outcomes shown to the analyst."""
        return {"answers": state.answers()}

    # -- outside an episode ------------------------------------------------------------------------

    @property
    def public_items(self) -> tuple[Question, ...]:
        """The questions of an episode without their answers, in the order in which they are given.

        An episode with `order="shuffled"` has the same questions in the order of its seed.
        """
        items = self.chosen_items
        return tuple(
            desk.question(self, item, number, len(items)) for number, item in enumerate(items, 1)
        )

    def states_answer(self, text: str) -> bool:
        """Return whether an answer can be extracted from a whole reply."""
        return extract(text) != MARKER

    def grade(self, item_id: str, text: str, *, extracts: bool = True) -> Graded:
        """Grade a reply to an item, as an episode does, for methods that learn from their grades.

        Args:
            item_id: The item, of any split.
            text: A whole reply, from which the answer is extracted, or the answer itself.
            extracts: Whether *text* is a whole reply.

        Raises:
            UsageError: The model has no item of that id.
        """
        item = next((one for one in self.loaded_items if one.id == item_id), None)
        if item is None:
            known = [one.id for one in self.loaded_items[:20]]
            raise UsageError(f"item {short_repr(item_id)} was given; {possible(item_id, known)}")
        return grade(item, text, self.rules, extracts=extracts)
