"""The regret of a game's decisions within a limit of time.

In a short game all decisions are judged. In a long one decisions that are spread over the game are
first compared with one option each in the future that came. Those that cost most there are judged
over redrawn futures, which had no part in choosing them.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from desim.errors import DesimError, UsageError
from desim.records.episode import Episode
from desim.studies.decisions.decision_options import OPTIONS
from desim.studies.decisions.regret import RegretStopped, regret
from desim.studies.decisions.regret_table import DecisionRegret, RegretTable

#: The share of the limit of time that is planned, and the share of that for screening.
_PLANNED, _SCREENING = 0.7, 0.4

#: Futures of each decision, and options of each that are played.
FUTURES, MOST_OPTIONS = 20, 5

#: The options of screening: the future that came, and one option beside the answer.
_CHEAP: Mapping[str, Any] = {"futures": None, "most_options": 2}

#: The episodes that judge a decision over those that screen it.
_RATIO = (FUTURES // 2 * (MOST_OPTIONS - 1) + FUTURES) / 3

#: Decisions of a long game that are judged, and the level at which their intervals hold together.
_MOST_JUDGED, _LEVEL = 8, 0.95

#: Receives how far a search is, in words.
Report = Callable[[str], object]


@frozen
class DecisionSearch:
    """The decisions of a search, and the policies that may play on.

    Attributes:
        episode: The game.
        seats: The person's roles.
        candidates: Policies by role, of all roles: the first that can play on after another's
            decisions does.
        against: "options", or a policy for each of the person's roles.
        trust: Whether the record may name modules and files.
    """

    episode: Episode
    seats: tuple[str, ...]
    candidates: Sequence[Mapping[str, Any]]
    against: Any = OPTIONS
    trust: bool = True

    def regret(self, then: Mapping[str, Any], decisions: slice, **options: Any) -> RegretTable:
        """Return the regret of some decisions; see `desim.regret`."""
        options = {"futures": FUTURES, "most_options": MOST_OPTIONS, "progress": False, **options}
        return regret(
            self.episode,
            then,
            against=self.against,
            decisions=decisions,
            trust=self.trust,
            **options,
        )


@frozen
class Judgement:
    """The result of a search.

    Attributes:
        table: The regret of the decisions that were judged.
        screened: The decisions among which they were chosen; 0 if nothing was chosen.
    """

    table: RegretTable
    screened: int = 0


def judged(search: DecisionSearch, seconds: float, report: Report) -> Judgement:
    """Return the regret of a game's decisions; stopped by SIGINT, that of the ones judged so far.

    Args:
        search: What is judged.
        seconds: The limit of time, which sets how many decisions are judged.
        report: Receives how far the search is.

    Raises:
        DesimError: No candidate can play on.
        KeyboardInterrupt: It was stopped before a decision was judged.
    """
    fault: DesimError = UsageError("no rule of this world can play on after your decisions")
    for then in search.candidates:
        report("Looks for a rule that can play on")
        try:
            return _judged(search, then, _PLANNED * seconds, report)
        except RegretStopped as stop:
            if stop.found is None:
                raise
            return Judgement(stop.found)
        except DesimError as error:
            fault = error
    raise fault


def _judged(
    search: DecisionSearch, then: Mapping[str, Any], seconds: float, report: Report
) -> Judgement:
    count, each = len(search.episode.steps), _seconds(search, then, **_CHEAP)
    # Lanes play many futures at once, so that only the full time tells.
    if _RATIO * each * count > seconds and _seconds(search, then) * count > seconds:
        every = math.ceil(each * count / (_SCREENING * seconds))
        return _screened(search, then, every, report)

    def progress(done: int, total: int) -> None:
        report(f"{done:,} of {total:,} episodes")

    return Judgement(search.regret(then, slice(0, count), progress=progress))


def _screened(
    search: DecisionSearch, then: Mapping[str, Any], every: int, report: Report
) -> Judgement:
    """Judge those of every K-th decision that cost most, with one option, in the true future."""
    count = len(search.episode.steps)

    def progress(done: int, total: int) -> None:
        report(f"Screens decisions: {done:,} of {total:,} episodes")

    coarse = search.regret(then, slice(0, count, every), progress=progress, **_CHEAP)
    mine = [line for line in coarse.ranked if line.place.role in search.seats][:_MOST_JUDGED]
    if not mine:
        raise UsageError("no other option was offered in the decisions that were screened")
    tables: list[RegretTable] = []
    try:
        for number, line in enumerate(mine, 1):
            report(f"Judges decision {number} of {len(mine)}")
            tables.append(_alone(search, then, line, 1 - (1 - _LEVEL) / len(mine)))
    except KeyboardInterrupt:
        if not tables:
            raise
    return Judgement(_joined(tables), len(coarse.lines))


def _alone(
    search: DecisionSearch, then: Mapping[str, Any], line: DecisionRegret, level: float
) -> RegretTable:
    at = line.place.at
    return search.regret(then, slice(at, at + 1), level=level)


def _joined(tables: Sequence[RegretTable]) -> RegretTable:
    """Return one table of decisions that were judged one by one, whose intervals hold together."""
    lines = sorted((line for table in tables for line in table.lines), key=lambda one: one.place.at)
    return evolve(tables[0], lines=tuple(lines), level=_LEVEL)


def _seconds(search: DecisionSearch, then: Mapping[str, Any], **options: Any) -> float:
    """Return the seconds that a decision takes, without those of reading the game.

    The first call loads modules, and raises the error of a rule that cannot play on.
    """
    search.regret(then, slice(0, 1), **_CHEAP)
    start = time.perf_counter()
    search.regret(then, slice(0, 1), **_CHEAP)
    one = time.perf_counter() - start
    search.regret(then, slice(0, 2) if options else slice(1, 2), **options)
    two = time.perf_counter() - start - one
    return max(two - one, one / 20)
