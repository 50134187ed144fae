"""Workers that a call leaves for the next one of its process."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from support.paths import PYTHONPATH
from support.small_worlds import STRIDE, WALK

from desim import sweep
from desim.engine.run import warm_pool
from desim.engine.run.lone_worker import children
from desim.engine.run.process_executor import ProcessExecutor
from desim.engine.run.warm_pool import KeptPool
from desim.rows.rows import Rows


@pytest.fixture(autouse=True)
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[KeptPool]:
    """A pool of this test."""
    made = KeptPool()
    monkeypatch.setattr(warm_pool, "_pools", [made])
    yield made
    made.end_idle()


def swept(jobs: int = 2) -> Rows:
    """A small sweep in workers."""
    return sweep(WALK, STRIDE, range(8), jobs=jobs)


def workers_of(pool: KeptPool) -> set[int | None]:
    """Return the process ids of the workers."""
    return {child.pid for child in children(pool.pool._processes)} if pool.pool else set()


def test_the_next_call_plays_in_the_same_workers(pool: KeptPool) -> None:
    """Rows are those of one process; another number of workers is a new pool."""
    assert swept() == sweep(WALK, STRIDE, range(8))
    before = workers_of(pool)
    assert before
    assert swept() == sweep(WALK, STRIDE, range(8))
    assert workers_of(pool) == before
    swept(3)
    assert pool.pool is not None
    assert pool.pool.workers == 3
    assert not workers_of(pool) & before


def test_a_sweep_inside_another_has_workers_of_its_own(pool: KeptPool) -> None:
    """As one in a second thread has."""
    inner: list[Rows] = []

    def once(done: int, _total: int) -> None:
        if done and not inner:
            inner.append(swept())

    assert sweep(WALK, STRIDE, range(8), jobs=2, progress=once) == inner[0]
    assert isinstance(pool.lent(2), warm_pool._LentPool)
    assert type(pool.lent(2)) is ProcessExecutor
    pool.take_back()


def test_idle_workers_end(pool: KeptPool) -> None:
    """After a while without a call; the next call starts new ones."""
    pool.idle_seconds = 0.01
    swept()
    timer = pool._timer
    assert timer is not None
    timer.join(30)
    assert pool.pool is None
    assert swept() == sweep(WALK, STRIDE, range(8))


def test_lent_workers_do_not_end(pool: KeptPool) -> None:
    """A timer that is late ends nothing."""
    players = pool.lent(2)
    pool.end_idle()
    assert pool.pool is not None
    players.close()
    players.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_leaves_the_workers_alone(pool: KeptPool) -> None:
    """It has a pool of its own, and its end does not end those of its parent."""
    swept()
    before = workers_of(pool)
    if not (child := os.fork()):
        os._exit(warm_pool._pools[-1].pool is not None)
    assert os.waitpid(child, 0)[1] == 0
    assert swept() == sweep(WALK, STRIDE, range(8))
    assert workers_of(pool) == before


SCRIPT = """
from support.small_worlds import STRIDE, WALK
from desim import sweep
if __name__ == "__main__":
    sweep(WALK, STRIDE, range(8), jobs=2)
    {}
"""


@pytest.mark.parametrize(("last", "code"), [("print('end')", 0), ("raise SystemExit(3)", 3)])
def test_a_script_with_kept_workers_ends(last: str, code: int) -> None:
    """With its own exit code, and nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(last)],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (code, b"")


def test_threads_share_the_workers_in_turn(pool: KeptPool) -> None:
    """A call takes kept workers from any thread."""
    found: list[Rows] = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: found.append(swept()))
        thread.start()
        thread.join()
    assert found[0] == found[1]
    assert len(workers_of(pool)) >= 1
