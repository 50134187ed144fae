"""The picture of an episode: its forms, what it refuses, and that it is the same in every run."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from support.shop import Shop
from support.small_worlds import Diary, Stride

from desim import Episode, play, replay
from desim.errors import UsageError
from desim.reports.elements.drawing import drawn
from desim.reports.record import episode_plot
from desim.reports.record.episode_plot import check_episode_plot, plot_episode
from desim.reports.record.measured import Measured
from desim.reports.record.series_charts import Shown, draw_panel


@pytest.fixture
def episode() -> Episode:
    """A walk of three steps."""
    return play(Diary(), Stride(), 3, series=True)


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_an_episode_is_drawn(name: str, start: bytes, episode: Episode, tmp_path: Path) -> None:
    """In the form that the suffix names; the same picture is the same file."""
    assert plot_episode(episode, tmp_path / name) == tmp_path / name
    plot_episode(episode, tmp_path / f"again_{name}")
    content = (tmp_path / name).read_bytes()
    assert content.startswith(start)
    assert content == (tmp_path / f"again_{name}").read_bytes()


def test_a_replayed_record_is_drawn_alike(episode: Episode, tmp_path: Path) -> None:
    """With its series it is the same episode."""
    plot_episode(episode, tmp_path / "played.svg")
    episode.write(tmp_path / "walk.jsonl")
    again = replay(tmp_path / "walk.jsonl", series=True)
    plot_episode(again, tmp_path / "replayed.svg")
    assert (tmp_path / "played.svg").read_bytes() == (tmp_path / "replayed.svg").read_bytes()


def test_what_cannot_be_drawn_is_refused(episode: Episode, tmp_path: Path) -> None:
    """An episode that was read, one without series, a file that exists; nothing is left behind."""
    episode.write(tmp_path / "walk.jsonl")
    with pytest.raises(UsageError, match=r"replay\(FILE, series=True\) plays a record again"):
        plot_episode(Episode.read(tmp_path / "walk.jsonl"), tmp_path / "a.svg")
    sold = play(Shop(), lambda _: {"do": "sell", "teas": 1}, series=True)
    with pytest.raises(UsageError, match=r"^the episode has no series that could be drawn$"):
        plot_episode(sold, tmp_path / "a.svg")
    (tmp_path / "a.svg").write_text("mine")
    with pytest.raises(UsageError, match="exists; choose another name"):
        plot_episode(episode, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.gif", r"a\.gif is no \.png, \.svg or \.pdf file$"),
        ("a", r"a is no \.png, \.svg or \.pdf file$"),
        ("none/a.png", "there is no folder"),
        ("n" * 300 + ".png", "File name too long$"),
    ],
)
def test_a_wrong_file_is_found_before_an_episode(name: str, says: str, tmp_path: Path) -> None:
    """As is a model without series, and a missing matplotlib."""
    with pytest.raises(UsageError, match=says):
        check_episode_plot(Diary(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_series_is_found_before_an_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is a missing matplotlib."""
    with pytest.raises(UsageError, match=r"--plot draws series, and Shop declares none"):
        check_episode_plot(Shop(), tmp_path / "a.png")
    check_episode_plot(Diary(), tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"needs matplotlib; install the extra.*desim\[report\]"):
        check_episode_plot(Diary(), tmp_path / "a.png")


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([3.0, 5.0], 0, 5.3),  # near 0, and so with it
        ([95.0, 100.0], 94.7, 100.3),  # far from 0
        ([-5.0, -3.0], -5.3, 0.3),
        ([0.0, 0.0], 0, 1.06),
        ([7.0, float("nan"), 7.0], 0, 7.42),
        ([-2.0, 2.0], -2.24, 2.24),
        ([], 0, 1.06),
    ],
)
def test_the_vertical_axis_begins_at_0_where_that_is_near(
    values: list[float], low: float, high: float
) -> None:
    """So that a small change does not look large, nor a large number flat."""
    places = [float(place) for place in range(len(values))]
    line = Measured("a", "A", "units", "", places, values, "week", False, True, False)  # noqa: FBT003
    found: list[tuple[float, float]] = []

    def draw(figure: object) -> None:
        panel = figure.subplots()
        draw_panel(panel, [Shown("", 0, line, {})])
        found.append(panel.get_ylim())

    drawn(3, 2, draw, fitted=False)
    assert found == [pytest.approx((low, high))]


def test_marks_have_room_below_the_values() -> None:
    """A lane for each record, so that no line runs through them."""
    line = Measured("a", "A", "", "", [0.0, 1.0], [0.0, 10.0], "week", False, True, False)  # noqa: FBT003
    shown = [Shown(name, number, line, {"a": [0.0, 1.0]}) for number, name in enumerate("AB")]
    found: list[tuple[float, float]] = []

    def draw(figure: object) -> None:
        panel = figure.subplots()
        draw_panel(panel, shown)
        low, high = panel.get_ylim()
        found.append((low, -low / (high - low)))

    drawn(3, 2, draw, fitted=False)
    assert found[0][1] == pytest.approx(0.12)


def test_a_long_title_breaks(
    episode: Episode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The score stands at its end, and half of a number is another number."""
    titles: list[str] = []

    def draw(_path: Path, width: float, height: float, onto: Callable[[Figure], None]) -> None:
        figure = Figure(figsize=(width, height))
        onto(figure)
        titles.append(figure.get_suptitle())

    monkeypatch.setattr(episode_plot, "write_picture", draw)
    for inches in (4.4, 2.0):
        monkeypatch.setattr(episode_plot, "_WIDTH", inches)
        plot_episode(episode, tmp_path / "a.svg")
    whole, broken = titles
    assert "\n" not in whole
    assert broken.replace("\n", " ") == whole
    assert max(map(len, broken.split("\n"))) <= 2 * 2.0 * 13
