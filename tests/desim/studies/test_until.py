"""Batches of seeds are played until intervals that hold at every number of seeds are narrow."""

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.small_worlds import FAILS, GATED, STRIDE, WALK, Trail, Walk
from support.until_narrow import until_narrow

from desim import compare
from desim.core.limits import Limits
from desim.core.reported import Figures
from desim.errors import UsageError
from desim.statistics.sequences import ScoreRange
from desim.statistics.stopping import Goal, look
from desim.studies.until import read_goal

#: The probability that an interval at 95 % misses, as `compare` computes it.
ALPHA = 1 - 0.95


@frozen
class Ahead(Walk):
    """A walk whose score is whether the wind has helped: 0 or 1."""

    #: The range of a truth value.
    figures = Figures(score_range=(0.0, 1.0))

    def score(self, path: Trail) -> float:
        """Return 1 if the wind has helped."""
        return float(sum(path.gusts) > 0)


@frozen
class Rare(Walk):
    """A walk whose score is 1 less, on one seed of a hundred, its whole fortune."""

    at: int = 99

    def score(self, path: Trail) -> float:
        """Return 1, or 0 on the rare seeds."""
        return float(path.gusts[0] != self.at)


@frozen
class Cases(Walk):
    """A walk along one of some paths, which the seed chooses."""

    cases: int = 500

    def cluster(self, seed: int) -> str:
        """Return the name of the path."""
        return str(seed % self.cases)


def strides(*places: int) -> list[str]:
    """Policies that walk so many places a step."""
    return [f"{STRIDE},size={n}" for n in places]


def test_the_difference_is_known_as_precisely_as_asked() -> None:
    """By the t sequence of the differences, on seeds that both have played."""
    found = compare(WALK, [GATED, "random"], until=0.4, set={"wind": 0.0})
    reference, line = found.lines
    assert (reference.reached, reference.look) == (True, None)
    scores = [found.rows.where(policy=name).values("score") for name in ("random", GATED)]
    differences = [a - b for a, b in zip(*scores, strict=True)]
    assert line.look == until_narrow(differences, Goal(0.4, alpha=ALPHA))
    assert found.reached
    assert found.seeds > 60
    assert len(found.rows) == 2 * found.seeds
    rare = f"{100 * (1 - 0.05 ** (1 / found.seeds)):.2g}"
    assert found.sentence == (
        f"{found.seeds} seeds: within ±0.4; together about 95 % if no outcome "
        f"rarer than {rare} % matters that was not seen"
    )
    assert f"difference to {GATED}, paired by seed" in str(found)


def test_a_share_is_one_of_every_mean_that_the_interval_leaves_possible() -> None:
    """The intervals of several means hold together; there are no differences."""
    found = compare(WALK, strides(20, 40), until="3%", level=0.9)
    for line in found.lines:
        assert line.look
        assert line.look.low
        assert line.look.half
        assert line.look.half <= 0.03 * line.look.low
    goal = Goal(0.03, is_share=True, alpha=(1 - 0.9) / 2)
    assert [line.look for line in found.lines] == [
        look(found.rows.where(policy=name).values("score"), goal) for name in strides(20, 40)
    ]
    text = f"{found.seeds} seeds: within 3 % of the mean; together about 90 %"
    assert text in str(found)
    assert "difference" not in str(found)


@pytest.mark.parametrize("given", [None, "0:1", (0, 1)])
def test_a_range_holds_for_any_distribution(given: Any) -> None:
    """That of the model's score, or a given one; the sentence needs no condition then."""
    found = compare(Ahead if given is None else Gusty, STRIDE, until=0.1, score_range=given)
    assert found.bounds == ScoreRange(0, 1)
    (line,) = found.lines
    goal = Goal(0.1, alpha=ALPHA, bounds=ScoreRange(0, 1))
    assert line.look == until_narrow(found.rows.values("score"), goal)
    assert found.sentence == (
        f"{found.seeds} seeds: within ±0.1; together 95 % whenever one stops "
        "(values are between 0 and 1)"
    )


@frozen
class Gusty(Walk):
    """The same score without a declared range."""

    score = Ahead.score


def test_a_range_of_the_score_is_none_of_another_figure() -> None:
    """Nor is it used where none is wanted; differences have twice the range."""
    assert compare(Ahead, STRIDE, until=50.0, show="decisions").bounds is None
    assert compare(Ahead, STRIDE, until=5.0, score_range="none").bounds is None
    assert compare([Ahead, Walk], STRIDE, until="90%", max_seeds=60).bounds is None
    found = compare(Ahead, [STRIDE, "random"], until=0.5)
    assert found.lines[1].look
    values = [0.0] * found.seeds
    goal = Goal(0.5, alpha=ALPHA, bounds=ScoreRange(-1, 1))
    assert found.lines[1].look == until_narrow(values, goal)


def test_a_constant_is_not_precise() -> None:
    """Without a range 60 equal values have no interval, and no further seeds are played for them.

    A lender that went bankrupt on 20 of 20 seeds was once "within 5 %".
    """
    found = compare(Rare, STRIDE, until="5%")
    assert (found.reached, found.seeds, len(found.rows)) == (False, 60, 60)
    text = "60: all 1; no interval; outcomes of up to 4.9 % may be unseen"
    assert f"within 5 % of the mean: {STRIDE} ({text})" in found.sentence
    both = compare(WALK, strides(3, 4), until=5.0)
    assert text.replace("all 1", "all 3") in both.sentence
    mixed = compare([WALK, Rare], STRIDE, until=1.5, level=0.8)
    counts = [line.seeds for line in mixed.lines]
    assert counts[1] == 60 < counts[0]
    assert "(60: all 1; no interval" in mixed.sentence


def test_a_deterministic_world_is_exact() -> None:
    """One episode is all there is."""
    found = compare("beer_game/classic", ["order_up_to", "sterman"], until=1.0)
    assert (found.reached, found.seeds) == (True, 60)
    assert "deterministic: every seed has the same episode" in found.sentence


def test_a_rarer_outcome_needs_a_larger_first_batch() -> None:
    """299 seeds show an outcome of 1 % with a probability of 95 %."""
    assert compare(WALK, STRIDE, until=9.0, seeds=range(299)).seeds == 299
    with pytest.raises(UsageError, match="the first look has 59 seeds; at least 60"):
        compare(WALK, STRIDE, until=9.0, max_seeds=59)
    assert compare(WALK, STRIDE, until=99.0, seeds=range(9), score_range="-99:99").seeds == 9
    assert compare(WALK, STRIDE, until=9.0, seeds=range(9)).seeds == 60


def test_of_seeds_of_one_cluster_the_first_is_played() -> None:
    """So that every value is independent of the others."""
    found = compare(Cases(cases=80), STRIDE, until=0.1, seeds=range(40, 150), max_seeds=120)
    assert found.rows.column("seed") == [*range(40, 120)]
    assert found.lines[0].look == until_narrow(found.rows.values("score"), Goal(0.1, alpha=ALPHA))
    assert found.sentence.startswith("80 seeds: not within ±0.1: ")
    mixed = compare([Cases(cases=70), Walk], STRIDE, until=0.1, seeds=range(140), max_seeds=150)
    assert mixed.seeds == 70
    with pytest.raises(UsageError, match="2,000 seeds have 6 clusters, such as cases, and repeat"):
        compare(Cases(cases=6), STRIDE, until=0.1)


def test_what_is_not_reached_is_said() -> None:
    """The seeds are used up; the half width is named, and the seeds that the skewness needs."""
    found = compare(WALK, strides(3), until=0.01, max_seeds=80)
    assert (found.reached, found.seeds) == (False, 80)
    assert re.search(r"within ±0.01: .* \(80: ±\d\.\d+\)$", found.sentence)
    skewed = compare(Rare(at=5), STRIDE, until=0.5, max_seeds=60)
    assert re.search(r"±0.\d+; skewed, \d+ seeds would be needed\)$", skewed.sentence)


def test_failed_episodes_are_never_precise() -> None:
    """Their mean is withheld; the first batch shows it, and the others go on."""
    found = compare(WALK, [FAILS, *strides(3)], until="50%")
    assert not found.reached
    assert found.lines[0].seeds == 60
    assert f"{FAILS} (60: episodes have failed)" in found.sentence
    limited = compare(WALK, STRIDE, until=1.0, limits=Limits(decisions=2))
    assert limited.sentence.endswith("(60: episodes have failed)")


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    """The same call plays nothing twice, and its files are those of one that was not stopped."""
    given: Any = {"until": "9%"}
    whole = compare(WALK, strides(9, 20), **given, out=tmp_path / "whole")

    class Stop(Exception):
        """Stands for a kill."""

    played = []

    def stop(done: int, total: int) -> None:
        played.append((done, total))
        if total > 120 and done > 120:
            raise Stop

    with pytest.raises(Stop):
        compare(WALK, strides(9, 20), **given, out=tmp_path / "cut", progress=stop)
    played.clear()
    again = compare(
        WALK,
        strides(9, 20),
        **given,
        out=tmp_path / "cut",
        progress=lambda *n: played.append(n),
    )
    assert played[0] == (120, 120)
    assert again.rows == whole.rows
    for name in ("rows.csv", "rows.jsonl"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_wrong_wishes_are_refused() -> None:
    """Before anything is played; the text says what is possible."""
    for wrong in (0, float("inf"), "abc", "-5%", None):
        with pytest.raises(UsageError, match="write a share of the mean such as 5%"):
            read_goal(wrong)  # type: ignore[arg-type]
    for options, text in [
        ({"seeds": range(60), "max_seeds": 10}, "first batch has 60 seeds"),
        ({"seeds": []}, "no seed was given"),
        ({"max_seeds": 10**11}, "more than 10,000,000 episodes were asked for"),
        ({"score_range": "3"}, "range '3' was given; write LOW:HIGH"),
    ]:
        with pytest.raises(UsageError, match=re.escape(text)):
            compare(WALK, STRIDE, until=1.0, **options)  # type: ignore[arg-type]
    # Differences would lie within the range.
    with pytest.raises(UsageError, match="declare a range that holds all values"):
        compare(WALK, strides(3, 4), until=1.0, score_range=(1_000, 2_000))
    with pytest.raises(UsageError, match="a share is one of each mean"):
        compare(WALK, strides(3, 4), until="5%", against=strides(3)[0])
