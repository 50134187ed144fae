"""The table of `regret`: what each decision cost, the most expensive first."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import asdict, frozen

from desim.show.estimates import estimate_cells, interval_head
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import Interval
from desim.studies.branches import Place, action_text
from desim.studies.options import OPTIONS


@frozen
class DecisionRegret:
    """The regret of a decision: how much better another action would have been.

    Attributes:
        recorded: The recorded action as its tagged object.
        played: How many other actions were played.
        left_out: How many options were not played, as there were too many.
        best: The best other action; None if no other was played.
        found: Its scores less those of the recorded action, on futures that did not choose it;
            above 0 the recorded action was the worse one.
        recorded_mean: The mean score of the recorded action on these futures.
    """

    place: Place
    recorded: Mapping[str, Any]
    played: int
    left_out: int = 0
    best: Mapping[str, Any] | None = None
    found: Interval | None = None
    recorded_mean: float | None = None

    @property
    def cost(self) -> float:
        """The estimated difference; 0 without another action."""
        return self.found.mean if self.found else 0.0

    @property
    def costs(self) -> bool:
        """Whether the whole interval of the difference is above 0."""
        low = self.found.low if self.found else None
        return low is not None and low > 0

    def plain(self) -> dict[str, Any]:
        """Return the line for JSON."""
        found = self.found
        return {
            **asdict(self.place),
            "recorded": self.recorded,
            "best": self.best,
            "played": self.played,
            "left_out": self.left_out,
            "n": found.n if found else 0,
            "recorded_mean": self.recorded_mean,
            "difference": found.mean if found else None,
            "low": found.low if found else None,
            "high": found.high if found else None,
            "costs": self.costs,
        }


@frozen(repr=False)
class RegretTable(Tabular):
    """The costs of the decisions of a record; `print` shows the highest.

    Attributes:
        lines: One for each decision that was judged, in the order of the episode.
        then: Who played on.
        against: What the decisions were compared with: "options", an action as JSON, or policies.
        futures: How many were drawn; None if the true one was taken.
        level: At which the intervals hold together.
        notes: What a reader must know of the futures.
    """

    lines: tuple[DecisionRegret, ...]
    then: str
    against: str
    futures: int | None
    level: float
    model: str
    seed: int
    notes: tuple[str, ...]
    top: int = 10

    @property
    def ranked(self) -> list[DecisionRegret]:
        """The decisions that had another action, the largest difference first."""
        compared = [line for line in self.lines if line.found]
        return sorted(compared, key=lambda line: (-line.cost, line.place.at))

    @property
    def costly(self) -> list[DecisionRegret]:
        """The decisions whose whole interval is above 0, in the order of the episode."""
        return [line for line in self.lines if line.costs]

    def tables(self) -> tuple[Table]:
        """Return the table of the most expensive decisions."""
        roles = len({line.place.role for line in self.lines}) > 1
        other = "best other option" if self.against == OPTIONS else self.against
        heads = ["at", "when", *(["role"] if roles else []), "recorded", other, "n"]
        heads += ["difference", interval_head(self.level), ""]
        rows = [_cells(line, roles=roles) for line in self.ranked[: self.top]]
        notes = [self._counts(), *self.notes]
        return (Table(heads, rows, range(4 + roles), notes=notes, legend=self._legend()),)

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints: one plain object with all decisions in their order."""
        return {
            "model": self.model,
            "seed": self.seed,
            "then": self.then,
            "against": self.against,
            "futures": self.futures,
            "level": self.level,
            "notes": [*self.notes, *self._legend()],
            "decisions": [line.plain() for line in self.lines],
        }

    def _counts(self) -> str:
        """Return how many decisions are shown, and how many of them cost."""
        compared = len(self.ranked)
        shown = f"{min(self.top, compared)} of {len(self.lines)} decisions, the dearest first"
        if same := len(self.lines) - compared:
            had = "had no other option" if self.against == OPTIONS else "were the same action"
            shown += f"; {same} {had}"
        if self.futures is not None and self.futures > 1:
            costly = f"{len(self.costly)} of {compared}"
            shown += f"; * marks an interval above 0: {costly}, and all hold together (Bonferroni)"
        return shown

    def _legend(self) -> Iterator[str]:
        """Yield what the differences are, and how they were estimated."""
        is_of_options = self.against == OPTIONS
        of_policy = "that of " * (not self.against.startswith("{"))
        other = "the best other option" if is_of_options else f"{of_policy}{self.against}"
        yield (
            f"difference: mean score with {other}, less that with the recorded action; "
            f"{self.then} plays on after either, so the differences do not add up to a loss"
        )
        if self.futures and is_of_options and any(line.played > 1 for line in self.lines):
            yield (
                "half of the futures choose the best of several options and the others estimate "
                "the difference, as the largest of several means is too large where it was chosen"
                "; a single future does both"
            )
        if cut := [line.left_out for line in self.lines if line.left_out]:
            yield (
                f"{len(cut)} decisions had up to {max(cut)} more options than were played: the one "
                "of the highest value and a random sample of the others were"
            )


def _cells(line: DecisionRegret, *, roles: bool) -> list[Any]:
    place = line.place
    return [
        Printed(place.at, str(place.at)),
        place.when,
        *([place.role] if roles else []),
        action_text(line.recorded),
        action_text(line.best) if line.best else None,
        line.found.n if line.found else None,
        *estimate_cells(line.found, sd=False),
        "*" if line.costs else "",
    ]
