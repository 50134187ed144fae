"""Workers that stay between sweeps: the rows of one process, whatever happened before."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.small_worlds import FAILS, STRIDE, WALK

import desim
from desim import sweep
from desim.engine.run.lone_worker import children
from desim.engine.run.warm_pool import WarmPool
from desim.errors import UsageError
from desim.rows.rows import Rows


@pytest.fixture
def pool() -> Iterator[WarmPool]:
    """One worker, which is enough to be warm."""
    with desim.workers(1) as made:
        yield made


def swept(pool: WarmPool | None, count: int = 30) -> Rows:
    """A small sweep in the workers, or in this process."""
    return sweep(WALK, [STRIDE, FAILS], range(count), executor=pool)


def workers_of(pool: WarmPool) -> set[int | None]:
    """Return the process ids of the workers."""
    return {child.pid for child in children(pool._processes)}


def test_the_second_sweep_plays_in_the_same_workers() -> None:
    """Rows are those of one process; `compare` and `select` take the workers as well."""
    with desim.workers(2) as pool:
        assert swept(pool, 60) == swept(None, 60)
        before = workers_of(pool)
        assert len(before) == 2
        assert swept(pool) == swept(None)
        compared = desim.compare(WALK, [STRIDE, "greedy"], until="50%", executor=pool)
        assert str(compared) == str(desim.compare(WALK, [STRIDE, "greedy"], until="50%"))
        chosen = desim.select(WALK, [STRIDE, "greedy"], delta=1.0, executor=pool)
        assert str(chosen) == str(desim.select(WALK, [STRIDE, "greedy"], delta=1.0))
        assert workers_of(pool) == before
        assert repr(pool) == "<WarmPool of 2 workers>"


def test_a_worker_that_was_killed_while_idle_is_replaced(pool: WarmPool) -> None:
    """The next sweep starts another."""
    swept(pool)
    (before,) = workers_of(pool)
    assert before
    os.kill(before, signal.SIGKILL)
    assert swept(pool) == swept(None)
    assert before not in workers_of(pool)


@pytest.mark.slow
def test_a_worker_that_is_killed_in_a_sweep_is_replaced(pool: WarmPool) -> None:
    """Its chunk is played again."""
    swept(pool)
    (before,) = workers_of(pool)
    killed = []

    def kill(done: int, _total: int) -> None:
        if done and not killed:
            assert before
            os.kill(before, signal.SIGKILL)
            killed.append(done)

    rows = sweep(WALK, STRIDE, range(3_000), executor=pool, progress=kill)
    assert killed
    assert rows == sweep(WALK, STRIDE, range(3_000))
    assert before not in workers_of(pool)


@pytest.mark.parametrize(
    "fault", [RuntimeError, pytest.param(KeyboardInterrupt, marks=pytest.mark.slow)]
)
def test_an_interrupted_sweep_leaves_the_workers_usable(
    pool: WarmPool, fault: type[BaseException]
) -> None:
    """Also while the exception, and with it the stack of the sweep, is kept; no row gets lost."""

    def stop(done: int, _total: int) -> None:
        if done:
            raise fault

    with pytest.raises(fault) as kept:
        sweep(WALK, STRIDE, range(3_000), executor=pool, progress=stop)
    assert swept(pool) == swept(None)
    del kept


def test_workers_play_one_sweep_at_a_time(pool: WarmPool) -> None:
    """Neither another thread nor a callback may start a second one."""
    faults: list[str] = []

    def second() -> None:
        try:
            swept(pool)
        except UsageError as fault:
            faults.append(str(fault))

    def both(done: int, _total: int) -> None:
        if done and not faults:
            second()
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()

    assert len(sweep(WALK, STRIDE, range(30), executor=pool, progress=both)) == 30
    assert [fault.split(";")[0] for fault in faults] == [
        "these workers are playing another sweep"
    ] * 2
    thread = threading.Thread(target=swept, args=(pool,))
    thread.start()
    thread.join()
    assert swept(pool) == swept(None)


def test_closed_workers_are_refused(pool: WarmPool) -> None:
    """Before a sweep, and in the middle of one; closing twice is no error."""

    def close(done: int, _total: int) -> None:
        if done:
            pool.close()

    with pytest.raises(UsageError, match="these workers are closed"):
        sweep(WALK, STRIDE, range(3_000), executor=pool, progress=close)
    pool.close()
    with pytest.raises(UsageError, match=r"these workers are closed; make the sweep inside"):
        swept(pool)
    with pytest.raises(UsageError, match="these workers are closed"), pool:
        pass
    assert repr(pool) == "<WarmPool of 1 workers, closed>"


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2", None, 10**6])
def test_the_number_of_workers_is_checked(count: int) -> None:
    """It is a whole number with a limit."""
    with pytest.raises(UsageError, match="give a whole number from 1 to 1,000"):
        desim.workers(count)


# -- what has changed since the workers started ----------------------------------------------------

POLICY = "from support.small_worlds import Go\ndef rule(spot):\n    {}\n    return Go(SIZE)\n{}"


def scores(policy: str, pool: WarmPool) -> list[float]:
    """Return the mean score of steps of a size, in a walk without wind."""
    return sweep(WALK, policy, range(2), set={"wind": 0.0}, executor=pool).values("score")


def test_an_edited_module_is_loaded_anew(
    pool: WarmPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that only workers import, inside a function, as well as the module itself."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {
        "warm_policy": POLICY.format("from warm_helper import SIZE", ""),
        "warm_helper": "SIZE = 1\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert scores("warm_policy:rule", pool) == [3.0, 3.0]
    before = workers_of(pool)
    assert scores("warm_policy:rule", pool) == [3.0, 3.0]
    assert workers_of(pool) == before
    (tmp_path / "warm_helper.py").write_text("SIZE = 1 + 1\n")
    assert scores("warm_policy:rule", pool) == [6.0, 6.0]
    (tmp_path / "warm_policy.py").write_text(POLICY.format("pass", "SIZE = 5\n"))
    assert scores("warm_policy:rule", pool) == [15.0, 15.0]
    after = workers_of(pool)
    assert scores("warm_policy:rule", pool) == [15.0, 15.0]
    assert workers_of(pool) == after


@pytest.mark.slow
def test_workers_follow_the_environment_and_the_folder(
    pool: WarmPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As new workers would, and as this process does."""
    (tmp_path / "steps.jsonl").write_text('{"do": "go", "places": 4}\n' * 3)
    assert swept(pool).failed.column("error")
    monkeypatch.chdir(tmp_path)
    assert scores("script,file=steps.jsonl", pool) == [12.0, 12.0]
    monkeypatch.setenv("OUTAGE", "1")
    rows = sweep(WALK, "support.small_worlds:Outage", range(2), executor=pool)
    assert [error and error[-9:] for error in rows.column("error")] == [None, "no answer"]


@pytest.mark.slow
def test_workers_end_with_the_block() -> None:
    """Also when it is left by an exception."""
    with contextlib.suppress(ZeroDivisionError), desim.workers(1) as pool:
        swept(pool)
        processes = children(pool._processes)
        raise ZeroDivisionError
    end = time.monotonic() + 10
    while any(one.is_alive() for one in processes) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(one.is_alive() for one in processes)
