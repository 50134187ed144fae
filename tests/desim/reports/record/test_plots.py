"""The picture of an episode: its forms, what it refuses, and that it is the same in every run."""

import sys
from pathlib import Path

import pytest
from support.shop import Shop
from support.small_worlds import Diary, Stride

from desim import Episode, play, replay
from desim.errors import UsageError
from desim.reports.drawing import drawn
from desim.reports.record.plots import check_episode_plot, draw_panel, plot_episode
from desim.reports.record.series import Line


@pytest.fixture
def episode() -> Episode:
    """A walk of three steps."""
    return play(Diary(), Stride(), 3, series=True)


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_an_episode_is_drawn(name: str, start: bytes, episode: Episode, tmp_path: Path) -> None:
    """In the form that the suffix names; a replayed record gives the same file."""
    assert plot_episode(episode, tmp_path / name) == tmp_path / name
    episode.write(tmp_path / "walk.jsonl")
    plot_episode(replay(tmp_path / "walk.jsonl", series=True), tmp_path / f"again_{name}")
    content = (tmp_path / name).read_bytes()
    assert content.startswith(start)
    assert content == (tmp_path / f"again_{name}").read_bytes()


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
        ("none/a.png", "there is no folder"),
        ("n" * 300 + ".png", "File name too long$"),
    ],
)
def test_a_wrong_file_is_found_before_an_episode(name: str, says: str, tmp_path: Path) -> None:
    """And nothing is left of the test whether it can be written."""
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
    line = Line("a", "A", "units", "", places, values, "week", False, True, False)  # noqa: FBT003
    found: list[tuple[float, float]] = []

    def draw(figure: object) -> None:
        panel = figure.subplots()
        draw_panel(panel, {"": line})
        found.append(panel.get_ylim())

    drawn(3, 2, draw)
    assert found == [pytest.approx((low, high))]
