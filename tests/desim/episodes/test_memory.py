"""The memory of a long episode: steps are held only where they are kept on purpose."""

import subprocess
import sys

import pytest
from support.memory import ACTS
from support.paths import PYTHONPATH

#: Decisions of the measured episode, and the most that memory may grow over all of them, in MiB.
DECISIONS, FLAT = 100_000, 6

#: The most that a decision held in memory may take, in bytes.
HELD = 900


def growth(act: str) -> float:
    """Return by how many MiB the peak of a process rises in a long episode."""
    done = subprocess.run(
        [sys.executable, "-m", "support.memory", act, str(DECISIONS)],
        env={"PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("act", [act for act in ACTS if "in memory" not in act])
def test_memory_does_not_grow_with_the_decisions(act: str) -> None:
    """100,000 decisions take at most 6 MiB more than two: 60 bytes each, mostly noise."""
    assert growth(act) < FLAT


@pytest.mark.slow
@pytest.mark.parametrize("act", [act for act in ACTS if "in memory" in act])
def test_steps_in_memory_are_small(act: str) -> None:
    """They are kept by default, with the instances that were observed and answered."""
    assert growth(act) < HELD * DECISIONS / 2**20
