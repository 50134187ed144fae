"""The section of the benchmark that plays through adapters; no test asserts a speed."""

from contextlib import nullcontext

import adapter_speeds
import benchmark
import lane_speeds
import pytest
import revision_worker
import revisions
from adapter_games import GAMES, Game
from adapter_players import PLAYERS, Player, bare
from click.testing import CliRunner

from models.beer_game import BeerGame

_NO_PACKAGE = {name: each for name, each in PLAYERS.items() if not each.needs}
_ABSENT = Player(bare, needs="no_such_package")


def test_each_adapter_has_a_row_beside_bare_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose ratio is that of the rates; an adapter without its package is named."""
    assert len(_NO_PACKAGE) == 2
    monkeypatch.setattr(adapter_speeds, "PLAYERS", {**_NO_PACKAGE, "absent": _ABSENT})
    monkeypatch.setattr(adapter_speeds, "LEAST", 0.0)
    rows = adapter_speeds.adapters(1)
    assert len(rows) == len(GAMES) * 3
    for what, adapter, run, ratio, _ in rows:
        if "absent" in what:
            assert adapter == "not installed"
            continue
        ours, bare_rate = (
            float(each.removesuffix("/s").replace(",", "")) for each in (adapter, run)
        )
        assert float(ratio) == pytest.approx(bare_rate / ours, abs=0.06)


def test_an_adapter_that_plays_another_episode_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its ledgers tell."""
    other = Game.of("beer_game", "poisson", "retailer", "order_up_to")
    monkeypatch.setattr(adapter_speeds, "PLAYERS", {"other": Player(lambda _: bare(other))})
    with pytest.raises(ValueError, match="ended with ledgers"):
        adapter_speeds.adapters(1)


def test_lanes_are_compared_with_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """In decisions a second; where a policy decides for one episode at a time, the row says so."""
    monkeypatch.setattr(lane_speeds, "LANES", 3)
    game = BeerGame.preset("poisson", horizon=4)
    _, ours, other, ratio, _ = lane_speeds._lane_row("x", game, "order_up_to", 1, "1", drawn=True)
    rates = [float(each.removesuffix("/s").replace(",", "")) for each in (ours, other)]
    assert float(ratio) == pytest.approx(rates[0] / rates[1], abs=0.6)
    _, ours, _, reason, _ = lane_speeds._lane_row("x", game, "random", 1, "1")
    assert (ours, reason) == ("none", "no lanes: the policy decides for one episode at a time")


@pytest.mark.parametrize("name", revision_worker.WORKS)
def test_each_work_can_be_made(name: str) -> None:
    """Its functions and parameters exist."""
    assert callable(revision_worker.WORKS[name]())


def test_a_section_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no other one is."""
    for name in benchmark.SECTIONS:
        row = (f"row of {name}", "1", "2", "3", "—")
        monkeypatch.setitem(benchmark.SECTIONS, name, lambda _, row=row: [row])
    done = CliRunner().invoke(benchmark.main, ["--section", "arena"], catch_exceptions=False)
    assert done.output.count("row of") == 1
    assert "row of arena" in done.output


class _Paced:
    """A worker whose works take a number of seconds."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds

    def seconds(self, _: str, times: int = 1) -> float | None:
        return None if self._seconds is None else self._seconds * times

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("now", "code", "cells"),
    [
        (0.1, 0, "1.00    1.00     1.00"),
        (0.106, 1, "1.06    1.06     1.06"),
        (None, 0, "not in both"),
    ],
)
def test_a_slower_work_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, now: float | None, code: int, cells: str
) -> None:
    """One that an old revision does not have is named."""
    monkeypatch.setattr(revisions, "_copy", nullcontext)
    monkeypatch.setattr(
        revisions, "Worker", lambda root: _Paced(now if root == revisions.ROOT else 0.1)
    )
    done = CliRunner().invoke(benchmark.main, ["--against", "HEAD", "--short"])
    assert done.exit_code == code
    assert done.output.count(cells) == len(revisions.SHORT)


def test_a_revision_plays_in_a_process_of_its_own() -> None:
    """The commit of this checkout plays a work; an unknown work is none."""
    table, _ = revisions.compare("HEAD", 1, ("beer-game-one-seat-x1", "no-work"))
    (_, _, _, median, _), (*_, missing, _) = table.lines
    assert float(median) > 0
    assert missing == "not in both"


def test_an_unknown_revision_is_one_sentence() -> None:
    """Exit code 2, with what git says."""
    done = CliRunner().invoke(benchmark.main, ["--against", "no-revision"])
    assert done.exit_code == 2
    assert "not a valid object name: no-revision" in done.output
    assert "Traceback" not in done.output
