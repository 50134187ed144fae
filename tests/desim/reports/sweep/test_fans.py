"""The fans of a sweep's series: one scale for one quantity."""

from typing import Any

import pytest
from attrs import asdict
from support.sweep_rows import row

from desim import Rows
from desim.jobs.plan.job import SERIES_COLUMNS
from desim.reports.sweep import fans
from desim.show.column import Column


def test_series_of_one_quantity_share_a_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The orders of two stages, but not their costs."""
    limits: dict[str, tuple[float, float]] = {}

    def drawn(_each: Any, _xs: Any, _x: str, title: str, ends: tuple[float, float]) -> str:
        limits[title] = ends
        return "data:image/svg+xml;base64,"

    monkeypatch.setattr(fans, "fans", drawn)
    columns = {
        f"{name}_{stage}": asdict(Column(unit, role=stage, period="week"))
        for stage in ("shop", "mill")
        for name, unit in (("orders", "units"), ("cost", "money"))
    }
    series = {
        "orders_shop": [4.0, 6.0],
        "orders_mill": [2.0, 30.0],
        "cost_shop": [1.0, 2.0],
        "cost_mill": [3.0, 3.0],
    }
    rows = Rows([row("a", 1, 5.0, series=series, **{SERIES_COLUMNS: columns})])
    assert len(list(fans.series_fans(rows))) == 4
    assert limits["Orders shop (units)"] == limits["Orders mill (units)"] == (2.0, 30.0)
    assert limits["Cost shop (money)"] == limits["Cost mill (money)"] == (1.0, 3.0)
