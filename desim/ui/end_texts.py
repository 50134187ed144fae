"""Tables and sentences about the end of a person's game, for the page and the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from desim.short_repr import shortened
from desim.show.labels import NOTHING, estimate_text, value_text
from desim.show.table import Table
from desim.studies.decisions.regret_table import DecisionRegret
from desim.ui.ending.dearest import DearestDecisions
from desim.ui.ending.score_place import ScorePlace
from desim.ui.ending.trails import quarters
from desim.ui.game_end import GameEnd
from desim.ui.layout import action_text, time_figure

#: Characters of an answer in the table of decisions.
_ANSWER = 90

_PERCENT = 100


@frozen
class DearDecision:
    """A line of the table of the dearest decisions.

    Attributes:
        at: How many decisions precede it.
        when: Its time as the role knows it, or its number.
        answer: What the person answered.
        better: What would have been better.
        gain: By how much, in the score.
        interval: The interval of the gain in words.
    """

    at: int
    when: str
    answer: str
    better: str
    gain: str
    interval: str


def dear_decisions(end: GameEnd) -> list[DearDecision]:
    """Return the dearest decisions that were found so far, the dearest first."""
    return [_dear_decision(end, line) for line in (end.dearest.dearest if end.dearest else ())]


def _dear_decision(end: GameEnd, line: DecisionRegret) -> DearDecision:
    step = end.episode.steps[line.place.at]
    role = end.model.roles[step.role]
    time = time_figure(step.observation, role.observation)
    when = f"Decision {line.place.at + 1:,}"
    if time is not None:
        when = time.text if time.label == "Time" else f"{time.label} {time.text}"
    answer, better = (
        shortened(action_text(one, role.action), _ANSWER) for one in (line.recorded, line.best)
    )
    assert line.found is not None
    gain = estimate_text(line.cost, line.found.paired.half)
    return DearDecision(line.place.at, when, answer, better, gain, _interval_text(line))


def _interval_text(line: DecisionRegret) -> str:
    assert line.found is not None
    paired = line.found.paired
    if line.same:
        return "the same in every future"
    if paired.low is None or paired.high is None:
        return "in the future that came"
    half = (paired.high - paired.low) / 2
    low, high = (estimate_text(value, half) for value in (paired.low, paired.high))
    return f"{low} to {high}" + ("" if line.costs else "; may be chance")


def dear_notes(end: GameEnd) -> list[str]:
    """Return what a reader of the dearest decisions must know: how they were judged."""
    search = end.dearest
    if search is None or search.found is None:
        return [search.problem] if search and search.problem else []
    table, count = search.found.table, search.found.screened
    judged = sum(line.place.role in end.seats for line in table.lines)
    of = f"{judged:,} of {len(end.episode.steps):,} decisions were"
    if count:
        of = f"Of the decisions, {count:,} were screened in the future that came, and {judged:,}"
    how = (
        f"{of} judged: in expectation over {table.futures} redrawn futures, after which "
        f"{table.then} plays on; intervals hold together at {_PERCENT * table.level:g} %. The "
        "gains do not add up."
    )
    none = "No other option was better than your answer in any of them."
    return [how] if search.dearest else [how, none]


def search_text(search: DearestDecisions | None) -> str:
    """Return how far the search for the dearest decisions is; empty once it has ended."""
    if search is None:
        return "Begins when the baselines have played"
    return "" if search.done else search.progress


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
    text = f"Your rank among you and {len(rivals):,} rules: {rank}{' (shared)' * equal}."
    return f"{text} {SEED_KNOWN}" if end.knew_the_seed else text


#: Said of a game whose seed was played before.
SEED_KNOWN = "You had played this seed before, so you knew what would come; the rules did not."


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
