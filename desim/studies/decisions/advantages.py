"""`advantages`: how much better each decision of a record was than a policy's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from desim.episodes.lineup import Policies
from desim.records.episode import Episode
from desim.show.estimates import estimate_cells, interval_head
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import Interval
from desim.studies.decisions.branch_table import Place, action_text, plain_difference
from desim.studies.decisions.regret import regret
from desim.studies.decisions.regret_table import DecisionRegret, RegretTable


@frozen
class DecisionAdvantage:
    """The advantage of a decision.

    Attributes:
        place: Where the decision is.
        recorded: The recorded action as its tagged object.
        baseline: The policy's action; None if it is the recorded one.
        paired: The mean over the futures of the score with the recorded action less that with the
            policy's, with its interval; None if the actions are the same.
    """

    place: Place
    recorded: Mapping[str, Any]
    baseline: Mapping[str, Any] | None
    paired: Interval | None

    @classmethod
    def of(cls, line: DecisionRegret) -> "DecisionAdvantage":
        """Return the advantage of a decision that `regret` compared with a policy."""
        paired = _negative(line.found.paired) if line.found else None
        return cls(line.place, line.recorded, line.best, paired)

    @property
    def mean(self) -> float:
        """The estimate; 0 where the policy takes the same action."""
        return self.paired.mean if self.paired else 0.0


@frozen(repr=False)
class AdvantageTable(Tabular):
    """The advantages of the decisions of a record, in the order of the episode.

    Attributes:
        lines: One for each decision of the roles.
        found: The comparison with the policy's actions.
    """

    lines: tuple[DecisionAdvantage, ...]
    found: RegretTable

    def tables(self) -> tuple[Table]:
        """Return the table of all decisions."""
        heads = ["at", "when", "role", "recorded", self.found.then, "n", "advantage"]
        rows = [_cells(line) for line in self.lines]
        meaning = (
            "advantage: mean score with the recorded action, less that with the action of "
            f"{self.found.then}, which plays on after either"
        )
        notes = [meaning, *self.found.notes]
        return (Table([*heads, interval_head(self.found.level)], rows, range(5), notes=notes),)

    def plain(self) -> dict[str, Any]:
        """Return the table as one plain object."""
        return {"then": self.found.then, "futures": self.found.futures, **self.columns()}

    def columns(self, decisions: int = 0) -> dict[str, list[float | None]]:
        """Return `advantage`, `advantage_low` and `advantage_high`, with a value for each decision.

        Args:
            decisions: The number of all decisions of the record, of which those that were not
                judged have None; 0 for the judged ones alone.
        """
        by_number = {line.place.at: list(_estimates(line)) for line in self.lines}
        numbers = range(decisions) if decisions else by_number
        rows = [by_number.get(number, [None, None, None]) for number in numbers]
        names = ("advantage", "advantage_low", "advantage_high")
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def advantages(
    record: str | Path | Episode, then: Policies, *, role: str = "", **options: Any
) -> AdvantageTable:
    """Estimate the advantage of each recorded decision over a policy's, over redrawn futures.

    The advantage of a decision is the expected score with the recorded action less that with the
    policy's action in the same state, where *then* plays on after both. All futures estimate and
    none chooses, so the estimate has no bias; a decision in which the policy acts the same has 0.

    Args:
        record: A record, whole or cut, or an episode.
        then: The policy; one for every role, or by role.
        role: The role whose decisions are judged; empty for all.
        options: `futures` (default 30), `decisions`, `kinds`, `level`, `jobs`, `out` and the other
            arguments of `regret`, other than `against` and `most_options`.

    Raises:
        BadRecord: The record cannot be read or does not replay.
        UsageError: The role or a decision does not exist, or the policy cannot play branches.
        PolicyFailed: The policy failed.
    """
    against = {role: then[role]} if role and isinstance(then, Mapping) else then
    found = regret(record, then=then, against=against, role=role, **options)
    return AdvantageTable(tuple(map(DecisionAdvantage.of, found.lines)), found)


def _negative(paired: Interval) -> Interval:
    """Return the interval of the opposite difference."""
    low, high = paired.low, paired.high
    return Interval(
        mean=0.0 - paired.mean,  # never -0.0
        low=None if high is None else 0.0 - high,
        high=None if low is None else 0.0 - low,
        sd=paired.sd,
        n=paired.n,
        level=paired.level,
    )


def _estimates(line: DecisionAdvantage) -> Iterator[float | None]:
    if line.paired is None:
        yield from (0.0, 0.0, 0.0)
    else:
        yield from plain_difference(line.paired).values()


def _cells(line: DecisionAdvantage) -> list[Any]:
    place, paired = line.place, line.paired
    return [
        Printed(place.at, str(place.at)),
        place.when,
        place.role,
        action_text(line.recorded),
        action_text(line.baseline) if line.baseline else None,
        paired.n if paired else None,
        *estimate_cells(paired, sd=False),
    ]
