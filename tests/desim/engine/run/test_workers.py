"""Workers that stay between sweeps: the rows of one process, whatever happened before."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.paths import PYTHONPATH
from support.small_worlds import FAILS, STRIDE, WALK, Go

import desim
from desim import sweep
from desim.engine.run import workers
from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.show import progress


def swept(jobs: int = 1, count: int = 30, **more: object) -> Rows:
    """A small sweep in workers, or in this process."""
    return sweep(WALK, [STRIDE, FAILS], range(count), jobs=jobs, **more)  # type: ignore[arg-type]


def idle() -> set[int]:
    """Return the process ids of the workers that wait for a sweep."""
    return {one.process.pid for one in workers.idle}


def test_the_next_call_plays_in_the_same_workers() -> None:
    """Rows are those of one process; where more are needed, others start."""
    assert swept(2) == swept()
    before = idle()
    assert len(before) == 2
    assert swept(2) == swept()
    compared = desim.compare(WALK, [STRIDE, "greedy"], until="50%", jobs=2)
    assert str(compared) == str(desim.compare(WALK, [STRIDE, "greedy"], until="50%"))
    assert idle() == before
    swept(3)
    assert len(idle()) == 3
    assert idle() > before


@pytest.mark.parametrize("count", [0, 1.5, True, "2"])
def test_the_number_of_workers_is_checked(count: int) -> None:
    """It is a whole number of at least 1."""
    with pytest.raises(UsageError, match="it is a whole number of at least 1"):
        swept(count)


def test_a_worker_that_was_killed_while_idle_is_replaced() -> None:
    """The next sweep starts another."""
    swept(2)
    killed, other = idle()
    os.kill(killed, signal.SIGKILL)
    assert swept(2) == swept()
    assert len(idle()) == 2
    assert idle() & {killed, other} == {other}


@pytest.mark.parametrize(
    "fault", [RuntimeError, pytest.param(KeyboardInterrupt, marks=pytest.mark.slow)]
)
def test_workers_of_an_interrupted_sweep_do_not_play_the_next(fault: type[BaseException]) -> None:
    """Also while the exception, and with it the stack of the sweep, is kept."""

    def stop(done: int, _total: int) -> None:
        if done:
            raise fault

    with pytest.raises(fault) as kept:
        swept(2, 3_000, progress=stop)
    assert swept(2) == swept()
    del kept


def test_sweeps_at_the_same_time_have_workers_of_their_own() -> None:
    """In a callback and in a thread."""
    found: list[Rows] = []

    def others(done: int, _total: int) -> None:
        if done and not found:
            found.append(swept(2))
            thread = threading.Thread(target=lambda: found.append(swept(2)))
            thread.start()
            thread.join()

    assert swept(2, progress=others) == swept()
    assert found == [swept()] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads
def test_a_forked_process_leaves_the_workers_alone() -> None:
    """Those of its parent are none of its own."""
    swept(2)
    before = idle()
    if not (child := os.fork()):
        workers.end_idle_workers()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert swept(2) == swept()
    assert idle() == before


@pytest.mark.parametrize(("last", "code"), [("print('end')", 0), ("raise SystemExit(3)", 3)])
def test_a_script_with_idle_workers_ends(last: str, code: int) -> None:
    """With its own exit code, and nothing on stderr."""
    script = f"from desim import sweep\nsweep({WALK!r}, {STRIDE!r}, range(8), jobs=2)\n{last}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (code, b"")


# -- what has changed since the workers started ----------------------------------------------------

POLICY = "from support.small_worlds import Go\ndef rule(spot):\n    {}\n    return Go(SIZE)\n{}"


def scores(policy: str) -> list[float]:
    """Return the scores of steps of a size, in a walk without wind."""
    return sweep(WALK, policy, range(2), set={"wind": 0.0}, jobs=2).values("score")


def test_an_edited_module_is_loaded_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that only workers import, inside a function, as well as the module itself."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {
        "warm_policy": POLICY.format("from warm_helper import SIZE", ""),
        "warm_helper": "SIZE = 1\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert scores("warm_policy:rule") == [3.0, 3.0]
    before = idle()
    (tmp_path / "warm_helper.py").write_text("SIZE = 1 + 1\n")
    assert scores("warm_policy:rule") == [6.0, 6.0]
    assert not idle() & before
    (tmp_path / "warm_policy.py").write_text(POLICY.format("pass", "SIZE = 5\n"))
    assert scores("warm_policy:rule") == [15.0, 15.0]
    after = idle()
    assert scores("warm_policy:rule") == [15.0, 15.0]
    assert idle() == after


def test_workers_follow_the_environment_and_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As new workers would, and as this process does."""
    (tmp_path / "steps.jsonl").write_text('{"do": "go", "places": 4}\n' * 3)
    assert swept(2).failed.column("error")
    monkeypatch.chdir(tmp_path)
    assert scores("script,file=steps.jsonl") == [12.0, 12.0]
    monkeypatch.setenv("OUTAGE", "1")
    rows = sweep(WALK, "support.small_worlds:Outage", range(2), jobs=2)
    assert [error and error[-9:] for error in rows.column("error")] == [None, "no answer"]


def test_a_worker_shows_no_bars_and_prints_on_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Of sweeps inside a policy."""

    def says(_spot: object) -> Go:
        print("said")  # noqa: T201 (what a policy may do)
        return Go(1 + progress.is_hidden)

    assert sweep(WALK, says, [0], set={"wind": 0.0}, executor="processes=1").values("score") == [6]
    assert not progress.is_hidden
    out, err = capfd.readouterr()
    assert (out, {*err.split()}) == ("", {"said"})
