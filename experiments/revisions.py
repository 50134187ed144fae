"""Has an episode become slower than at an earlier revision of desim?

Both revisions play the same works in turn, each in a warm process of its own. A row is new over
old: the least, the median and the largest ratio of processor time over pairs. Pairs that follow
each other at once are compared, so that a change of the machine's speed affects both.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from statistics import median

import click
from revision_worker import WORKS
from rich.console import Console
from rich.progress import track

from desim.show.table import Table

ROOT = Path(__file__).resolve().parent.parent
WORKER = Path(__file__).with_name("revision_worker.py")

#: Percent by which a median is larger where a work is slower.
SLOWER = 5

#: Processor seconds that one run of a work should at least take.
SECONDS = 0.2

#: The works of a short comparison.
SHORT = (
    "beer-game-one-seat-x1",
    "beer-game-four-seats-x1",
    "edt-x1",
    "enterprise-arena",
    "yc-bench-greedy-x1",
    "beer-game-lanes",
    "import-desim",
)


class Worker:
    """A process that plays the works of one revision.

    Args:
        root: The folder of its source.
    """

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our script)
            [sys.executable, str(WORKER)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def seconds(self, work: str, times: int = 1) -> float | None:
        """Return the processor seconds of a work done *times* times; None if it is not there."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{work} {times}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        return None if answer in {"none", ""} else float(answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def compare(revision: str, runs: int, works: Sequence[str] = ()) -> tuple[Table, bool]:
    """Measure works of this checkout and of a revision in turn.

    Args:
        revision: A revision that git knows.
        runs: The number of pairs of each work.
        works: Names of works; all of them if empty.

    Returns:
        The table, and whether a median is larger by more than `SLOWER` percent.
    """
    lines, slower = [], False
    with ExitStack() as stack:
        old, new = (
            stack.enter_context(_worker(root))
            for root in (stack.enter_context(_copy(revision)), ROOT)
        )
        err = Console(stderr=True)
        for work in track(
            works or list(WORKS), "measuring", console=err, disable=not err.is_terminal
        ):
            ratios, milliseconds = _ratios(old, new, work, runs)
            if ratios:
                slower |= 100 * median(ratios) > 100 + SLOWER
                each = (min(ratios), median(ratios), max(ratios))
                lines.append((work, f"{milliseconds:.2f}", *(f"{ratio:.2f}" for ratio in each)))
            else:
                lines.append((work, "—", "—", "not in both", "—"))
    heads = ("work", "ms now", "least", "median", "largest")
    note = f"Processor time of this checkout over that of {revision}, in {runs} pairs."
    return Table(heads, lines, notes=[note]), slower


def _ratios(old: Worker, new: Worker, work: str, runs: int) -> tuple[list[float], float]:
    """Return new over old of each pair, and the median of new milliseconds."""
    first, second = old.seconds(work), new.seconds(work)
    if first is None or second is None:
        return [], 0.0
    times = max(1, round(SECONDS / max(second, 1e-4)))
    ratios, seconds = [], []
    for run in range(runs):
        # The one that is measured first may find another state of the machine.
        pair = (old, new) if run % 2 else (new, old)
        taken = {worker: worker.seconds(work, times) or 0.0 for worker in pair}
        ratios.append(taken[new] / taken[old])
        seconds.append(taken[new] / times)
    return ratios, median(seconds) * 1e3


@contextmanager
def _worker(root: Path) -> Iterator[Worker]:
    worker = Worker(root)
    try:
        yield worker
    finally:
        worker.close()


@contextmanager
def _copy(revision: str) -> Iterator[Path]:
    """Yield a folder with the source of a revision.

    Raises:
        UsageError: Git does not know the revision.
    """
    archive = ["git", "-C", str(ROOT), "archive", "--end-of-options", revision]
    packed = subprocess.run(archive, check=False, capture_output=True)  # noqa: S603 (our checkout)
    if packed.returncode:
        raise click.UsageError(f"git archive {revision}: {packed.stderr.decode().strip()}")
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(fileobj=BytesIO(packed.stdout)) as tar,
    ):
        tar.extractall(folder, filter="data")
        yield Path(folder)
