"""The baselines of worlds: a board that ranks them, and an overview with a line for each world."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

from attrs import asdict, evolve, frozen

from desim.catalog import model_finder, policy_finder
from desim.catalog.known_scores import BEST_KNOWN
from desim.catalog.policy_spec import read_policies
from desim.core.limits import Limits
from desim.core.model import Model, revision_of
from desim.core.roles import Knowledge, knowledge_order
from desim.engine.grid import checked_seeds, grid
from desim.engine.run.executors import Executor, ProcessExecutor
from desim.engine.run.playing import playing
from desim.episodes.lineup import assigned, lineup_knows, maker_of
from desim.errors import UsageError
from desim.rows.known_means import KnownMeans, known_means, known_note
from desim.rows.rows import Rows
from desim.rows.samples import Sample
from desim.show.labels import short_number_text, words_text
from desim.show.progress import Progress, ProgressOption, shown_progress
from desim.show.table import Printed, Table, Tabular
from desim.statistics.normalised import Normalised, normalised
from desim.studies.boards.ranking import BoardLine, board_table, ranked

#: Relative amount by which a score may exceed a bound: both are sums of rounded numbers.
_ROUNDING = 1e-9

# -- one world -------------------------------------------------------------------------------------


@frozen(repr=False, slots=False)
class Board(Tabular):
    """The scores of the baselines of one preset of one world, with what each policy knows."""

    name: str
    model: Model[Any]
    knows: Mapping[str, Knowledge]
    rows: Rows

    @cached_property
    def scale(self) -> KnownMeans | None:
        """The known scores of the seeds; None if they are not known, or damaged."""
        try:
            return known_means(self.rows)
        except UsageError:  # the note says so
            return None

    @cached_property
    def lines(self) -> list[BoardLine]:
        """The ranked lines, with their scores on the scale; see `ranking.ranked`."""
        lines = ranked(self.rows, self.knows, beside=self.model.figures.board)
        return [evolve(line, share=on_scale(line.sample, self.scale)) for line in lines]

    @property
    def faults(self) -> list[str]:
        """The policies with a score above a bound, so that it is wrong."""
        found = dict[str, None]()
        for row in self.rows if self.scale else ():
            known = self.scale and self.scale.known.of(row["seed"])
            if known and known.ceiling_kind != BEST_KNOWN and row["score"] is not None:
                found |= dict.fromkeys([row["policy"]] * exceeds(row["score"], known.ceiling))
        return [*found]

    def tables(self) -> tuple[Table]:
        """Return the table of the ranked policies."""
        most = max(line.episodes for line in self.lines)
        seeds = f"{most:,} seeds" if most > 1 else "1 seed"
        title = f"{self.name}: {len(self.rows):,} episodes over {seeds}"
        faults = [f"FAULT: {one} scores more than the bound" for one in self.faults]
        known = known_note(self.rows)
        notes = [*faults, *filter(None, [known])]
        return (board_table(title, self.lines, notes, columns=self.model.figures.columns),)

    def summary(self) -> dict[str, Any]:
        """Return what `desim baselines --json` prints: one plain object."""
        model, _, preset = self.name.partition("/")
        return {
            "model": model,
            "preset": preset,
            "revision": revision_of(self.model),
            "lines": [_plain(line) for line in self.lines],
            "known": self.scale and self.scale.plain(),
        }


def _plain(line: BoardLine) -> dict[str, Any]:
    found = asdict(line, recurse=True, filter=lambda one, _value: one.name != "sample")
    shape = asdict(line.sample.shape) if line.estimate else None
    return {**found, "unit": line.sample.independent_unit, "shape": shape}


def on_scale(sample: Sample, scale: KnownMeans | None) -> Normalised | None:
    """Return scores on the scale of their seeds: 0 is the floor, 1 the bound or the best known.

    None without scores or a scale, or if nothing can be gained.
    """
    if scale is None or not sample.values:
        return None
    floor, ceiling = [scale.floor], [scale.best if scale.bound is None else scale.bound]
    if sample.unit == "seeds":
        known = [one for seed in sample.values if (one := scale.known.of(int(str(seed))))]
        floor, ceiling = [one.floor for one in known], [one.ceiling for one in known]
    clusters = [*sample.clusters.values()] if sample.is_clustered else None
    values = [*sample.values.values()]
    times = len(values) // len(floor)
    return normalised(values, floor * times, ceiling * times, clusters=clusters)


def exceeds(score: float, limit: float) -> bool:
    """Return whether a score is above a limit by more than rounding."""
    return score > limit + _ROUNDING * abs(limit)


# -- several worlds --------------------------------------------------------------------------------


def boards(
    names: Sequence[str],
    seeds: Sequence[int],
    jobs: int,
    progress: ProgressOption = None,
    limits: Limits | None = None,
    *,
    knows: Knowledge = "future",
) -> Iterator[Board]:
    """Play the baselines of one world after the other, those that know no more than *knows*.

    Names are those of `everything`. Worlds and policies share the seeds; policies that declare
    `board_seeds` play the first. The other arguments are those of `sweep`; *progress* is called for
    each world from 0 on.

    Raises:
        UsageError: A world or a seed does not exist, or a world has no baselines.
    """
    given = checked_seeds(seeds)
    models = {name: model_finder.model(name) for name in names}
    players = {name: _players(name, model, knows) for name, model in models.items()}
    with closing(ProcessExecutor(jobs)) as executor, shown_progress(progress) as show:
        for name, model in models.items():
            rows = _played(name, model, [*players[name]], given, executor, show, limits)
            yield Board(name, model, players[name], rows)


def _players(name: str, model: Model[Any], knows: Knowledge) -> dict[str, Knowledge]:
    """Return what the baselines of a world know, of those that know no more than is allowed."""
    specs, most = policy_finder.baselines(model), knowledge_order(knows)
    levels = {one: lineup_knows(model, read_policies([one])) for one in specs}
    found = {one: level for one, level in levels.items() if knowledge_order(level) <= most}
    if not found:
        raise UsageError(f"{name} has no baselines: give its roles options, or write heuristics")
    return found


def _played(
    name: str,
    model: Model[Any],
    specs: Sequence[str],
    seeds: Sequence[int],
    executor: Executor,
    progress: Progress,
    limits: Limits | None,
) -> Rows:
    """Play each policy on the seeds, slow ones on the first of them."""
    policies = [read_policies([one]) for one in specs]
    wanted: list[int] = []
    for place, each in enumerate(policies):
        slow = [maker_of(one, of).board_seeds for one, of in assigned(model, each)]
        count = min([len(seeds), *filter(None, slow)])
        wanted += range(place * len(seeds), place * len(seeds) + count)
    plan = grid(name, policies, seeds, limits=limits)
    with playing(plan, executor=executor, progress=progress) as started:
        started.play(wanted)
        return started.finish()


# -- overview --------------------------------------------------------------------------------------

#: The first seeds, whose episodes of all worlds take about 25 seconds of processor time.
OVERVIEW_SEEDS = range(5)

#: The length of a bar in characters, and the marks behind bars whose 1 is not a proved bound.
_WIDTH, _MARKS = 10, {"relaxation": "~", "best known": "*"}

_HEADS = ("world", "you play", f"0{'·' * (_WIDTH - 2)}1 ", "best rule", "score")
_MEANING = (
    "█ best rule that sees no hidden state   G greedy   0 floor   1 proved bound\n"
    "~ 1 is a bound that may be out of reach   * 1 is only the best known score"
)


@frozen(repr=False)
class Overview(Tabular):
    """The boards of the default presets of all worlds, a line each."""

    boards: tuple[Board, ...]
    presets: int

    def tables(self) -> tuple[Table, ...]:
        """Return the lines, and the commands with which a newcomer continues."""
        worlds, count = len(self.boards), len({*self.boards[0].rows.column("seed")})
        each = f"{worlds} worlds, default presets" if worlds > 1 else "1 world, default preset"
        seeds = f"{count:,} seeds" if count > 1 else "1 seed"
        title = f"{each}: the best rule's mean over {seeds}"
        failed = [
            f"{board.name}: {line.name} has failed, so that it has no mean"
            for board in self.boards
            for line in board.lines
            if line.estimate is None
        ]
        first = self.boards[0].name.partition("/")[0]
        further = (
            ("Play one yourself", f"desim play {first}"),
            ("One world in full", f"desim baselines {first}  (all {self.presets}: --all)"),
            ("Write a rule", 'README, "Write a policy"'),
        )
        notes = [_MEANING, *failed]
        lines = Table(_HEADS, map(_world_cells, self.boards), range(4), title, notes)
        return (lines, Table((), further, (0, 1)))


def overview(
    seeds: Sequence[int],
    jobs: int,
    progress: ProgressOption = None,
    limits: Limits | None = None,
) -> Overview:
    """Play the baselines that know no hidden state on the default preset of every world.

    The arguments and errors are those of `boards`.
    """
    names, first = model_finder.everything(), dict[str, str]()
    for name in names:
        first.setdefault(name.partition("/")[0], name)
    found = boards([*first.values()], seeds, jobs, progress, limits, knows="rules")
    return Overview(tuple(found), len(names))


def _world_cells(board: Board) -> list[Any]:
    role, length = words_text(board.model.default_roles[0]), board.model.time.length
    cells = [board.name.partition("/")[0], f"{role}, {length}" if length else role]
    means = [(line.estimate.mean, line) for line in board.lines if line.estimate]
    if not means:
        return [*cells, None, None, None]
    order = [*board.knows]
    mean, best = max(means, key=lambda one: (one[0], -order.index(one[1].name)))
    greedy = next((line.share for line in board.lines if "greedy" in line.policies), None)
    bar = None
    if best.share and board.scale:
        bar = Printed(best.share.z, bar_text(best.share, greedy, board.scale.kind))
    if best.name == "random" and len(means) == len(board.lines):  # no rule can play
        return [*cells, bar, Printed(best.name, "needs a language model"), None]
    return [*cells, bar, best.name, Printed(mean, short_number_text(mean))]


def bar_text(best: Normalised, greedy: Normalised | None, kind: str) -> str:
    """Return a bar with the best score and a mark of that of `greedy`; only 1 fills it."""
    filled = _whole_cells(best.z)
    bar = ["█"] * filled + ["░"] * (_WIDTH - filled)
    if greedy:
        bar[min(_whole_cells(greedy.z), _WIDTH - 1)] = "G"
    return "".join(bar) + _MARKS.get(kind, " ")


def _whole_cells(share: float) -> int:
    # A share that is below a whole number of cells by rounding alone fills it.
    return min(max(0, int(_WIDTH * share + _ROUNDING)), _WIDTH)
