"""The numbers of axes."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from desim.reports.elements.drawing import finish
from desim.reports.record.series_charts import time_axis


def test_numbers_of_an_axis_have_separators_and_no_exponent() -> None:
    """Up to two million as they are, larger ones in millions, which the label says."""
    panel = Figure().add_subplot()
    panel.set_xlim(0, 1_500_000)
    panel.set_ylim(0, 30_000_000)
    finish(panel, x="orders", y="dollars")
    assert panel.xaxis.get_major_formatter()(1_500_000) == "1,500,000"
    assert panel.get_ylabel() == "dollars (millions)"
    assert panel.yaxis.get_major_formatter()(2_500_000) == "2.5"


def test_ticks_of_a_clock_are_whole_numbers_with_separators() -> None:
    """Where a model has no dates."""
    panel = Figure().add_subplot()
    time_axis(panel, is_dated=False)
    assert panel.xaxis.get_major_formatter()(1_500_000) == "1,500,000"
