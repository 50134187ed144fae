"""Batches of seeds are played until intervals are as narrow as asked."""

import re
from pathlib import Path

import pytest
from support.small_worlds import FAILS, GATED, STRIDE, WALK

from desim import compare
from desim.errors import UsageError
from desim.studies.until import Precision


def strides(*places: int) -> list[str]:
    """Policies that walk so many places a step."""
    return [f"{STRIDE},size={n}" for n in places]


def test_the_difference_is_known_as_precisely_as_asked() -> None:
    """More seeds than the first batch, and every seed played by both on the same luck."""
    found = compare(WALK, [GATED, "random"], until=0.4, set={"wind": 0.0})
    (line,) = (one for one in found.table.lines if one.difference)
    assert line.difference
    assert line.difference.paired.half
    assert line.difference.paired.half <= 0.4
    assert found.reached
    assert found.seeds > 20
    assert len(found.rows) == 2 * found.seeds
    assert found.rows.where(policy="random").column("seed") == list(range(found.seeds))


def test_a_share_of_the_mean_is_asked_of_every_mean() -> None:
    """And a number, of one policy's mean; the sentence says what was reached."""
    found = compare(WALK, strides(20, 40), until="3%", level=0.9)
    for line in found.table.lines:
        assert line.estimate
        assert line.estimate.half
        assert line.estimate.half <= 0.03 * line.estimate.mean
    assert f"{found.seeds} seeds: every interval is within 3 % of the mean" in str(found)
    alone = compare(WALK, strides(3), until=1.5).table.lines[0].estimate
    assert alone
    assert alone.half
    assert alone.half <= 1.5


def test_what_is_not_reached_is_said() -> None:
    """The seeds are used up, and the widest interval is named."""
    found = compare(WALK, strides(3), until=0.01, max_seeds=50)
    assert (found.reached, found.seeds) == (False, 50)
    assert re.search(r"50 seeds: not every interval is within ±0.01 \(\S+ .* ±1\.", found.sentence)


def test_failed_episodes_are_never_precise() -> None:
    """Their mean is withheld, so nothing is reached; the first batch shows it."""
    found = compare(WALK, [FAILS, *strides(3)], until="50%")
    assert (found.reached, found.seeds) == (False, 20)
    assert "episodes have failed" in found.sentence


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    """The same call plays nothing twice, and its files are those of one that was not stopped."""
    whole = compare(WALK, strides(3, 4), until="5%", out=tmp_path / "whole")

    class Stop(Exception):
        """Stands for a kill."""

    played = []

    def stop(done: int, total: int) -> None:
        played.append((done, total))
        if total > 40 and done > 40:
            raise Stop

    with pytest.raises(Stop):
        compare(WALK, strides(3, 4), until="5%", out=tmp_path / "cut", progress=stop)
    played.clear()
    again = compare(
        WALK, strides(3, 4), until="5%", out=tmp_path / "cut", progress=lambda *n: played.append(n)
    )
    assert played[0] == (40, 40)
    assert again.rows == whole.rows
    for name in ("rows.csv", "rows.jsonl"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_wrong_wishes_are_refused() -> None:
    """Before anything is played; the text says what is possible."""
    for wrong in (0, -1, float("nan"), float("inf"), "abc", "%", "-5%", None, ""):
        with pytest.raises(UsageError, match="write a share of the mean such as 5%"):
            Precision.read(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="first batch has 20 seeds"):
        compare(WALK, STRIDE, until=1.0, max_seeds=10)
    with pytest.raises(UsageError, match="no seed was given"):
        compare(WALK, STRIDE, until=1.0, seeds=[])
