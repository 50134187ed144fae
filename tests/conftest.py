"""Settings of all tests: checks of ledgers, Hypothesis, and cases from the reference data."""

import gc
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings
from support.articulated import checked as articulation_checked
from support.cases import thinned
from support.conserved_groups import checked as transfers_checked
from support.examples import FULL
from support.forked import forked_workers
from support.invariants import checked
from support.paths import REFERENCE

from desim.engine import opened_files
from desim.engine.run.workers import end_idle_workers

# No test asserts a time, so a slow machine must not fail an example. The examples are the same in
# every run, more of them with `--hypothesis-profile=full`, as in .ci/run; `search` draws others.
QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=30, derandomize=True, **QUIET)
settings.register_profile("full", max_examples=FULL, derandomize=True, **QUIET)
settings.register_profile("search", max_examples=10 * FULL, print_blob=True, **QUIET)
settings.load_profile("quick")

# Piped tables honour COLUMNS; tests compare them at the width that a pipe has without it.
os.environ.pop("COLUMNS", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are processors, for tests that wait: browsers, kills."""
    return 1 + (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without the garbage collector, and keep them out of it afterwards.

    They are half a million objects that live to the end, which every full collection would read.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def ledgers_are_checked() -> Iterator[None]:
    """Verify the ledgers at the end of every episode, and every world's statements.

    The fixture has the scope of the session, so that it also covers episodes which fixtures of a
    wider scope than one test play.
    """
    with ExitStack() as stack:
        stack.enter_context(checked())
        stack.enter_context(transfers_checked())
        stack.enter_context(articulation_checked())
        yield


@pytest.fixture(autouse=True, scope="session")
def workers_are_forked() -> Iterator[None]:
    """Fork the worker processes of sweeps and suites, which saves each of them its imports."""
    with forked_workers():
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test marked `traces(pattern, every=1)` one case a reference file, or skip it."""
    mark = metafunc.definition.get_closest_marker("traces")
    if mark is None:
        return
    files = sorted(REFERENCE.glob(mark.args[0]))
    why = f"no reference data {mark.args[0]}: set DESIM_REFERENCE to its folder"
    absent = pytest.param(None, marks=pytest.mark.skip(reason=why), id="absent")
    cases = thinned(files, mark.kwargs.get("every", 1))
    metafunc.parametrize("trace", cases or [absent], ids=[f.stem for f in files] or None)


@pytest.fixture(autouse=True)
def _no_opened_files() -> None:
    """Forget the files that the policies of other tests have opened in this process."""
    opened_files._opened.clear()


@pytest.fixture(autouse=True)
def _no_kept_workers() -> Iterator[None]:
    """End the workers that a test leaves: a forked one has whatever the test had patched."""
    yield
    end_idle_workers()


@pytest.fixture(autouse=True)
def _no_user_module() -> Iterator[None]:
    """Forget a user's folder and the rules in it: every test writes its own `mine.py`."""
    path = [*sys.path]
    yield
    sys.path[:] = path
    sys.modules.pop("mine", None)
