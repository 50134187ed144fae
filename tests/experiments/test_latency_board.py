"""The board of score against latency, on few seeds."""

from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("matplotlib")

import latency_board


def test_the_board_prints_a_line_a_rule_and_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tuned rule loses least by four weeks; the picture has labelled axes."""
    monkeypatch.setattr(latency_board, "RULES", ("order_up_to", "greedy"))
    monkeypatch.setattr(latency_board, "LATENCIES", (0, 4))
    monkeypatch.setattr(latency_board, "TARGETS", (14, 40))
    picture = tmp_path / "latency.svg"
    given = ["--seeds", "2", "--tuning", "1", "--out", str(picture)]
    result = CliRunner().invoke(latency_board.main, given, catch_exceptions=False)
    lines = {line.split()[0]: line for line in result.output.splitlines()[2:]}
    assert {*latency_board.RULES, "tuned"} <= lines.keys()
    assert "time of a decision (weeks)" in picture.read_text()
    last = {name: float(lines[name].split()[-3].replace(",", "")) for name in ("tuned", "greedy")}
    assert last["tuned"] > last["greedy"]
