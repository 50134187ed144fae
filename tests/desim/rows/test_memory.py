"""The end of a large sweep, and what is read of its rows, in little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import PYTHONPATH

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc"),
]

#: Episodes of the large sweep; as mappings its rows took 214 MB.
MANY = 100_000

#: MB by which the rows may raise the peak memory of the process.
MOST = 60

#: Fills a checkpoint with the rows of one episode under every seed, so that nothing is left to
#: play, and prints the peak memory in MB after each step.
PROGRAM = """
import json, sys
from desim.engine.store import Store
from desim.engine.grid import grid
from desim.studies.sweep import sweep
from desim.engine.run.play_job import play_to_json
from support.memory import peak
from support.small_worlds import STRIDE, WALK

out, count = sys.argv[1], int(sys.argv[2])
sweep(WALK, STRIDE, range(9), out=out + "/warm").table()  # what the first call imports
found = play_to_json(grid(WALK, STRIDE, [0]).job(0))
plan = grid(WALK, STRIDE, range(count))
with Store(out) as store:
    kept = store.of(plan)
    for start in range(0, count, 1_000):
        jobs = range(start, min(start + 1_000, count))
        kept.add(jobs, [found] * len(jobs), [{}] * len(jobs))
peaks = [peak()]
rows = sweep(WALK, STRIDE, range(count), out=out)
assert len(rows) == count
peaks.append(peak())
str(rows.table())
peaks.append(peak())
assert len(rows.where(policy=STRIDE)) == len(rows.groups("policy")[STRIDE,]) == count
assert len(rows.failed) == 0
peaks.append(peak())
print(json.dumps(peaks))
"""


def test_the_rows_of_a_large_sweep_take_little_memory(tmp_path: Path) -> None:
    """They are written, tabulated and filtered without being mappings all at once."""
    peaks = {count: _peaks(tmp_path / str(count), count) for count in (9, MANY)}
    for count, each in peaks.items():
        print(f"{count:,} rows:", *(f"{mb:.0f} MB" for mb in each))  # noqa: T201 (with -rP)
    start, end, table, filtered = peaks[MANY]
    assert end - start < MOST
    assert filtered - start < 2 * MOST
    assert end - peaks[9][1] < 2 * MOST
    assert table <= filtered


def _peaks(out: Path, count: int) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(out), str(count)],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    peaks: list[float] = json.loads(done.stdout.splitlines()[-1])
    return peaks
