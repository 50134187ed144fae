"""The board of all worlds: baselines by their normalised scores, and what 0 and 1 stand for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from desim.core.limits import Limits
from desim.errors import UsageError
from desim.jobs.plan.grid import checked_seeds
from desim.jobs.rows.rows import Rows
from desim.jobs.run.playing import Progress
from desim.show.estimates import HALF, number_cell
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import Interval, interval
from desim.studies.boards.aggregate_scores import AggregateTable, aggregate, normalised
from desim.studies.boards.leaderboard import Board, boards
from desim.studies.boards.score_scale import Above, WorldScale, world_scale

#: The policies of every model, which have a column of their own.
_EVERYWHERE = ("greedy", "random")


@frozen
class NormalisedScore:
    """One policy in one world.

    Attributes:
        policy: Its spec.
        informed: Whether it uses facts that its role cannot observe.
        failed: How many of its episodes failed; each counts 0.
        estimate: The mean of its normalised scores over seeds.
    """

    policy: str
    informed: bool
    failed: int
    estimate: Interval


@frozen
class NormalisedWorld:
    """The baselines of one preset of one world.

    Attributes:
        scale: What 0 and 1 stand for.
        scores: The policies, the highest mean first.
        rows: The rows of the seeds that have a scale.
        above: The policies that score more than is known.
    """

    scale: WorldScale
    scores: tuple[NormalisedScore, ...]
    rows: Rows
    above: Above

    @property
    def name(self) -> str:
        """Model and preset, as `model/preset`."""
        return self.scale.name

    def best(self, *, informed: bool) -> NormalisedScore | None:
        """Return the best policy of those that are informed, or of the others."""
        return next((one for one in self.scores if one.informed is informed), None)

    def of(self, policy: str) -> NormalisedScore | None:
        """Return a policy by its spec; None if it has not played."""
        return next((one for one in self.scores if one.policy == policy), None)

    def summary(self) -> dict[str, Any]:
        """Return what `desim baselines --normalised --json` prints of a preset."""
        model, _, preset = self.name.partition("/")
        return {
            "model": model,
            "preset": preset,
            **self.scale.means.plain(),
            "seeds": len(self.scale.scales),
            "scores": [_plain(one) for one in self.scores],
            "above_bound": self.above.bound,
            "above_best": self.above.best,
        }


@frozen
class NormalisedBoards(Tabular):
    """Baselines by their normalised scores, world by world and over all worlds.

    Attributes:
        worlds: Those that have a scale, in the order in which they were named.
        left_out: By name the reason why another one has none.
        aggregate: The policies that play every world over one preset of each; None for one world.
    """

    worlds: tuple[NormalisedWorld, ...]
    left_out: Mapping[str, str]
    aggregate: AggregateTable | None

    @property
    def failed(self) -> int:
        """The number of failed episodes."""
        return sum(one.failed for world in self.worlds for one in world.scores)

    @property
    def faults(self) -> list[str]:
        """The policies that score more than a bound which no policy can exceed."""
        return [f"{p} in {world.name}" for world in self.worlds for p in world.above.bound]

    def tables(self) -> tuple[Table, ...]:
        """Return what 0 and 1 stand for, the scores, and those over one preset a world."""
        scales = map(_scale_cells, self.worlds)
        heads = (*_SCORE_HEADS, *_EVERYWHERE)
        scores = map(_score_cells, self.worlds)
        return (
            Table(_SCALE_HEADS, scales, _TEXTS, "what 0 and 1 stand for"),
            Table(heads, scores, _NAMES, "normalised scores", self.notes(), self._legend()),
            *self._aggregated(),
        )

    def notes(self) -> list[str]:
        """Return the sentences without which a line could be misread."""
        found = [note for world in self.worlds for note in _world_notes(world)]
        found += [f"FAULT: {text} scores more than the bound" for text in self.faults]
        if self.failed:
            found.append(f"{self.failed} failed episodes count 0")
        return found + [f"left out: {reason}" for reason in self.left_out.values()]

    def _legend(self) -> list[str]:
        kinds = {one.ceiling.kind for world in self.worlds for one in world.scale.means.scores}
        return [*(text for kind, text in _KINDS.items() if kind in kinds), _SCALED, _CHOSEN]

    def _aggregated(self) -> Iterator[Table]:
        if self.aggregate:
            kinds = {world.name: world.scale.means.kind for world in self.worlds}
            named = ", ".join(f"{name} ({kinds[name]})" for name in self.aggregate.worlds)
            for table in self.aggregate.tables():
                yield evolve(table, title=f"over one preset a world: {named}")

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield what `--json` prints: an object for each preset, one for all, one for the rest."""
        for world in self.worlds:
            yield world.summary()
        if self.aggregate:
            yield {"worlds": self.aggregate.worlds, "policies": _aggregate_plain(self.aggregate)}
        if self.left_out:
            yield {"left_out": self.left_out}


def normalised_boards(
    names: Sequence[str],
    seeds: Sequence[int],
    jobs: int,
    progress: Progress = lambda _done, _total: None,
    limits: Limits | None = None,
) -> NormalisedBoards:
    """Play the baselines of worlds whose scores are known, and normalise their scores.

    Args:
        names: Names from `leaderboard.everything`.
        seeds: Shared by all worlds.
        jobs: Worker processes.
        progress: Called with the number of finished episodes and of all episodes.
        limits: The limits of each episode; one that reaches a limit fails, and counts 0.

    Raises:
        UsageError: No world has a scale, one has no baselines, or the seeds are empty or wrong.
    """
    seeds = checked_seeds(seeds)
    scales: dict[str, WorldScale] = {}
    left_out: dict[str, str] = {}
    for name in names:
        try:
            scales[name] = world_scale(name, seeds)
        except UsageError as fault:
            left_out[name] = str(fault)
    if not scales:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise UsageError(f"no world has a scale: {reasons}")
    worlds = tuple(
        _world(scales[board.name], board)
        for board in boards(list(scales), seeds, jobs, progress, limits)
    )
    return NormalisedBoards(worlds, left_out, _aggregate(worlds))


def _world(scale: WorldScale, board: Board) -> NormalisedWorld:
    rows = scale.scaled(board.rows)
    informed = {one.spec for one in board.entrants if one.informed}
    failed = rows.failed.column("policy")
    found = [
        NormalisedScore(
            policy,
            policy in informed,
            failed.count(policy),
            interval(list(by_world[scale.name].values())),
        )
        for policy, by_world in normalised({scale.name: rows}, {scale.name: scale.scales}).items()
    ]
    found.sort(key=lambda one: -one.estimate.mean)
    return NormalisedWorld(scale, tuple(found), rows, scale.above(board.rows))


def _aggregate(worlds: Sequence[NormalisedWorld]) -> AggregateTable | None:
    """Compare the policies of every model, over the first preset of each model.

    Presets of one model are too much alike to count as worlds of their own.
    """
    first: dict[str, NormalisedWorld] = {}
    for world in worlds:
        if all(map(world.of, _EVERYWHERE)):
            first.setdefault(world.name.partition("/")[0], world)
    if len(first) < 2:  # noqa: PLR2004 (several)
        return None
    rows = {
        world.name: Rows(row for row in world.rows if row["policy"] in _EVERYWHERE)
        for world in first.values()
    }
    scales = {world.name: world.scale.scales for world in first.values()}
    return aggregate(rows, scales, _EVERYWHERE[-1])


# -- texts -----------------------------------------------------------------------------------------

_SCALE_HEADS = ("world", "floor of", "floor", "best known of", "best known", "bound", "1 is")

#: The columns of text of the two tables.
_TEXTS, _NAMES = (0, 1, 3, 6), (0, 1, 2, 6)

_SCORE_HEADS = ("world", "1 is", "best policy", "n", "score", HALF, "best informed", "score")

#: The note on each kind of score that counts 1.
_KINDS = {
    "proved": "proved: no policy can score more than 1.",
    "relaxation": "relaxation: no policy can score more than 1, and perhaps none comes near.",
    "best known": (
        "best known: 1 is only the best run so far. No bound is known: 1.00 does not mean that "
        "nothing better exists, and such columns cannot be compared with those of a bound."
    ),
}


#: The note on all worlds.
_SCALED = (
    "means over seeds, each with its own scale; a score below the floor counts 0. Where the floor "
    "is random, it is the mean over seeds, so random itself has more than 0."
)
_CHOSEN = (
    "best policy: the best of the baselines on these seeds, without the informed, which use facts "
    f"that their role cannot observe. {HALF}: half the confidence interval."
)


def _world_notes(world: NormalisedWorld) -> Iterator[str]:
    if missing := len(world.scale.seeds) - len(world.scale.scales):
        yield f"{world.name}: without {missing} seeds on which nothing can be gained"
    if names := ", ".join(world.above.best):
        yield f"{world.name}: {names} scores more than the best known; enter it in the record book"


def _scale_cells(world: NormalisedWorld) -> list[Any]:
    means = world.scale.means
    floor, best, bound = map(number_cell, (means.floor, means.best, means.bound))
    return [world.name, means.known.floor, floor, means.policies, best, bound, means.kind]


def _score_cells(world: NormalisedWorld) -> list[Any]:
    best, informed = world.best(informed=False), world.best(informed=True)
    return [
        world.name,
        world.scale.means.kind,
        *((best.policy, best.estimate.n, *_cells(best)) if best else [None] * 4),
        *((informed.policy, _cells(informed)[0]) if informed else [None] * 2),
        *(_cells(one)[0] if (one := world.of(name)) else None for name in _EVERYWHERE),
    ]


def _cells(one: NormalisedScore) -> list[Printed | None]:
    """Return the mean and half the width of its interval."""
    mean, half = one.estimate.mean, one.estimate.half
    return [Printed(mean, f"{mean:.2f}"), Printed(half, f"{half:.2f}") if half else None]


def _plain(one: NormalisedScore) -> dict[str, Any]:
    estimate = one.estimate
    return {
        "policy": one.policy,
        "informed": one.informed,
        "n": estimate.n,
        "failed": one.failed,
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
    }


def _aggregate_plain(table: AggregateTable) -> list[dict[str, Any]]:
    return [
        {
            "policy": line.policy,
            "n": line.episodes,
            "failed": line.failed,
            "interquartile_mean": line.middle.value,
            "low": line.middle.low,
            "high": line.middle.high,
        }
        for line in table.lines
    ]
