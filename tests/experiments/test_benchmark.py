"""The section of the benchmark that plays through adapters; no test asserts a speed."""

import adapter_speeds
import benchmark
import pytest
from adapter_games import GAMES, Game
from adapter_players import PLAYERS, Player, bare
from click.testing import CliRunner

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


def test_a_section_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no other one is."""
    for name in benchmark.SECTIONS:
        row = (f"row of {name}", "1", "2", "3", "—")
        monkeypatch.setitem(benchmark.SECTIONS, name, lambda _, row=row: [row])
    done = CliRunner().invoke(benchmark.main, ["--section", "arena"], catch_exceptions=False)
    assert done.output.count("row of") == 1
    assert "row of arena" in done.output
