"""What holds in every test, and where the reference data is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ledgers.invariants import checked
from models.enterprise_arena import articulation

REFERENCE = Path(
    os.environ.get("DESIM_REFERENCE") or Path(__file__).parents[1] / ".." / "shared" / "reference"
)

# No test asserts a time, and a slow machine is no fault of an example.
settings.register_profile("desim", deadline=None, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("CI"):  # there hypothesis brings a profile of its own, without chance
    settings.load_profile("desim")


@pytest.fixture(autouse=True)
def ledgers_are_checked() -> Iterator[None]:
    """Verify every ledger after every call that might change it, and every month's statements."""
    with checked(), articulation.checked():
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test marked `traces(pattern)` one case a reference file, or skip it and say why."""
    mark = metafunc.definition.get_closest_marker("traces")
    if mark is None:
        return
    files = sorted(REFERENCE.glob(mark.args[0]))
    why = f"no reference data {mark.args[0]}: set DESIM_REFERENCE to its folder"
    absent = pytest.param(None, marks=pytest.mark.skip(reason=why), id="absent")
    metafunc.parametrize("trace", files or [absent], ids=[f.stem for f in files] or None)
