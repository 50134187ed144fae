"""The baselines of worlds: boards that rank them, and an overview with a line for each world."""

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
from desim.core.reported import Figures
from desim.core.roles import Knowledge, knowledge_order
from desim.engine.grid import checked_seeds
from desim.engine.policies import is_fixed
from desim.engine.run.executors import Executor, ProcessExecutor
from desim.episodes.lineup import assigned, lineup_knows, maker_of
from desim.errors import UsageError
from desim.rows.estimate_notes import missing_note
from desim.rows.failures import missing
from desim.rows.known_means import known_means, known_note
from desim.rows.rows import Rows
from desim.show.labels import is_number
from desim.show.progress import Progress, ProgressOption, shown_progress
from desim.show.table import Table, Tabular
from desim.studies.boards.ranking import BoardLine, board_table, item_table, ranked
from desim.studies.sweep import sweep


@frozen(repr=False)
class Board(Tabular):
    """The scores of the baselines of one preset of one world.

    Attributes:
        name: Model and preset, as `model/preset`.
        knows: What each policy knows, in the order of the policies.
        rows: One for each episode.
        seconds: Wall-clock time in which they were played.
        fixed: The policies that were played once because every seed has the same episode.
        figures: Units and labels of the metrics, and those that are printed beside the score.
        revision: The revision of the world.
    """

    name: str
    knows: Mapping[str, Knowledge]
    rows: Rows
    seconds: float
    fixed: frozenset[str] = frozenset()
    figures: Figures = field(factory=Figures)
    revision: Revision = FIRST_REVISION

    def ranked(self) -> list[BoardLine]:
        """Return the lines; see `ranking.ranked`."""
        return ranked(self.rows, self.knows, self.fixed, beside=self.figures.board)

    def tables(self) -> tuple[Table, ...]:
        """Return the table of the ranked policies, and of a world with items their shares."""
        lines = self.ranked()
        most = max(line.episodes for line in lines)
        seeds = f"{most:,} seeds" if most > 1 else "1 seed"
        each = len(self.rows) / self.seconds
        rate = f"{each:,.0f} episodes a second" if each >= 1 else f"{1 / each:,.0f} s an episode"
        title = f"{self.name}: {len(self.rows):,} episodes over {seeds}, {rate}"
        known = known_note(self.rows, self.rows.column("seed"))
        notes = [*missing_note(dict(self._missing())), *filter(None, [known])]
        table = board_table(title, lines, notes, columns=self.figures.columns)
        if any(line.sample.unit == "items" for line in lines):
            model = model_finder.model(self.name)
            if isinstance(model, ItemsModel):
                names = [line.name for line in lines]
                return (table, item_table(self.rows, model.item_groups, names))
        return (table,)

    def _missing(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield how many episodes of each policy lack a number that stands beside the score."""
        found = {n: [row["metrics"].get(n) for row in self.rows] for n in self.figures.board}
        numbers = [name for name, each in found.items() if any(map(is_number, each))]
        for (policy,), rows in self.rows.groups("policy").items() if numbers else ():
            failed = [error is not None for error in rows.column("error")]
            for name in numbers:
                values = [row["metrics"].get(name) for row in rows]
                yield f"{policy} in {name}", (missing(values, failed), len(rows))

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
        if preset or model_finder.builder(model) is not None:
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
    knows: Knowledge = "future",
) -> Iterator[Board]:
    """Play the baselines of one world after the other.

    A policy whose episode is the same on all seeds plays once.

    Args:
        names: Names from `everything`.
        seeds: Shared by all worlds and policies.
        jobs: Worker processes.
        progress: As for `sweep`.
        limits: The limits of each episode; one that reaches a limit fails.
        knows: The most that a policy may know; those that know more do not play.

    Raises:
        UsageError: A world or a seed does not exist, or a world has no baselines.
    """
    given = checked_seeds(seeds)
    models = {name: model_finder.model(name) for name in names}
    players: dict[str, dict[str, Knowledge]] = {}
    for name, model in models.items():
        specs = policy_finder.baselines(model)
        levels = {one: lineup_knows(model, read_policies([one])) for one in specs}
        most = knowledge_order(knows)
        players[name] = {one: at for one, at in levels.items() if knowledge_order(at) <= most}
        if not players[name]:
            raise UsageError(
                f"{name} has no baselines: give its roles options, or write heuristics"
            )
    counts = {
        name: {one: _seed_count(model, one, len(given)) for one in players[name]}
        for name, model in models.items()
    }
    total, before = sum(sum(each.values()) for each in counts.values()), 0
    with contextlib.closing(ProcessExecutor(jobs)) as executor, shown_progress(progress) as show:
        for number, (name, model) in enumerate(models.items(), 1):
            show.begin(f"{name}: board {number} of {len(models)}")
            start, part = time.perf_counter(), show.part(before, total)
            rows = _played(name, counts[name], given, executor, limits, part)
            seconds, revision = time.perf_counter() - start, revision_of(model)
            fixed = frozenset(s for s in players[name] if is_fixed(model, read_policies([s])))
            yield Board(name, players[name], rows, seconds, fixed, model.figures, revision)
            before += len(rows)


def _seed_count(model: Model[Any], spec: str, seeds: int) -> int:
    """Return on how many of the seeds a policy plays: one if all have the same episode."""
    policies = read_policies([spec])
    makers = [maker_of(one, of) for one, of in assigned(model, policies)]
    most = [one.board_seeds for one in makers if one.board_seeds]
    return 1 if is_fixed(model, policies) else min([seeds, *most])


def _played(
    name: str,
    counts: Mapping[str, int],
    seeds: Sequence[int],
    executor: Executor,
    limits: Limits | None,
    progress: Progress,
) -> Rows:
    """Play each policy on the first seeds; rows are in the order of the policies."""
    found: list[Any] = []
    for count in dict.fromkeys(counts.values()):
        found += sweep(
            name,
            [read_policies([one]) for one in counts if counts[one] == count],
            seeds[:count],
            executor=executor,
            progress=progress.part(len(found), 0),
            limits=limits,
        )
    return Rows(sorted(found, key=lambda row: [*counts].index(row["policy"])))
