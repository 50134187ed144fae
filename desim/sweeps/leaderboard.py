"""The main job: every baseline on every world and preset there is, ranked with intervals."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import frozen

from desim import catalog
from desim.errors import UsageError
from desim.params import presets
from desim.seating import read_seats
from desim.sweeps.executors import Executor, Here, processes
from desim.sweeps.rows import Rows
from desim.sweeps.sweep import sweep
from desim.sweeps.tables import Line, figures

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Board", "boards", "everything"]


@frozen
class Board:
    """What the baselines of one preset of one world have scored.

    Attributes:
        name: Model and preset, as `model/preset`.
        policies: Their specs; the first is what the others are compared with.
        rows: One an episode.
        seconds: Wall-clock time it took to play them.
    """

    name: str
    policies: tuple[str, ...]
    rows: Rows
    seconds: float

    def ranked(self) -> list[Line]:
        """Return one line a policy, the highest mean first and those without a score last."""
        lines = self.rows.table(by="policy", show="score", against=self.policies[0]).lines
        return sorted(
            lines, key=lambda line: -line.estimate.mean if line.estimate else float("inf")
        )

    def ends(self, policy: str) -> str:
        """Say how a policy's episodes ended, most frequent first."""
        rows = self.rows.where(policy=policy)
        ends = Counter("failed" if r["error"] else str(r["ended"]) for r in rows)
        return ", ".join(f"{count} {end}" for end, count in ends.most_common())

    def __rich__(self) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self._title(), title_justify="left", box=None, pad_edge=False)
        first = self.policies[0]
        # On a narrow terminal texts are folded, so that no figure is cut.
        table.add_column("policy", overflow="fold", min_width=12)
        for head in ("mean score", "95 % interval", f"against {first}", "95 % interval"):
            table.add_column(head, justify="right", overflow="fold")
        table.add_column("ended", overflow="fold", min_width=7)
        for line in self.ranked():
            policy = str(line.group[0])
            table.add_row(*map(Text, (policy, *_figures(line), self.ends(policy))))
        return table

    def _title(self) -> str:
        seeds = len(set(self.rows.column("seed")))
        return (
            f"[bold]{self.name}[/]: {len(self.rows):,} episodes over {seeds} seeds, "
            f"{len(self.rows) / self.seconds:,.0f} episodes a second"
        )


def everything(names: Sequence[str] = ()) -> list[str]:
    """Return `model/preset` for every preset of the models named, or of all there are.

    Raises:
        UsageError: There is no such model or preset.
    """
    found = []
    for name in names or catalog.models():
        model, _, preset = name.partition("/")
        known = presets(catalog.model_class(model))
        if preset:
            catalog.model(model, preset)
        found += [f"{model}/{one}" for one in ([preset] if preset else known)]
    return found


def boards(
    names: Sequence[str],
    seeds: Sequence[int],
    jobs: int,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> Iterator[Board]:
    """Play the baselines of each world in turn.

    Args:
        names: As `everything` returns them.
        seeds: Shared by all.
        jobs: Worker processes.
        progress: Called with the number of finished episodes and of all.

    Raises:
        UsageError: A world has no policy that could play it.
    """
    casts = {name: catalog.baselines(catalog.model(name)) for name in names}
    for name in [name for name, policies in casts.items() if not policies]:
        raise UsageError(f"{name} has no baselines: give its roles options, or write heuristics")
    total, before = len(seeds) * sum(map(len, casts.values())), 0
    with contextlib.closing(_players(jobs)) as players:
        for name, policies in casts.items():
            start = time.perf_counter()
            rows = sweep(
                name,
                [read_seats([spec]) for spec in policies],
                seeds,
                executor=players,
                progress=partial(_further, progress, before, total),
            )
            yield Board(name, policies, rows, time.perf_counter() - start)
            before += len(rows)


def _further(
    progress: Callable[[int, int], object], before: int, total: int, done: int, _: int
) -> None:
    """Tell the progress of one world as progress of all."""
    progress(before + done, total)


def _players(jobs: int) -> Executor:
    return Here() if jobs == 1 else processes(jobs)


def _figures(line: Line) -> list[str]:
    """Return mean, interval, difference and its interval as texts; the first has no difference."""
    known = line.estimate is not None and line.difference is None
    compared = ["", ""] if known else figures(line.difference, spread=False)
    return [*figures(line.estimate, spread=False), *compared]
