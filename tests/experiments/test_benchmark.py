"""The benchmark; no test asserts a speed."""

import benchmark
import pytest
from click.testing import CliRunner


def test_the_twin_is_compared_with_play() -> None:
    """In decisions a second."""
    ((_, ours, other, ratio, target),) = benchmark.twin(1)
    rates = [float(each.removesuffix("/s").replace(",", "")) for each in (ours, other)]
    assert float(ratio) == pytest.approx(rates[0] / rates[1], rel=0.1)
    assert target == "300"


def test_a_section_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no other one is."""
    for name in benchmark.SECTIONS:
        row = (f"row of {name}", "1", "2", "3", "—")
        monkeypatch.setitem(benchmark.SECTIONS, name, lambda _, row=row: [row])
    done = CliRunner().invoke(benchmark.main, ["--section", "arena"], catch_exceptions=False)
    assert done.output.count("row of") == 1
    assert "row of arena" in done.output
