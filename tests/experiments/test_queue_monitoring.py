"""Monitors against queueing theory: the formulas, a short run, and the whole script."""

import pytest
import queue_monitoring
from click.testing import CliRunner
from queue_monitoring import SERVICE, Office

from desim import play


def test_the_formulas_are_those_of_the_tables() -> None:
    """M/M/1 by hand, and Erlang's C for five servers that are offered four: 0.5541."""
    one = queue_monitoring.expected(Office(desks=1, load=0.75))
    assert one["desk.queue_mean"] == pytest.approx(0.75**2 / 0.25)
    assert one["inside.level_mean"] == pytest.approx(3)
    assert queue_monitoring.erlang_c(5, 4) == pytest.approx(0.5541, abs=5e-5)


@pytest.mark.parametrize(("desks", "services"), [(1, 800), (3, 400)])
def test_monitors_measure_the_means_of_theory(desks: int, services: int) -> None:
    """With intervals that are narrow enough to say something: the busy share to a fifth."""
    office = Office(desks=desks, load=0.5, services=services, warm_up=50)
    truths = queue_monitoring.expected(office)
    measured = queue_monitoring.measured(office, seeds=6)
    for name, found in measured.items():
        assert found.low <= truths[name] <= found.high, name
    assert measured["desk.utilisation"].half < 0.2 * 0.5


def test_little_s_law_holds_exactly() -> None:
    """The area under the queue is the sum of the waits, where nobody is left and none cut off."""
    hall = play(Office(services=300, warm_up=0), seed=1).state
    queue = hall.desk_seen.puts
    waited = queue.waits.mean * queue.waits.count
    still = sum(300 * SERVICE - since for since in queue._arrived.values())
    assert queue.length.mean * 300 * SERVICE == pytest.approx(waited + still, rel=1e-9)
    assert hall.desk_seen.preempted > 10


@pytest.mark.slow
def test_the_script_finds_the_formulas() -> None:
    """All six figures in their intervals, with one desk and with three."""
    done = CliRunner().invoke(
        queue_monitoring.main, ["--seeds", "10", "--services", "2000"], catch_exceptions=False
    )
    assert done.exit_code == 0
    ends = [line.split()[-1] for line in done.output.splitlines()[1:]]
    assert ends == ["yes"] * 6
