"""The status bar takes time, money and key figures out of the observation."""

from typing import Any

import pytest

from desim import Run, catalog
from desim.core.model_protocols import default_roles
from desim.ui.browser.status_bar import SeatStatus, seat_status


def first_status(name: str, **params: Any) -> SeatStatus:
    """Return the status at the first decision of a world."""
    model = catalog.model(name, **params)
    decision = Run(model, 0, default_roles(model)).advance()[0]
    return seat_status(model, decision.role, decision.observation)


@pytest.mark.parametrize(
    ("name", "time", "total", "key"),
    [
        ("beer_game", "Week 0", "25 weeks", ["Inventory", "Backlog", "Incoming order"]),
        ("enterprise_arena", "Month 0", "132 months", ["Cash balance", "Active users", "Loans"]),
        ("yc_bench", "Time 2025-01-01 09:00:00", "1 year", ["Funds"]),
        ("reasoning", "Question number 1", "84", []),
    ],
)
def test_the_bar_has_the_time_of_total_and_the_key_figures(
    name: str, time: str, total: str, key: list[str]
) -> None:
    """The figures of high priority, the highest first."""
    status = first_status(name)
    assert status.time is not None
    assert f"{status.time.label} {status.time.text}" == time
    assert status.total == total
    assert [figure.label for figure in status.key][:3] == key


@pytest.mark.parametrize("name", catalog.models())
def test_nothing_is_shown_twice(name: str) -> None:
    """The rest of the observation has no figure that the bar shows."""
    status = first_status(name)
    bar = {one.name for one in (*status.key, *([status.time] if status.time else []))}
    assert bar.isdisjoint({figure.name for figure in status.rest.figures})
    assert status.total not in [figure.text for figure in status.rest.figures]
