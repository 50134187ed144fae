"""Tables and sentences about the end of a person's game, for the page and the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from desim.show.labels import NOTHING, estimate_text, label_text, value_text
from desim.show.table import Table
from desim.ui.ending.score_place import ScorePlace
from desim.ui.ending.trails import quarters
from desim.ui.game_end import GameEnd


def course_table(end: GameEnd) -> Table | None:
    """Return the courses at four moments; None if the world declares no series of its score."""
    courses = [(name, trail) for name, trail in end.courses() if trail.values]
    if not end.reader.title or not courses:
        return None
    column = end.reader.column
    heads = ["", *_moments(len(end.trail.values), column.period)]
    lines = [
        [name, *(course_text(value) for value in quarters(trail.values))] for name, trail in courses
    ]
    return Table(heads, lines, (0,), end.reader.title)


def ended_text(end: GameEnd) -> str:
    """Return how the game ended, as a heading."""
    reason = end.episode.ended
    reason = "all of its time has passed" if reason.startswith("horizon") else label_text(reason)
    return f"The game has ended: {reason[:1].lower()}{reason[1:]}"


def course_text(value: float | None) -> str:
    """Return a value of a course, in the unit of its column."""
    return NOTHING if value is None else estimate_text(value)


def _moments(count: int, period: str) -> Iterator[str]:
    """Yield the heads of the four moments: "1/4", ..., and the last period."""
    yield from ("1/4 of the time", "1/2", "3/4")
    yield f"{period} {count}" if count else "end"


def place_lines(end: GameEnd) -> Iterator[tuple[str, str]]:
    """Yield the points on the scale of the place, from the floor up: a name and a value."""
    place = end.place
    if not isinstance(place, ScorePlace):
        return
    best, median = end.comparison.best, end.comparison.median
    points: list[tuple[float, str]] = [
        (place.known.floor, f"floor: {place.floor_policy}"),
        (place.score, "you"),
        (place.ceiling, place.ceiling_label.partition(",")[0]),
    ]
    if end.comparison.done:
        points += [(row.score or 0.0, name) for name, row in _rules(best, median)]
    for score, name in sorted(points, key=lambda point: point[0]):
        yield name, estimate_text(score)


def _rules(best: Any, median: Any) -> Iterator[tuple[str, Any]]:
    if median is not None and median is not best:
        yield "median rule", median
    if best is not None:
        yield "best rule", best


def rank_sentence(end: GameEnd) -> str:
    """Return the person's rank among the rules that play from observations."""
    rivals = end.comparison.rivals
    if not rivals:
        return end.comparison.note or "No rule of this world plays from observations alone."
    score = end.episode.score
    rank = 1 + sum((row.score or 0.0) > score for row in rivals)
    equal = any(row.score == score for row in rivals)
    return f"Your rank among you and {len(rivals):,} rules: {rank}{' (shared)' * equal}."


def head_facts(end: GameEnd) -> Mapping[str, str]:
    """Return score, best rule and median rule by name."""
    best, median = end.comparison.best, end.comparison.median
    facts = {"your score": value_text(end.episode.score)}
    if end.comparison.done:
        facts |= {
            f"{name} ({row.policy})": value_text(row.score)
            for name, row in reversed([*_rules(best, median)])
        }
    return facts
