"""The end of a person's game: its place among rules and between floor and bound, its course.

Also the games that follow it: again, with the next seed, or as a branch of it.
"""

import math
import os
import shutil
import threading
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from desim.catalog.known_scores import BEST_KNOWN, KnownScore, KnownScores
from desim.catalog.presets import from_preset
from desim.core.model import Model, model_of
from desim.core.reported import ScoreSeries
from desim.core.result import Series
from desim.core.roles import with_knowledge
from desim.episodes.replay import repeated_whole
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import record_stem
from desim.records.writer import cut
from desim.rows.known_means import known_scores
from desim.show.column import CENTS, Column
from desim.show.labels import estimate_text, label_text, value_text
from desim.show.table import Table
from desim.ui.comparison import BaselineComparison, rank_in
from desim.ui.game import Game

#: Games in a row that get names of their own.
_MOST_GAMES = 10_000


class GameEnd:
    """The facts about a game that has ended; the first after `work` are complete.

    Attributes:
        episode: The game.
        file: Its record.
        seats: The person's roles.
        model: The model.
        comparison: The baselines in place of the person.
        courses: How scores came about.
        course: That of the person, period by period; empty if it is not known.
        place: The place between floor and bound, or why none is known, in one sentence.
    """

    def __init__(self, game: Game) -> None:
        assert game.view.episode is not None
        self.episode, self.file, self.seats = game.view.episode, game.file, game.seats
        self.model, header = game.model, self.episode.header
        self.comparison = BaselineComparison(self.model, header.seed, self.seats, game.others)
        self.courses = ScoreCourses(self.model, self.seats)
        self.course: list[float] = []
        self.place = place_sentence(self.model, header, self.seats, self.episode.score)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Do the work in the background; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.work, daemon=True)
            self._thread.start()

    def work(self) -> None:
        """Read the course of the game, whose decisions are repeated, and play the baselines."""
        with suppress(BadRecord):  # of other code; the rest of the end is shown
            run = repeated_whole(self.model, self.episode)
            self.course = self.courses.of(run.ended_series()[0])
        self.comparison.play()

    @property
    def shown_courses(self) -> dict[str, list[float]]:
        """The courses of the person and of two baselines by name; those without values are not."""
        rules = self.comparison.shown.items()
        others = {f"{name} ({row.policy})": self.courses.of(row.series) for name, row in rules}
        return {name: course for name, course in {"you": self.course, **others}.items() if course}

    @property
    def heading(self) -> str:
        """How the game ended."""
        if self.episode.ended.startswith("horizon"):
            return f"The game has ended after {self.model.time.length or 'its full time'}"
        text = label_text(self.episode.ended)
        return f"The game has ended: {text[:1].lower()}{text[1:]}"

    @property
    def scores(self) -> dict[str, str]:
        """The scores of the person and of two baselines by name."""
        rules = self.comparison.shown.items()
        others = {f"{name} ({row.policy})": value_text(row.score) for name, row in rules}
        return {"your score": value_text(self.episode.score), **others}

    @property
    def rank(self) -> str:
        """The person's rank among the rules that play from observations, in one sentence."""
        scores = [row.score for row in self.comparison.rivals if row.score is not None]
        if not scores:
            return self.comparison.note or "No rule of this world plays from observations alone."
        shared = " (shared)" * (self.episode.score in scores)
        rank = rank_in(scores, self.episode.score)
        return f"Your rank among you and {len(scores):,} rules: {rank}{shared}."


# -- the place between floor and bound -------------------------------------------------------------


def place_sentence(model: Model[Any], header: Header, seats: tuple[str, ...], score: float) -> str:
    """Return the place of a score between the floor and the bound that are known for its seed.

    Args:
        model: The model.
        header: The header of the game.
        seats: The person's roles.
        score: The score of the game.
    """
    scores = _known_scores(model, header.preset)
    if scores is None:
        return "No floor and no bound are known for these parameters."
    if {*header.policies} != {*seats}:
        return "Floor and bound are known only for games in which you play all roles that decide."
    known = scores.of(header.seed)
    if tuple(sorted(seats)) not in scores.roles or known is None:
        return f"No floor and no bound are known for these seats and seed {header.seed}."
    if known.ceiling <= known.floor:
        return "Nothing can be gained here: the floor is the best score."
    return _place(score, known, scores)


def _place(score: float, known: KnownScore, scores: KnownScores) -> str:
    floor = f"floor, {estimate_text(known.floor)} ({scores.floor})"
    top = f"bound, {estimate_text(known.ceiling)} "
    top += f"({'proved' if known.ceiling_kind == 'proved' else 'perhaps out of reach'})"
    if known.ceiling_kind == BEST_KNOWN:
        best = with_knowledge(known.policy, scores.knows.get(known.policy))
        top = f"best known score, {estimate_text(known.ceiling)} ({best})"
    share = (score - known.floor) / (known.ceiling - known.floor)
    if share < 0:
        return f"Your score is below the {floor}; above that lies the {top}."
    if share > 1:
        return f"Your score is above the {top}."
    return f"You went {100 * share:.0f} % of the way from the {floor}, to the {top}."


def _known_scores(model: Model[Any], preset: str) -> KnownScores | None:
    """Return the known scores of a preset if they are those of a model."""
    try:
        named = from_preset(type(model), preset) if preset else None
        # The model of a record has whole numbers as floats, which give another fingerprint.
        return known_scores(named, preset) if named is not None and named == model else None
    except UsageError:  # the data are damaged
        return None


# -- the course of the score -----------------------------------------------------------------------


@frozen
class ScoreCourses:
    """How scores of episodes of one model came about: a value for each period.

    Attributes:
        model: The model.
        seats: The roles whose score is shown.
    """

    model: Model[Any]
    seats: tuple[str, ...]

    @property
    def declared(self) -> ScoreSeries | None:
        """The series of the score, of the model or of the part that has all seats."""
        found, prefix = self.model.figures.score_series, ""
        if found is None:
            inner, name = model_of(self.model, self.seats[0])
            found, prefix = inner.figures.score_series, self.seats[0].removesuffix(name)
        if found is None or not all(seat.startswith(prefix) for seat in self.seats):
            return None
        roles = [seat.removeprefix(prefix) for seat in self.seats]
        names = (name.replace("{role}", role) for name in found.names for role in roles)
        return evolve(found, names=tuple(dict.fromkeys(f"{prefix}{name}" for name in names)))

    @property
    def column(self) -> Column:
        """The unit and the label of the values, and the name of the periods."""
        found = self.declared
        if found is None:
            return Column()
        column = self.model.figures.series.get(found.names[0], Column())
        if column.unit == "cents":
            column = evolve(CENTS, period=column.period)
        return evolve(column, label=found.label)

    def of(self, series: Series) -> list[float]:
        """Return the course of an ended episode; empty if the model declares no such series."""
        found, scale = self.declared, self.column.scale
        lines = [series[name] for name in found.names if name in series] if found else []
        sums = (math.fsum(v for v in each if v == v) for each in zip(*lines, strict=False))  # noqa: PLR0124 (NaN)
        values = [scale * each for each in sums]
        return [*accumulate(values)] if found and found.is_total else values


def course_table(end: GameEnd) -> Table | None:
    """Return the courses at four moments; None if the world declares no series of its score."""
    courses, column = end.shown_courses, end.courses.column
    if not courses or end.courses.declared is None:
        return None
    last = f"{column.period} {len(end.course)}" if end.course else "end"
    lines = ([name, *map(estimate_text, quarters(values))] for name, values in courses.items())
    return Table(["", "1/4 of the time", "1/2", "3/4", last], lines, (0,), column.title(""))


def quarters(values: list[float]) -> list[float]:
    """Return the values after a quarter, half, three quarters and all of the periods.

    >>> quarters([1, 2, 3, 4, 5, 6, 7, 8]), quarters([1])
    ([2, 4, 6, 8], [1, 1, 1, 1])
    """
    return [values[max(0, math.ceil(len(values) * part / 4) - 1)] for part in range(1, 5)]


# -- other games -----------------------------------------------------------------------------------


class Sitting:
    """The games that a person plays in a row; every tab of a page shows the present one.

    Attributes:
        game: The present game.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._end: GameEnd | None = None
        self._lock = threading.Lock()

    @property
    def end(self) -> GameEnd:
        """The facts about the end of the present game, which has ended; gathered once."""
        if self._end is None or self._end.episode is not self.game.view.episode:
            self._end = GameEnd(self.game)
        return self._end

    def again(self, file: Path, seed: int) -> None:
        """Begin another game with the same seats.

        Args:
            file: The record of the game that has ended; another tab may have gone on already.
            seed: The seed of the new game.

        Raises:
            UsageError: No name is left for its record.
        """
        with self._lock:
            if self.game.file == file:
                self._open(next_file(file), seed)

    def branch(self, file: Path, decisions: int) -> None:
        """Begin a game that has the first decisions of the present one, with a record of its own.

        Raises:
            UsageError: The record has fewer decisions, or the new one cannot be written.
        """
        with self._lock:
            if self.game.file == file:
                self._open(branched(file, decisions), self.game.seed)

    def _open(self, file: Path, seed: int) -> None:
        old = self.game
        self.game = old.another(file, seed)
        old.close()

    def close(self) -> None:
        """Close the record of the present game."""
        self.game.close()


def next_file(file: Path) -> Path:
    """Return the name of a record that does not exist yet: `game.jsonl` gives `game-2.jsonl`.

    Raises:
        UsageError: All names are taken.
    """
    name = record_stem(file)
    suffix = file.name.removeprefix(name)
    stem, _, number = name.rpartition("-")
    first = stem if stem and number.isdecimal() else name
    for count in range(2, _MOST_GAMES):
        found = file.with_name(f"{first}-{count}{suffix}")
        if not os.path.lexists(found):
            return found
    raise UsageError(f"{file} has {_MOST_GAMES:,} successors already; choose another --record")


def branched(file: Path, decisions: int) -> Path:
    """Write a new record with the first decisions of a game, and return its name.

    Raises:
        UsageError: The record has fewer decisions, or the new one cannot be written.
    """
    known = len(Episode.read(file, whole=False, keep_steps=False).steps)
    if not 0 <= decisions < known:
        raise UsageError(f"decision {decisions + 1} was given; possible: 1 to {known}")
    new = next_file(file)
    try:
        with file.open("rb") as old, new.open("xb") as copy:
            shutil.copyfileobj(old, copy)
    except OSError as fault:
        raise UsageError(f"cannot write {new}: {fault.strerror}") from None
    cut(new, decisions)
    return new
