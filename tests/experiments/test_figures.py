"""The figures: axes, captions and data, drawn from few seeds."""

from pathlib import Path

import figures
import pytest
from click.testing import CliRunner
from figure_style import GAP, Drawn, axes, label_ends, spread
from figures import FIGURES, beer_bullwhip, bullwhip, main
from matplotlib.figure import Figure
from published import find
from support.paths import REFERENCE

from models.beer_game import BeerGame

TRACED = pytest.mark.skipif(
    not REFERENCE.exists(), reason="no reference data: set DESIM_REFERENCE to the folder"
)
FAST = ("focus,tasks=1", "published_greedy")


@pytest.fixture(
    params=[pytest.param(n, marks=TRACED) if n == "beer_bullwhip" else n for n in FIGURES]
)
def drawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Drawn]:
    """Each figure, from two seeds, without the policies that search."""
    monkeypatch.setattr(figures, "FOUNDERS", FAST)
    return request.param, FIGURES[request.param][0](2)


def test_every_axis_is_labelled_and_the_caption_says_preset_and_seeds(
    drawn: tuple[str, Drawn],
) -> None:
    """Units are in the labels; every panel has data."""
    name, (figure, caption) = drawn
    assert "2 seeds" in caption
    assert "preset" in caption
    for panel in figure.axes:
        assert panel.get_title(loc="left")
        assert panel.get_xlabel()
        assert panel.get_ylabel() or name.startswith("yc_")  # names of policies
        assert panel.lines


def test_lines_of_ours_differ_without_colour(drawn: tuple[str, Drawn]) -> None:
    """Style and marker together are different for every black curve of a panel."""
    _, (figure, _) = drawn
    for panel in figure.axes:
        ours = [
            (str(line.get_linestyle()), line.get_marker())
            for line in panel.lines
            if line.get_color() == "black" and line.get_marker() not in (".", "D", "None")
        ]
        assert len(set(ours)) == len(ours)


def test_the_published_curves_are_those_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighteen models and the greedy rule, and our rebuilt baseline runs over the published one."""
    monkeypatch.setattr(figures, "FOUNDERS", FAST)
    figure, _ = figures.yc_funds(1)
    left, right = figure.axes
    assert len(left.lines) == 19
    curve = [cell.value for cell in find("yc_bench", "curves")["Greedy Bot"].cells.values()]
    rebuilt = next(list(line.get_ydata()) for line in right.lines[len(FAST) : len(FAST) + 1])
    # The published January is the start of the year.
    assert [1e3 * y for y in rebuilt[1:]] == pytest.approx(curve[1:])


@TRACED
def test_the_orders_of_the_mean_players_are_those_of_the_trace() -> None:
    """Ours is drawn over it; the first stage amplifies nothing where it passes demand on."""
    figure, _ = beer_bullwhip(1)
    lines = figure.axes[0].lines
    for published, ours in zip(lines[::2], lines[1::2], strict=True):
        assert list(published.get_ydata()) == list(ours.get_ydata())
    assert bullwhip(BeerGame.preset("poisson"), "last_demand", 1)[0] == pytest.approx(1)


def test_labels_are_moved_apart_and_stay_in_order() -> None:
    """As little as possible: a lone one stays, equal ones move both ways."""
    moved = spread([0.0, 0.5, 0.5, 0.9])
    assert moved == pytest.approx([0.0, 0.5 - GAP / 2, 0.5 + GAP / 2, 0.9])
    figure, (panel,) = axes(1)
    panel.plot([0, 1], [0, 1])
    label_ends(panel, [(1.0, "up", "black"), (1.0, "down", "black")], at=1)
    assert isinstance(figure, Figure)
    assert len(panel.texts) == 2


@TRACED
def test_the_command_writes_png_and_svg(tmp_path: Path) -> None:
    """The names are printed; an unknown figure is refused."""
    done = CliRunner().invoke(
        main, ["--out", str(tmp_path), "--seeds", "1", "--only", "beer_bullwhip"]
    )
    assert done.exit_code == 0, done.output
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["beer_bullwhip.png", "beer_bullwhip.svg"]
    assert CliRunner().invoke(main, ["--only", "pie"]).exit_code == 2


def test_a_model_is_drawn_at_its_own_cost_and_funds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leaderboard has models whose names begin with that of another."""
    monkeypatch.setattr(figures, "FOUNDERS", FAST)
    figure, _ = figures.yc_cost(1)
    points = {(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines}
    for name in ("GLM-5", "Claude Opus 4.6"):
        cost = find("yc_bench", "table_4")[name].cells["cost"].value
        funds = find("yc_bench", "leaderboard")[name].cells["net_worth"].value
        assert (cost, funds / 1e3) in points
