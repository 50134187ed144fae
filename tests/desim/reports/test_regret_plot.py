"""What the picture of `desim regret` says of differences with an interval, and of those without."""

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from matplotlib.figure import Figure

from desim import play
from desim.reports import regret_plot
from desim.studies.decisions.regret import regret
from models.beer_game import BeerGame, Order, Stage

GAME = evolve(BeerGame.preset("poisson"), horizon=8)


def absurd(stage: Stage) -> Order:
    """Order what inventory lacks, but in week 3."""
    return Order(60 if stage.week == 3 else max(0, 20 - int(stage.position)))


@pytest.mark.parametrize(
    ("futures", "title", "labels"),
    [
        (6, "", {"costs: its interval is above 0", "not shown to cost"}),
        (None, " (hindsight: in the future that came)", {"no interval: one future"}),
        (1, "", {"no interval: one future"}),
    ],
)
def test_a_single_future_is_not_called_harmless(
    futures: int | None, title: str, labels: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no interval, which is not one around 0; hindsight stands in the title."""
    table = regret(play(GAME, absurd, 1), "order_up_to", futures=futures)
    figure = Figure()

    def draw(_path: Path, _width: float, _height: float, onto: Callable[[Figure], None]) -> None:
        onto(figure)

    monkeypatch.setattr(regret_plot, "write_picture", draw)
    regret_plot.write_plot(table, Path("cost.svg"))
    (panel,) = figure.axes
    legend = panel.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == labels
    assert panel.get_title(loc="left").endswith(f"then order_up_to{title}")
