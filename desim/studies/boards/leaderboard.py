"""The leaderboard: the baselines of every world and preset, played and ranked."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict, field, frozen

from desim.catalog import model_finder, policy_finder
from desim.catalog.policy_spec import read_policies
from desim.catalog.presets import presets
from desim.core.limits import Limits
from desim.core.model import FIRST_REVISION, ItemsModel, Model, Revision, revision_of
from desim.core.roles import Knowledge, knowledge_order
from desim.engine.grid import checked_seeds, with_further
from desim.engine.policies import is_fixed
from desim.engine.run.executors import Executor
from desim.engine.run.process_executor import ProcessExecutor
from desim.episodes.lineup import assigned, lineup_knows, maker_of
from desim.errors import UsageError
from desim.rows.estimate_notes import missing_note
from desim.rows.failures import missing
from desim.rows.known_means import known_means, known_note
from desim.rows.rows import Rows
from desim.show.column import Column
from desim.show.labels import is_number
from desim.show.progress import Progress, ProgressOption, shown_progress
from desim.show.table import Table, Tabular
from desim.studies.boards.board_table import board_table
from desim.studies.boards.item_shares import item_table
from desim.studies.boards.ranking import BoardLine, ranked
from desim.studies.sweep import sweep


@frozen
class Entrant:
    """A policy of a board.

    Attributes:
        spec: The text `[ROLE=]SPEC`.
        seeds: The seeds on which it plays: one where all have the same episode.
        knows: What its policies know.
        fixed: Whether all seeds have the same episode.
    """

    spec: str
    seeds: tuple[int, ...]
    knows: Knowledge
    fixed: bool


@frozen(repr=False)
class Board(Tabular):
    """The scores of the baselines of one preset of one world.

    Attributes:
        name: Model and preset, as `model/preset`.
        entrants: The policies.
        rows: One for each episode.
        seconds: Wall-clock time in which they were played.
        beside: Names of metrics that are printed beside the score.
        revision: The revision of the world.
        columns: Units and labels of the metrics.
    """

    name: str
    entrants: tuple[Entrant, ...]
    rows: Rows
    seconds: float
    beside: tuple[str, ...] = ()
    revision: Revision = FIRST_REVISION
    columns: Mapping[str, Column] = field(factory=dict)

    @property
    def seeds(self) -> int:
        """The largest number of seeds on which a policy was played."""
        return max(len(one.seeds) for one in self.entrants)

    @property
    def paired(self) -> bool:
        """Whether all policies have played the same seeds, or the first of them."""
        return len({one.seeds[0] for one in self.entrants}) == 1

    def ranked(self) -> list[BoardLine]:
        """Return the lines; see `ranking.ranked`."""
        return ranked(
            self.rows,
            {one.spec: one.knows for one in self.entrants},
            [one.spec for one in self.entrants if one.fixed],
            paired=self.paired,
            beside=self.beside,
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the table of the ranked policies, and of a world with items their shares."""
        seeds = f"{self.seeds:,} seeds" if self.seeds > 1 else "1 seed"
        episodes = f"{len(self.rows):,} episodes over {seeds}"
        each = len(self.rows) / self.seconds
        rate = f"{each:,.0f} episodes a second" if each >= 1 else f"{1 / each:,.0f} s an episode"
        known = known_note(self.rows, self.rows.column("seed"))
        title = f"{self.name}: {episodes}, {rate}"
        lines = self.ranked()
        notes = [*missing_note(dict(self._missing())), *filter(None, [known])]
        table = board_table(title, lines, notes, columns=self.columns, paired=self.paired)
        return (table, *self._shares(lines))

    def _missing(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield how many episodes of each policy lack a number that stands beside the score."""
        found = {name: [row["metrics"].get(name) for row in self.rows] for name in self.beside}
        numbers = [name for name, each in found.items() if any(map(is_number, each))]
        for (policy,), rows in self.rows.groups("policy").items() if numbers else ():
            failed = [error is not None for error in rows.column("error")]
            for name in numbers:
                values = [row["metrics"].get(name) for row in rows]
                yield f"{policy} in {name}", (missing(values, failed), len(rows))

    def _shares(self, lines: Sequence[BoardLine]) -> Iterator[Table]:
        if any(line.sample.unit == "items" for line in lines):
            model = model_finder.model(self.name)
            if isinstance(model, ItemsModel):
                yield item_table(self.rows, model.item_groups, [line.name for line in lines])

    def summary(self) -> dict[str, Any]:
        """Return what `desim baselines --json` prints: one plain object."""
        model, _, preset = self.name.partition("/")
        known = None
        with contextlib.suppress(UsageError):  # damaged data must not stop the board
            known = known_means(self.rows, self.rows.column("seed"))
        return {
            "model": model,
            "preset": preset,
            "revision": self.revision,
            "seconds": self.seconds,
            "lines": [_plain(line) for line in self.ranked()],
            "known": known.plain() if known else None,
        }


def _plain(line: BoardLine) -> dict[str, Any]:
    found = asdict(line, recurse=True, filter=lambda one, _value: one.name != "sample")
    shape = asdict(line.sample.shape) if line.estimate else None
    return {**found, "unit": line.sample.independent_unit, "shape": shape}


def everything(names: Sequence[str] = ()) -> list[str]:
    """Return `model/preset` for every preset of the named models, or of all models.

    The name of a function that returns a model stays as it is.

    Raises:
        UsageError: A model or a preset does not exist.
    """
    found = []
    for name in names or model_finder.models():
        model, _, preset = name.partition("/")
        of_function = model_finder.builder(model) is not None
        if preset or of_function:
            model_finder.model(model, preset)
            found.append(name)
        else:
            found += [f"{model}/{one}" for one in presets(model_finder.model_class(model))]
    return found


def boards(
    names: Sequence[str],
    seeds: Sequence[int],
    jobs: int,
    progress: ProgressOption = None,
    limits: Limits | None = None,
    *,
    shared_seeds: bool = True,
    knows: Knowledge = "future",
) -> Iterator[Board]:
    """Play the baselines of one world after the other.

    A policy whose episode is the same on all seeds plays once.

    Args:
        names: Names from `everything`.
        seeds: Shared by all worlds.
        jobs: Worker processes.
        progress: As for `sweep`.
        limits: The limits of each episode; one that reaches a limit fails.
        shared_seeds: Whether all policies of a world play the same seeds; otherwise each plays as
            many of its own, behind the given ones.
        knows: The most that a policy may know; those that know more do not play.

    Raises:
        UsageError: A world has no baselines, or its seeds share cases and are not to be shared.
    """
    entrants = {
        name: [one for one in each if knowledge_order(one.knows) <= knowledge_order(knows)]
        for name in names
        for each in [entrants_of(name, seeds, shared_seeds=shared_seeds)]
    }
    for name in [name for name, each in entrants.items() if not each]:
        raise UsageError(f"{name} has no baselines: give its roles options, or write heuristics")
    total = sum(len(one.seeds) for each in entrants.values() for one in each)
    before = 0
    with contextlib.closing(ProcessExecutor(jobs)) as executor, shown_progress(progress) as show:
        for number, (name, each) in enumerate(entrants.items(), 1):
            show.begin(f"{name}: board {number} of {len(entrants)}")
            start = time.perf_counter()
            rows = _played(name, each, executor, limits, show.part(before, total))
            model = model_finder.model(name)
            seconds, figures = time.perf_counter() - start, model.figures
            beside, revision = tuple(figures.board), revision_of(model)
            yield Board(name, tuple(each), rows, seconds, beside, revision, figures.columns)
            before += len(rows)


def entrants_of(
    name: str, seeds: Sequence[int], *, shared_seeds: bool = True
) -> tuple[Entrant, ...]:
    """Return the policies of the board of a preset, with their seeds; see `boards`.

    Raises:
        UsageError: The preset or a seed does not exist, or its seeds are not to be shared.
    """
    model, seeds = model_finder.model(name), checked_seeds(seeds)
    specs = policy_finder.baselines(model)
    if shared_seeds:
        return tuple(_entrant(spec, model, tuple(seeds)) for spec in specs)
    if model.cluster(seeds[0]) is not None:
        raise UsageError(f"the seeds of {name} share cases; let all policies play the same seeds")
    every, count = with_further(seeds, len(specs) * len(seeds)), len(seeds)
    own = [tuple(every[at : at + count]) for at in range(0, len(every), count)]
    return tuple(_entrant(spec, model, each) for spec, each in zip(specs, own, strict=True))


def _entrant(spec: str, model: Model[Any], seeds: tuple[int, ...]) -> Entrant:
    policies = read_policies([spec])
    makers = [maker_of(one, of) for one, of in assigned(model, policies)]
    fixed = is_fixed(model, policies)
    most = [one.board_seeds for one in makers if one.board_seeds]
    count = 1 if fixed else min([len(seeds), *most])
    return Entrant(spec, seeds[:count], lineup_knows(model, policies), fixed)


def _played(
    name: str,
    entrants: Sequence[Entrant],
    executor: Executor,
    limits: Limits | None,
    progress: Progress,
) -> Rows:
    """Play each policy on its seeds; rows are in the order of the policies."""
    by_seeds: dict[tuple[int, ...], list[Entrant]] = {}
    for one in entrants:
        by_seeds.setdefault(one.seeds, []).append(one)
    found: list[Any] = []
    for seeds, each in by_seeds.items():
        found += sweep(
            name,
            [read_policies([one.spec]) for one in each],
            seeds,
            executor=executor,
            progress=progress.part(len(found), 0),
            limits=limits,
        )
    order = {label: place for place, label in enumerate(one.spec for one in entrants)}
    return Rows(sorted(found, key=lambda row: order[row["policy"]]))
