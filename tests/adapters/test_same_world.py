"""The same answers give the same ledgers and the same score through every adapter.

A driver is a module of `tests/support/drivers` with `REQUIRES` (what must be installed),
`carries(case)` and `play(case, seed, answers)`.
"""

import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.adapters import CASES, Case, played

DRIVERS = sorted(
    file.stem for file in (Path(__file__).parents[1] / "support" / "drivers").glob("*.py")
)


def driver_of(name: str) -> ModuleType:
    """Return a driver; it imports the packages of its adapter when it plays."""
    return importlib.import_module(f"support.drivers.{name}")


def plays() -> Iterator[Any]:
    """Yield every driver with every case that it carries; one skipped entry for a missing one."""
    for name in DRIVERS:
        driver = driver_of(name)
        missing = [package for package in driver.REQUIRES if find_spec(package) is None]
        if missing:
            reason = f"{' and '.join(missing)} not installed"
            yield pytest.param(name, CASES[0], marks=pytest.mark.skip(reason=reason), id=name)
            continue
        yield from (pytest.param(name, c, id=f"{name}-{c}") for c in CASES if driver.carries(c))


@pytest.mark.parametrize(("name", "case"), list(plays()))
def test_an_adapter_plays_the_same_world(name: str, case: Case) -> None:
    """Score and digest are those of `desim.play` with the same actions."""
    direct = played(case, 5)
    assert driver_of(name).play(case, 5, direct.answers) == (direct.score, direct.digest)


@pytest.mark.parametrize("name", DRIVERS)
def test_every_driver_carries_a_case(name: str) -> None:
    """A driver that carries none would prove nothing."""
    assert any(driver_of(name).carries(case) for case in CASES)
