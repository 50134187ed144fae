"""The lines of a board: equal policies joined, each level of knowledge apart, failed ones last."""

from typing import Any

from support.sweep_rows import row

from desim.core.roles import Knowledge
from desim.jobs.rows.rows import Rows
from desim.studies.boards.ranking import BoardLine, ranked


def rows(**scores: Any) -> Rows:
    """Rows with a score by seed for each policy; the ledger is the same where the score is."""
    return Rows(
        row(policy, seed, score, ledger_digest=str(score), metrics={"asked": policy})
        for policy, each in scores.items()
        for seed, score in enumerate(each)
    )


def line(lines: list[BoardLine], policy: str) -> BoardLine:
    """Return the line of a policy."""
    return next(one for one in lines if policy in one.policies)


def test_policies_with_the_same_results_share_a_line() -> None:
    """Score, end and ledgers are the same on every seed; other metrics may differ."""
    lines = ranked(rows(a=[1, 2], b=[1, 2], c=[1, 3], d=[1, 2]), "b")
    assert [one.policies for one in lines] == [("c",), ("a", "b", "d")]
    assert line(lines, "b").difference is None
    assert line(lines, "c").difference


def test_without_ledgers_all_metrics_count() -> None:
    """Two policies with one score may have played differently."""
    played = Rows(
        row(policy, 0, 5, metrics={"cost": cost})
        for policy, cost in {"a": 3, "b": 4, "c": 3}.items()
    )
    assert [one.policies for one in ranked(played, "a")] == [("a", "c"), ("b",)]


def test_failed_policies_are_equal_to_no_other() -> None:
    """Two that always fail are two lines."""
    lines = ranked(rows(a=[None], b=[None], c=[1]), "a")
    assert [one.policies for one in lines] == [("c",), ("a",), ("b",)]
    assert (line(lines, "a").estimate, line(lines, "c").difference) == (None, None)


def test_a_mean_without_the_failed_episodes_ranks_last() -> None:
    """However high it is: failing where the score is low must not pay."""
    lines = ranked(rows(quits=[None, 90, 99], works=[3, 4, 5], loses=[-9, -8, -7]), "works")
    assert [one.policies for one in lines] == [("works",), ("loses",), ("quits",)]
    quits = line(lines, "quits")
    assert (quits.episodes, quits.failed, quits.ended) == (3, 1, {"horizon": 2, "failed": 1})
    assert (quits.estimate, quits.difference, quits.rank) == (None, None, None)


def test_failed_episodes_count_with_the_worst_score() -> None:
    """Where the model declares one, a policy that crashes ranks below its twin that does not."""
    scores = [float(seed % 7) for seed in range(40)]
    played = Rows(
        row(policy, seed, None if policy == "crashes" and score < 3 else score, worst_score=-9.0)
        for policy in ("crashes", "twin")
        for seed, score in enumerate(scores)
    )
    lines = ranked(played, "twin")
    assert [(one.policies, one.rank) for one in lines] == [(("twin",), 1), (("crashes",), 2)]
    assert line(lines, "crashes").failed == sum(score < 3 for score in scores)


def test_lines_that_nothing_tells_apart_share_a_rank() -> None:
    """The third is below both others; one that knows more is ranked apart."""
    played = rows(
        a=[10, 20, 30, 40] * 3,
        b=[11, 19, 31, 39.5] * 3,
        c=[1, 2, 3, 4] * 3,
        seer=[50, 60, 70, 80] * 3,
    )
    lines = ranked(played, "a", {"seer": "future"})
    assert {one.policies[0]: one.rank for one in lines} == {"b": 1, "a": 1, "c": 3, "seer": 1}


def test_one_seed_tells_nothing_apart_unless_it_stands_for_all() -> None:
    """Fixed policies have the same episode on every seed, so their order is known."""
    played = rows(a=[5], b=[7])
    assert [one.rank for one in ranked(played, "a")] == [1, 1]
    assert [one.rank for one in ranked(played, "a", fixed=["a", "b"])] == [1, 2]


def test_each_level_of_knowledge_is_ranked_alone() -> None:
    """In the order of the levels; policies are joined with those that know as much."""
    played = rows(seer=[9, 9], b=[4, 4], a=[5, 5], planner=[7, 7], tables=[5, 5], probe=[6, 6])
    levels: dict[str, Knowledge] = {"seer": "future", "planner": "rules", "tables": "rules"}
    lines = ranked(played, "a", {**levels, "probe": "state"}, fixed=[*levels, "a", "b", "probe"])
    assert [(one.name, one.knows, one.rank) for one in lines] == [
        ("a", "observation", 1),
        ("b", "observation", 2),
        ("planner", "rules", 1),
        ("tables", "rules", 2),
        ("probe", "state", 1),
        ("seer", "future", 1),
    ]


def test_a_fixed_policy_is_compared_on_every_seed() -> None:
    """Its one score is that of every seed, so a difference to it is known for each."""
    played = rows(fixed=[10], draws=[7, 9, 14], other=[12])
    for reference, of, mean, n in [
        ("fixed", "draws", 0.0, 3),
        ("draws", "fixed", 0.0, 3),
        ("fixed", "other", 2.0, 1),
    ]:
        lines = ranked(played, reference, fixed=["fixed", "other"])
        found = line(lines, of).difference
        assert found
        paired = found.paired
        assert (paired.mean, paired.n, paired.low is None) == (mean, n, n == 1)


def test_a_policy_on_fewer_seeds_is_compared_on_these() -> None:
    """Unlike a fixed one, its one score says nothing of the other seeds."""
    found = line(ranked(rows(all=[1, 5, 9], slow=[2]), "all"), "slow").difference
    assert found
    assert (found.paired.mean, found.paired.n) == (1.0, 1)
