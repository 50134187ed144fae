"""The lines of a board: equal policies joined, each level of knowledge apart, failed ones last."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from attrs import define, field, frozen
from support.small_worlds import Go, Spot, Walk
from support.sweep_rows import row

from desim import Policy, Seat
from desim.core.reported import Figures
from desim.core.roles import Knowledge
from desim.rows.rows import Rows
from desim.studies.boards.ranking import BoardLine, ranked
from desim.studies.sweep import sweep


def rows(*, fixed: Sequence[str] = (), **scores: Any) -> Rows:
    """Rows with a score by seed for each policy; the ledger is the same where the score is."""
    same = {policy: {"deterministic": True} for policy in fixed}
    return Rows(
        row(
            policy,
            seed,
            score,
            ledger_digest=str(score),
            metrics={"asked": policy},
            **same.get(policy, {}),
        )
        for policy, each in scores.items()
        for seed, score in enumerate(each)
    )


def line(lines: list[BoardLine], policy: str) -> BoardLine:
    """Return the line of a policy."""
    return next(one for one in lines if policy in one.policies)


def test_policies_with_the_same_results_share_a_line() -> None:
    """Score, end and ledgers are the same on every seed; other metrics may differ."""
    lines = ranked(rows(a=[1, 2], b=[1, 2], c=[1, 3], d=[1, 2]))
    assert [one.policies for one in lines] == [("c",), ("a", "b", "d")]
    assert line(lines, "c").difference is None
    assert line(lines, "b").difference


def test_without_ledgers_all_metrics_count() -> None:
    """Two policies with one score may have played differently."""
    played = Rows(
        row(policy, 0, 5, metrics={"cost": cost})
        for policy, cost in {"a": 3, "b": 4, "c": 3}.items()
    )
    assert [one.policies for one in ranked(played)] == [("a", "c"), ("b",)]


def test_failed_policies_are_equal_to_no_other() -> None:
    """Two that always fail are two lines."""
    lines = ranked(rows(a=[None], b=[None], c=[1]))
    assert [one.policies for one in lines] == [("c",), ("a",), ("b",)]
    assert (line(lines, "a").estimate, line(lines, "c").difference) == (None, None)


def test_a_mean_without_the_failed_episodes_ranks_last() -> None:
    """However high it is: failing where the score is low must not pay."""
    lines = ranked(rows(quits=[None, 90, 99], works=[3, 4, 5], loses=[-9, -8, -7]))
    assert [one.policies for one in lines] == [("works",), ("loses",), ("quits",)]
    quits = line(lines, "quits")
    assert (quits.episodes, quits.failed, quits.ended) == (3, 1, {"horizon": 2, "failed": 1})
    assert (quits.estimate, quits.difference, quits.ranks) == (None, None, None)


def test_ranks_are_those_that_the_data_leave_possible() -> None:
    """The third is below both others; one that knows more is ranked apart."""
    played = rows(
        a=[10, 20, 30, 40] * 3,
        b=[11, 19, 31, 39.5] * 3,
        c=[1, 2, 3, 4] * 3,
        seer=[50, 60, 70, 80] * 3,
    )
    found = {one.name: (one.ranks, one.may_be_best) for one in ranked(played, {"seer": "future"})}
    assert found == {
        "b": ((1, 2), True),
        "a": ((1, 2), True),
        "c": ((3, 3), False),
        "seer": ((1, 1), True),
    }


def test_noise_moves_no_line_up() -> None:
    """A policy as bad as the worst that varies more has wider ranks, and the last line."""
    scores = {f"p{n}": [float(n), n + 1.0, n + 2.0, n + 1.0] for n in range(2, 6)}
    noisy = [-95.0, 105.0, -98.0, 87.9]
    lines = ranked(rows(**scores, worst=[1.0, 0, 1, 0], noisy=noisy))
    assert [one.name for one in lines[-2:]] == ["worst", "noisy"]
    assert line(lines, "noisy").ranks == (1, 6)
    assert line(lines, "worst").ranks == (3, 6)


def test_each_line_is_compared_with_the_best_of_the_others() -> None:
    """A constant difference is known exactly; the ends of the best are not below 0."""
    lines = ranked(rows(a=[5, 7, 9], b=[3, 5, 7], c=[1, 3, 5]))
    assert [one.to_best for one in lines] == [(0, 2), (-2, 0), (-4, 0)]
    assert [one.may_be_best for one in lines] == [True, False, False]


def test_one_seed_tells_nothing_apart() -> None:
    """Fixed policies have the same episode on every seed, so that two know their order."""
    assert [(one.ranks, one.to_best) for one in ranked(rows(a=[5], b=[7]))] == [((1, 2), None)] * 2
    known = ranked(rows(fixed=["a", "b"], a=[5, 5], b=[7, 7]))
    assert [(one.ranks, one.to_best) for one in known] == [((1, 1), (0, 2)), ((2, 2), (-2, 0))]


def test_seeds_that_share_a_case_count_once() -> None:
    """Twelve seeds of three cases tell as much as three seeds."""
    scores = {"a": [1.0, 5, 9] * 4, "b": [1.5, 4.5, 9.9] * 4}
    played = Rows(
        row(policy, seed, score, cluster=str(seed % 3), ledger_digest=str(score))
        for policy, each in scores.items()
        for seed, score in enumerate(each)
    )
    once = rows(a=[1, 5, 9], b=[1.5, 4.5, 9.9])
    for clustered, plain in zip(ranked(played), ranked(once), strict=True):
        assert clustered.estimate
        assert plain.estimate
        assert clustered.estimate.half == pytest.approx(plain.estimate.half)
        assert clustered.to_best == pytest.approx(plain.to_best)
        assert (clustered.estimate.n, clustered.to_tell) == (12, plain.to_tell)


def test_each_level_of_knowledge_is_ranked_alone() -> None:
    """In the order of the levels; policies are joined with those that know as much."""
    played = rows(seer=[9, 9], b=[4, 4], a=[5, 5], planner=[7, 7], tables=[5, 5], probe=[6, 6])
    levels: dict[str, Knowledge] = {"seer": "future", "planner": "rules", "tables": "rules"}
    lines = ranked(played, {**levels, "probe": "state"})
    assert [(one.name, one.knows, one.ranks) for one in lines] == [
        ("a", "observation", (1, 1)),
        ("b", "observation", (2, 2)),
        ("planner", "rules", (1, 1)),
        ("tables", "rules", (2, 2)),
        ("probe", "state", (1, 1)),
        ("seer", "future", (1, 1)),
    ]


def test_a_fixed_policy_is_compared_on_every_seed() -> None:
    """Its score is that of every seed, so a difference to it is known for each."""
    played = rows(fixed=["plain", "other"], plain=[10] * 3, draws=[7, 9, 13], other=[12] * 3)
    lines = ranked(played)
    assert [one.name for one in lines] == ["other", "plain", "draws"]
    found = line(lines, "draws").difference
    assert found
    assert (found.paired.mean, found.paired.n) == (pytest.approx(29 / 3 - 12), 3)
    assert line(lines, "plain").ranks == (2, 3)


def test_a_policy_on_fewer_seeds_is_compared_on_these() -> None:
    """Unlike a fixed one, its one score says nothing of the other seeds."""
    found = line(ranked(rows(all=[1, 5, 9], slow=[2])), "slow").difference
    assert found
    assert (found.paired.mean, found.paired.n) == (1.0, 1)


SEEDS = range(12)


@define
class Twin(Policy):
    """Walks far, but back on every third seed."""

    needs_world_seed = True

    seed: int = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Keep the world's seed."""
        self.seed = seat.world_seed

    def decide(self, _spot: Spot) -> Go:
        """Take a long step."""
        return Go(40 if self.seed % 3 else -40)


class Crashes(Twin):
    """Does the same, but fails instead of walking back."""

    def decide(self, spot: Spot) -> Go:
        """Take a long step, or fail."""
        if super().decide(spot).places < 0:
            raise ValueError("not this one")
        return Go(40)


@frozen
class Bounded(Walk):
    """A walk that declares its lowest score."""

    figures: ClassVar[Figures] = Figures(score_range=(-400.0, None))


@pytest.mark.parametrize("model", [Walk(), Bounded()])
def test_a_policy_that_crashes_ranks_below_its_twin(model: Walk) -> None:
    """On the board and in the table of a sweep."""
    rows = sweep(model, [Crashes, Twin], SEEDS)
    crashes, twin = rows.groups("policy")
    assert len(rows.failed) == 4
    lines = ranked(rows)
    assert [one.policies for one in lines] == [twin, crashes]
    assert (lines[1].failed, lines[1].ended["failed"]) == (4, 4)
    one, other = rows.table(against=twin[0]).lines
    assert (one.group, one.failed, other.failed) == (crashes, 4, 0)
    assert other.estimate is not None
    if isinstance(model, Bounded):
        assert one.estimate is not None
        assert one.estimate.mean < other.estimate.mean
    else:
        assert one.estimate is one.difference is lines[1].ranks is None


def answered() -> Rows:
    """Two policies that answer three items on two seeds."""
    right = {"a": [(1, 0, 1), (1, 1, 0)], "b": [(0, 0, 0), (1, 0, 0)]}
    return Rows(
        row(policy, seed, sum(each) / 3, items={f"i{n}": [x, bool(x)] for n, x in enumerate(each)})
        for policy, of_seeds in right.items()
        for seed, each in enumerate(of_seeds)
    )


def test_scores_of_worlds_with_items_rest_on_the_items() -> None:
    """Further seeds repeat them; an episode that failed counts with the worst score."""
    first, second = ranked(answered())
    assert first.estimate
    assert (first.sample.unit, first.estimate.n) == ("items", 3)
    assert first.sample.values == {"i0": 1, "i1": 0.5, "i2": 0.5}
    assert second.difference
    assert second.difference.paired.n == 3
    failed = Rows([*answered(), row("b", 2, None, worst_score=0.0)])
    assert ranked(failed)[1].sample.values == {"i0": pytest.approx(1 / 3), "i1": 0, "i2": 0}
    table = answered().table()
    assert "intervals are over 3 items; seeds only repeat these" in table.notes
    assert table.lines[0].estimate == first.estimate
