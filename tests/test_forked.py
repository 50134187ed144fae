"""Processes that are forked instead of started: what they keep of the tests' process."""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from support.forked import ended, forked


def test_modules_of_a_layered_environment_stay_and_those_of_a_user_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package may lie outside `sys.prefix`; numpy, for one, cannot be imported a second time."""
    (tmp_path / "of_a_user.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    import numpy  # noqa: ICN001, F401
    import of_a_user  # type: ignore[import-not-found]  # noqa: F401

    monkeypatch.setattr(sys, "prefix", "/nowhere")
    monkeypatch.setattr(sys, "base_prefix", "/nowhere")
    monkeypatch.setattr("support.forked.ROOT", Path("/nowhere"))  # which may hold an environment
    left = lambda: sys.stdout.write(str({"numpy", "of_a_user"} & {*sys.modules}))  # noqa: E731
    done = ended(forked(left, cwd=tmp_path))
    assert (done.out, done.err, done.code) == ("{'numpy'}", "", 0)


def state() -> tuple[bool, int]:
    """Return whether this process has the modules of the tests, and its parent."""
    return "pytest" in sys.modules, os.getppid()


def test_a_worker_is_forked_from_the_process_that_starts_it() -> None:
    """It reads its start as a spawned one does, and has nothing to import."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(state).result() == (True, os.getpid())
