"""The board of all worlds: baselines by their normalised scores, and what 0 and 1 stand for."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import asdict, evolve, field, frozen

from desim.catalog import model_finder
from desim.catalog.known_scores import BEST_KNOWN
from desim.core.limits import Limits
from desim.core.roles import Knowledge, knowledge_legend, with_knowledge
from desim.engine.grid import checked_seeds
from desim.engine.plan import Row
from desim.errors import UsageError
from desim.rows.known_means import preset_warning
from desim.rows.rows import Rows
from desim.rows.samples import score_sample
from desim.show.estimates import EXACT, HALF, number_cell
from desim.show.progress import ProgressOption
from desim.show.table import Printed, Table, Tabular
from desim.statistics.normalised import Normalised, OverWorlds, over_worlds
from desim.studies.boards.leaderboard import Board, boards
from desim.studies.boards.score_scale import Above, WorldScale, world_scale

#: The level of the intervals of means.
_LEVEL = 0.95

#: The policies of every model, which have a column of their own.
_EVERYWHERE = ("greedy", "random")


@frozen
class NormalisedScore:
    """One policy in one world.

    Attributes:
        policy: Its spec.
        knows: What it knows.
        failed: How many of its episodes failed; each counts with the worst score of the model.
        mean: Its mean score; None if episodes failed and the model declares no worst score.
        score: Its mean score above the floor as a share of the room above it; None without a mean.
    """

    policy: str
    knows: Knowledge
    failed: int
    mean: float | None
    score: Normalised | None

    @property
    def z(self) -> float:
        """The score for sorting; without one it is the lowest."""
        return self.score.z if self.score else -math.inf


@frozen
class NormalisedWorld:
    """The baselines of one preset of one world.

    Attributes:
        scale: What 0 and 1 stand for.
        scores: The policies, the highest score first.
        above: The policies that score more than is known.
        rows: Their episodes.
    """

    scale: WorldScale
    scores: tuple[NormalisedScore, ...]
    above: Above
    rows: Rows = field(repr=False)

    @property
    def name(self) -> str:
        """Model and preset, as `model/preset`."""
        return self.scale.name

    def best(self, *, observes: bool) -> NormalisedScore | None:
        """Return the best policy of those that know observations alone, or of the others."""
        own = (one for one in self.scores if (one.knows == "observation") is observes)
        return next(own, None)

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
            "seeds": len(self.scale.seeds),
            "scores": [_plain(one) for one in self.scores],
            "above_bound": self.above.bound,
            "above_best": self.above.best,
        }


@frozen
class PolicyOverWorlds:
    """One policy over one preset of each model.

    Attributes:
        policy: Its spec.
        mean: Each world counts the same; None if one has a single seed.
        worst: The world with the lowest score.
        worst_score: The score there.
    """

    policy: str
    mean: OverWorlds | None
    worst: str
    worst_score: float


@frozen(repr=False)
class NormalisedBoards(Tabular):
    """Baselines by their normalised scores, world by world and over all worlds.

    Attributes:
        worlds: Those that have a scale, in the order in which they were named.
        left_out: By name the reason why another one has none.
        over: The policies that play every world, over `first`; empty for one world.
        first: The first preset of each model.
    """

    worlds: tuple[NormalisedWorld, ...]
    left_out: Mapping[str, str]
    over: tuple[PolicyOverWorlds, ...]
    first: tuple[str, ...]

    @property
    def rows(self) -> list[Row]:
        """The episodes of all worlds."""
        return [row for world in self.worlds for row in world.rows]

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
            *self._over_worlds(),
        )

    def notes(self) -> list[str]:
        """Return the sentences without which a line could be misread."""
        faults = [f"FAULT: {text} scores more than the bound" for text in self.faults]
        failed = [
            f"{world.name}: {one.policy} has failed, which proves nothing of its mean: no score"
            for world in self.worlds
            for one in world.scores
            if one.score is None
        ]
        others = [note for world in self.worlds for note in _world_notes(world)]
        left_out = [f"left out: {reason}" for reason in self.left_out.values()]
        return [*faults, *("; ".join(each) for each in (failed, others, left_out) if each)]

    def _legend(self) -> list[str]:
        kinds = {one.ceiling.kind for world in self.worlds for one in world.scale.means.scores}
        rest = (world.best(observes=False) for world in self.worlds)
        levels = knowledge_legend(one.knows for one in rest if one)
        named = (text for kind, text in _KINDS.items() if kind in kinds)
        return [*named, _SCALED, _CHOSEN, *levels]

    def _over_worlds(self) -> Iterator[Table]:
        if self.over:
            kinds = {world.name: world.scale.means.kind for world in self.worlds}
            named = ", ".join(f"{name} ({kinds[name]})" for name in self.first)
            title = f"over one preset a world: {named}"
            yield Table(_OVER_HEADS, map(_over_cells, self.over), (0, 3), title, (_ONE_RULES,))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield what `--json` prints: an object for each preset, one for all, one for the rest."""
        for world in self.worlds:
            yield world.summary()
        if self.over:
            yield {"worlds": self.first, "policies": [asdict(one) for one in self.over]}
        if self.left_out:
            yield {"left_out": self.left_out}


def normalised_boards(
    names: Sequence[str],
    seeds: Sequence[int],
    jobs: int,
    progress: ProgressOption = None,
    limits: Limits | None = None,
    knows: Knowledge = "future",
) -> NormalisedBoards:
    """Play the baselines of worlds whose scores are known, and normalise their scores.

    Args:
        names: Names from `leaderboard.everything`.
        seeds: Shared by all worlds.
        jobs: Worker processes.
        progress: As for `sweep`.
        limits: The limits of each episode; one that reaches a limit fails.
        knows: The most that a policy may know; those that know more do not play.

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
        for board in boards(list(scales), seeds, jobs, progress, limits, knows=knows)
    )
    first: dict[str, NormalisedWorld] = {}
    for world in worlds:
        # Presets of one model are too much alike to count as worlds of their own.
        if all((one := world.of(policy)) and one.score for policy in _EVERYWHERE):
            first.setdefault(world.name.partition("/")[0], world)
    over = map(partial(_over, [*first.values()]), _EVERYWHERE) if len(first) > 1 else ()
    return NormalisedBoards(worlds, left_out, tuple(over), tuple(w.name for w in first.values()))


def _world(scale: WorldScale, board: Board) -> NormalisedWorld:
    entrants = {one.spec: one for one in board.entrants}
    found = []
    for (policy,), rows in board.rows.groups("policy").items():
        sample, entrant = score_sample(rows), entrants[policy]
        score = scale.normalised(sample) if sample.values else None
        if score and score.n == 1 and entrant.fixed:
            score = evolve(score, se=0.0, low=score.z, high=score.z)  # one seed stands for all
        mean = estimate.mean if (estimate := sample.estimate(_LEVEL)) else None
        found.append(NormalisedScore(policy, entrant.knows, len(rows.failed), mean, score))
    found.sort(key=lambda one: -one.z)
    return NormalisedWorld(scale, tuple(found), scale.above(board.rows), board.rows)


def _over(worlds: Sequence[NormalisedWorld], policy: str) -> PolicyOverWorlds:
    found = {world.name: one.score for world in worlds if (one := world.of(policy)) and one.score}
    worst = min(found, key=lambda name: found[name].z)
    return PolicyOverWorlds(policy, over_worlds([*found.values()]), worst, found[worst].z)


# -- texts -----------------------------------------------------------------------------------------

_SCALE_HEADS = ("world", "floor of", "floor", "best known of", "best known", "bound", "1 is")

#: The columns of text of the two tables.
_TEXTS, _NAMES = (0, 1, 3, 6), (0, 1, 2, 6)

_SCORE_HEADS = ("world", "1 is", "best policy", "n", "score", HALF, "best of the rest", "score")

#: The note on each kind of score that counts 1.
_KINDS = {
    "proved": "proved: no policy can score more than 1.",
    "relaxation": "relaxation: no policy can score more than 1, and perhaps none comes near.",
    "best known": (
        "best known: 1 is only the best run so far. No bound is known: 1.00 does not mean that "
        "nothing better exists, and such columns cannot be compared with those of a bound."
    ),
}


_OVER_HEADS = ("policy", "mean", "95 % interval", "worst world", "score")
_ONE_RULES = "one world with scores far below 0 rules the mean; read the worst world with it"

#: The note on all worlds.
_SCALED = (
    "score: the mean score above the floor as a share of the mean room above it; below 0 it is "
    "worse than the floor. n: independent seeds, cases or items."
)
_CHOSEN = (
    "best policy: the best of the baselines on these seeds that know what their role observes, "
    f"compared with the best of the rest. {HALF}: half the confidence interval."
)


def _world_notes(world: NormalisedWorld) -> Iterator[str]:
    if names := ", ".join(world.above.best):
        yield f"{world.name}: {names} scores more than the best known"
    model, _, preset = world.name.partition("/")
    if BEST_KNOWN in world.scale.means.kind:  # where a bound counts as 1, it misleads nobody
        for warning in preset_warning(model_finder.model_class(model), preset):
            yield f"{model}/{warning}"


def _scale_cells(world: NormalisedWorld) -> list[Any]:
    means = world.scale.means
    floor, best, bound = map(number_cell, (means.floor, means.best, means.bound))
    return [world.name, means.known.floor, floor, means.policies, best, bound, means.kind]


def _score_cells(world: NormalisedWorld) -> list[Any]:
    best, rest = world.best(observes=True), world.best(observes=False)
    return [
        world.name,
        world.scale.means.kind,
        *((best.policy, best.score and best.score.n, *_cells(best)) if best else [None] * 4),
        *((with_knowledge(rest.policy, rest.knows), _cells(rest)[0]) if rest else [None] * 2),
        *(_cells(one)[0] if (one := world.of(name)) else None for name in _EVERYWHERE),
    ]


def _cells(one: NormalisedScore) -> list[Printed | None]:
    """Return the score and half the width of its interval."""
    if one.score is None:
        return [None, None]
    half = None if one.score.high is None else one.score.high - one.score.z
    if half == 0:
        return [_two_digits(one.score.z), Printed(half, EXACT)]
    return [_two_digits(one.score.z), None if half is None else _two_digits(half)]


def _two_digits(value: float) -> Printed:
    return Printed(value, f"{value:z,.2f}")


def _over_cells(one: PolicyOverWorlds) -> list[Any]:
    mean = one.mean
    ends = Printed((mean.low, mean.high), f"[{mean.low:.2f}, {mean.high:.2f}]") if mean else None
    figure = _two_digits(mean.mean) if mean else None
    return [one.policy, figure, ends, one.worst, _two_digits(one.worst_score)]


def _plain(one: NormalisedScore) -> dict[str, Any]:
    score = one.score
    return {
        "policy": one.policy,
        "knows": one.knows,
        "n": score.n if score else None,
        "failed": one.failed,
        "score": score.z if score else None,
        "low": score.low if score else None,
        "high": score.high if score else None,
    }
