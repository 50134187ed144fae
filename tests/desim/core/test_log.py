"""The log of a world: what happens in it, for whoever listens."""

from collections.abc import Generator
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.stage import Stage

from desim import Run, World, catalog, play

#: Some of the events that each world logs.
EVENTS = {
    "beer_game": {"delivery", "shipment", "order", "week accounted"},
    "consulting": {"message", "interview over", "verdict"},
    "edt": {"payday", "project"},
    "enterprise": {"shipment", "task completed", "month closed"},
    "enterprise_arena": {"payday", "request submitted", "settlement", "month closed"},
    "reasoning": {"answer"},
    "yc_bench": {"task accepted", "task started", "task completed"},
}


@pytest.mark.parametrize("name", EVENTS)
def test_a_world_tells_what_happens_in_it(name: str) -> None:
    """With tick, date, amounts and names; answers are details."""
    rules = catalog.policies(catalog.model_class(name))
    policies = dict.fromkeys(catalog.model(name).roles, "greedy") if rules else {}
    with capture_logs() as lines:
        told = play(catalog.model(name), policies or "greedy", seed=0)
    happened = {line["event"] for line in lines if line["log_level"] == "info"}
    assert happened >= {*EVENTS[name], "episode ended"}
    assert all("date" in line and "t" in line for line in lines)
    assert "answered" in {line["event"] for line in lines if line["log_level"] == "debug"}
    # The episode is the same whether or not somebody listens.
    again = play(catalog.model(name), policies or "greedy", seed=0)
    assert told.result.ledger_digest == again.result.ledger_digest


def visits(world: World, _log: list[Any]) -> Generator[Any, Any, None]:
    """Visit desk 2."""
    yield world.timeout(3)
    world.log.info("visit", desk=2)


def test_a_world_of_ones_own_logs() -> None:
    """Every line has the tick; nothing is written when nobody listens."""
    assert not World().log
    with capture_logs() as lines:
        Run(Stage((visits,))).advance()
    visit, end = lines
    assert visit == {"event": "visit", "log_level": "info", "t": 3, "desk": 2}
    assert end["event"] == "episode ended"
    assert not World().log
