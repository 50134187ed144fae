"""Baselines on one scale for all worlds: 0 is a floor, 1 a bound or the best known score.

The overview prints the default preset of every world in one line.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, field, frozen

from desim.catalog import model_finder
from desim.catalog.known_scores import BEST_KNOWN
from desim.core.limits import Limits
from desim.core.roles import Knowledge, knowledge_legend, with_knowledge
from desim.engine.grid import checked_seeds
from desim.engine.plan import Row
from desim.errors import UsageError
from desim.rows.known_means import KnownMeans, known_scores, preset_warning
from desim.rows.rows import Rows
from desim.rows.samples import Sample, score_sample
from desim.show.estimates import EXACT, HALF, number_cell
from desim.show.labels import short_number_text, words_text
from desim.show.progress import ProgressOption
from desim.show.table import Printed, Table, Tabular
from desim.statistics.normalised import Normalised, normalised
from desim.studies.boards.baselines import Board, boards, everything

#: The level of the intervals of means.
_LEVEL = 0.95

#: Relative amount by which a score may exceed a bound: both are sums of rounded numbers.
_ROUNDING = 1e-9

#: Seeds that an error text lists.
_LISTED = 5

#: The policies of every model, which have a column of their own.
_EVERYWHERE = ("greedy", "random")

_SCALE_HEADS = ("world", "floor of", "floor", "best known of", "best known", "bound", "1 is")
_SCORE_HEADS = ("world", "1 is", "best policy", "n", "score", HALF, "best of the rest", "score")

#: The columns of text of the two tables.
_TEXTS, _NAMES = (0, 1, 3, 6), (0, 1, 2, 6)

#: The note on each kind of score that counts 1.
_KINDS = {
    "proved": "proved: no policy can score more than 1.",
    "relaxation": "relaxation: no policy can score more than 1, and perhaps none comes near.",
    "best known": (
        "best known: 1 is only the best run so far. No bound is known: 1.00 does not mean that "
        "nothing better exists, and such columns cannot be compared with those of a bound."
    ),
}
_SCALED = (
    "score: the mean score above the floor as a share of the mean room above it; below 0 it is "
    "worse than the floor. n: independent seeds, cases or items."
)
_CHOSEN = (
    "best policy: the best of the baselines on these seeds that know what their role observes, "
    f"compared with the best of the rest. {HALF}: half the confidence interval."
)


# -- scales ----------------------------------------------------------------------------------------


def world_scale(name: str, seeds: Sequence[int]) -> KnownMeans:
    """Return the floor, the best known score and the bound of a world on some seeds.

    Args:
        name: `model/preset`; a model that a function returns has no known scores.
        seeds: The seeds to be played.

    Raises:
        UsageError: The world does not exist, its scores or those of a seed are unknown, its data
            are damaged or of other parameters, or no policy can gain anything.
    """
    preset = name.partition("/")[2]
    known = known_scores(model_finder.model(name), preset) if preset else None
    if known is None:
        raise UsageError(f"nothing is known of the scores of {name}")
    unknown = [seed for seed in seeds if known.of(seed) is None]
    if unknown:
        more, span = " and more" * (len(unknown) > _LISTED), sorted(map(int, known.scores))
        raise UsageError(
            f"nothing is known of {name} with seed "
            f"{', '.join(map(str, unknown[:_LISTED]))}{more}; known are {len(span)} seeds from "
            f"{span[0]} to {span[-1]}"
        )
    scale = KnownMeans(known, tuple(known.all_of(tuple(seeds)) or ()))
    if all(one.ceiling == one.floor for one in scale.scores):
        raise UsageError(f"no policy can gain anything in {name}: the floor is the best score")
    return scale


def on_scale(sample: Sample, scale: KnownMeans) -> Normalised | None:
    """Return a sample of scores on the scale of its seeds; None if nothing can be gained."""
    if sample.unit == "seeds":
        known = [one for seed in sample.values if (one := scale.known.of(int(str(seed))))]
        floor, ceiling = [one.floor for one in known], [one.ceiling for one in known]
    else:
        n = len(sample.values)
        floor, ceiling = [scale.floor] * n, [scale.bound or scale.best] * n
    clusters = [*sample.clusters.values()] if sample.is_clustered else None
    return normalised([*sample.values.values()], floor, ceiling, clusters=clusters)


def exceeds(score: float, limit: float) -> bool:
    """Return whether a score is above a limit by more than rounding."""
    return score > limit + _ROUNDING * abs(limit)


# -- worlds ----------------------------------------------------------------------------------------


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

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints of it."""
        score = self.score
        figures = {"n": score and score.n, "failed": self.failed, "score": score and score.z}
        ends = {"low": score and score.low, "high": score and score.high}
        return {"policy": self.policy, "knows": self.knows, **figures, **ends}


@frozen
class NormalisedWorld:
    """The baselines of one preset of one world.

    Attributes:
        name: Model and preset, as `model/preset`.
        scale: What 0 and 1 stand for.
        scores: The policies, the highest score first.
        rows: Their episodes.
    """

    name: str
    scale: KnownMeans
    scores: tuple[NormalisedScore, ...]
    rows: Rows = field(repr=False)

    def best(self, *, observes: bool) -> NormalisedScore | None:
        """Return the best policy of those that know observations alone, or of the others."""
        own = (one for one in self.scores if (one.knows == "observation") is observes)
        return next(own, None)

    def of(self, policy: str) -> NormalisedScore | None:
        """Return a policy by its spec; None if it has not played."""
        return next((one for one in self.scores if one.policy == policy), None)

    def above(self) -> tuple[list[str], list[str]]:
        """Return the policies with a score above a bound, so that it is wrong, or the best known.

        The best known score can be updated.
        """
        faults, news = dict[str, None](), dict[str, None]()
        for row in self.rows:
            score, known = row["score"], self.scale.known.of(row["seed"])
            if score is None or known is None:
                continue
            if exceeds(score, known.ceiling) and known.kind:
                faults[row["policy"]] = None
            elif exceeds(score, known.best):
                news[row["policy"]] = None
        return [*faults], [*news]

    def plain(self) -> dict[str, Any]:
        """Return what `desim baselines --normalised --json` prints of a preset."""
        model, _, preset = self.name.partition("/")
        faults, news = self.above()
        return {
            "model": model,
            "preset": preset,
            **self.scale.plain(),
            "seeds": len(self.scale.scores),
            "scores": [one.plain() for one in self.scores],
            "above_bound": faults,
            "above_best": news,
        }


@frozen(repr=False)
class NormalisedBoards(Tabular):
    """Baselines by their normalised scores, world by world.

    Attributes:
        worlds: Those that have a scale, in the order in which they were named.
        left_out: By name the reason why another one has none.
    """

    worlds: tuple[NormalisedWorld, ...]
    left_out: Mapping[str, str]

    @property
    def rows(self) -> list[Row]:
        """The episodes of all worlds."""
        return [row for world in self.worlds for row in world.rows]

    @property
    def faults(self) -> list[str]:
        """The policies that score more than a bound which no policy can exceed."""
        return [f"{one} in {world.name}" for world in self.worlds for one in world.above()[0]]

    def tables(self) -> tuple[Table, ...]:
        """Return what 0 and 1 stand for, and the scores."""
        scales, scores = map(_scale_cells, self.worlds), map(_score_cells, self.worlds)
        heads = (*_SCORE_HEADS, *_EVERYWHERE)
        return (
            Table(_SCALE_HEADS, scales, _TEXTS, "what 0 and 1 stand for"),
            Table(heads, scores, _NAMES, "normalised scores", self.notes(), self._legend()),
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
        kinds = {one.ceiling_kind for world in self.worlds for one in world.scale.scores}
        rest = (world.best(observes=False) for world in self.worlds)
        levels = knowledge_legend(one.knows for one in rest if one)
        return [
            *(text for kind, text in _KINDS.items() if kind in kinds),
            _SCALED,
            _CHOSEN,
            *levels,
        ]

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield what `--json` prints: an object for each preset, and one for the rest."""
        for world in self.worlds:
            yield world.plain()
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

    The arguments are those of `boards`.

    Raises:
        UsageError: No world has a scale, one has no baselines, or the seeds are empty or wrong.
    """
    seeds = checked_seeds(seeds)
    scales: dict[str, KnownMeans] = {}
    left_out: dict[str, str] = {}
    for name in names:
        try:
            scales[name] = world_scale(name, seeds)
        except UsageError as fault:
            left_out[name] = str(fault)
    if not scales:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise UsageError(f"no world has a scale: {reasons}")
    played = boards(list(scales), seeds, jobs, progress, limits, knows=knows)
    return NormalisedBoards(tuple(_world(scales[one.name], one) for one in played), left_out)


def _world(scale: KnownMeans, board: Board) -> NormalisedWorld:
    found = []
    for (policy,), rows in board.rows.groups("policy").items():
        sample = score_sample(rows)
        score = on_scale(sample, scale) if sample.values else None
        if score and score.n == 1 and policy in board.fixed:
            score = evolve(score, se=0.0, low=score.z, high=score.z)  # one seed stands for all
        mean = estimate.mean if (estimate := sample.estimate(_LEVEL)) else None
        found.append(NormalisedScore(policy, board.knows[policy], len(rows.failed), mean, score))
    found.sort(key=lambda one: -one.z)
    return NormalisedWorld(board.name, scale, tuple(found), board.rows)


def _world_notes(world: NormalisedWorld) -> Iterator[str]:
    if names := ", ".join(world.above()[1]):
        yield f"{world.name}: {names} scores more than the best known"
    model, _, preset = world.name.partition("/")
    if BEST_KNOWN in world.scale.kind:  # a bound that counts as 1 needs none
        for warning in preset_warning(model_finder.model_class(model), preset):
            yield f"{model}/{warning}"


def _scale_cells(world: NormalisedWorld) -> list[Any]:
    scale = world.scale
    floor, best, bound = map(number_cell, (scale.floor, scale.best, scale.bound))
    return [world.name, scale.known.floor, floor, scale.policies, best, bound, scale.kind]


def _score_cells(world: NormalisedWorld) -> list[Any]:
    best, rest = world.best(observes=True), world.best(observes=False)
    return [
        world.name,
        world.scale.kind,
        *((best.policy, best.score and best.score.n, *_cells(best)) if best else [None] * 4),
        *((with_knowledge(rest.policy, rest.knows), _cells(rest)[0]) if rest else [None] * 2),
        *(_cells(one)[0] if (one := world.of(name)) else None for name in _EVERYWHERE),
    ]


def _cells(one: NormalisedScore) -> list[Printed | None]:
    """Return the score and half the width of its interval."""
    if one.score is None:
        return [None, None]
    z, half = one.score.z, None if one.score.high is None else one.score.high - one.score.z
    text = EXACT if half == 0 else f"{half or 0:z,.2f}"
    return [Printed(z, f"{z:z,.2f}"), None if half is None else Printed(half, text)]


# -- overview --------------------------------------------------------------------------------------

#: The first seeds, whose episodes of all worlds take about 25 seconds of processor time.
OVERVIEW_SEEDS = range(5)

#: The most that a rule of the overview knows: a person may look up the constants of a world.
_MOST: Knowledge = "rules"

#: The length of a bar in characters, and the marks behind bars whose 1 is not a proved bound.
_WIDTH, _MARKS = 10, {"relaxation": "~", "best known": "*"}

_HEADS = ("world", "you play", f"0{'·' * (_WIDTH - 2)}1 ", "best rule", "score")
_MEANING = (
    "█ best rule that sees no hidden state   G greedy   0 floor   1 proved bound\n"
    "~ 1 is a bound that may be out of reach   * 1 is only the best known score"
)


@frozen(repr=False)
class Overview(Tabular):
    """All worlds, a line each.

    Attributes:
        boards: The default presets, in the order of the catalog.
        seeds: The number of seeds.
        presets: The number of presets of all worlds.
    """

    boards: NormalisedBoards
    seeds: int
    presets: int

    @property
    def rows(self) -> Sequence[Row]:
        """The episodes."""
        return self.boards.rows

    def tables(self) -> tuple[Table, ...]:
        """Return the lines, and the commands with which a newcomer goes on."""
        count = f"{self.seeds:,} seeds" if self.seeds > 1 else "1 seed"
        lines = [*self.lines()]
        each = "1 world, default preset"
        if len(lines) > 1:
            each = f"{len(lines)} worlds, default presets"
        title = f"{each}: the best rule's mean over {count}"
        notes = (_MEANING, *self.boards.notes())
        first = lines[0]["model"]
        further = (
            ("Play one yourself", f"desim play {first}"),
            ("One world in full", f"desim baselines {first}  (all {self.presets}: --all)"),
            ("Write a rule", 'README, "Write a policy"'),
        )
        board = Table(_HEADS, map(overview_cells, lines), range(4), title, notes)
        return (board, Table((), further, (0, 1)))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield an object for each world: what `--json` prints.

        It has `by_chance` where the best policy draws its answers, and no other has failed.
        """
        for world in self.boards.worlds:
            model, _, preset = world.name.partition("/")
            given = model_finder.model(world.name)
            role, length = words_text(given.default_roles[0]), given.time.length
            best = next((one for one in world.scores if one.score), None)
            ended = all(one.score for one in world.scores)
            greedy = world.of("greedy")
            yield {
                "model": model,
                "preset": preset,
                "seat": f"{role}, {length}" if length else role,
                "kind": world.scale.kind,
                "best": best and asdict(best),
                "greedy": greedy and asdict(greedy),
                "by_chance": best is not None and best.policy == "random" and ended,
            }


def overview(
    seeds: Sequence[int],
    jobs: int,
    progress: ProgressOption = None,
    limits: Limits | None = None,
) -> Overview:
    """Play the baselines that know no hidden state on the default preset of every world.

    The arguments are those of `boards`.

    Raises:
        UsageError: No world has a scale, or the seeds are empty or wrong.
    """
    names = everything()
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.partition("/")[0], name)
    found = normalised_boards([*first.values()], seeds, jobs, progress, limits, _MOST)
    return Overview(found, len(seeds), len(names))


def overview_cells(line: Mapping[str, Any]) -> list[Any]:
    """Return the cells of one of the lines of an overview; only a share of 1 fills its bar."""
    best, greedy = ((line[name] or {}).get("score") for name in ("best", "greedy"))
    filled = _whole_cells(best["z"]) if best else 0
    bar = ["█"] * filled + ["░"] * (_WIDTH - filled)
    if greedy:
        bar[min(_whole_cells(greedy["z"]), _WIDTH - 1)] = "G"
    text = "".join(bar) + _MARKS.get(line["kind"], " ")
    cells = [line["model"], line["seat"], Printed(best and best["z"], text)]
    if not best or line["best"]["mean"] is None:
        return [*cells, None, None]
    policy, mean = line["best"]["policy"], line["best"]["mean"]
    if line["by_chance"]:  # no rule can play
        return [*cells, Printed(policy, "needs a language model"), None]
    return [*cells, policy, Printed(mean, short_number_text(mean))]


def _whole_cells(share: float) -> int:
    # A share that is below a whole number of cells by rounding alone fills it.
    return min(max(0, int(_WIDTH * share + _ROUNDING)), _WIDTH)
