"""Policies over several worlds: normalised scores, failed episodes, and the table."""

import pytest
from support.sweep_rows import row

from desim.errors import UsageError
from desim.jobs.rows.rows import Rows
from desim.studies.boards.aggregate_scores import Scale, aggregate, normalised

SCALES = {"shop": Scale(0, 10), "port": Scale(-100, 100)}


def worlds() -> dict[str, Rows]:
    """Two worlds; one policy is not in the second one, and one fails on a seed."""
    shop = {"wise": [8, 9, 12, 10], "bold": [4, None, 5, 9], "local": [1, 1, 1, 1]}
    port = {"wise": [50, 60, 100], "bold": [-300, 0, 100]}
    return {
        world: Rows(
            row(p, seed, score) for p, each in all_.items() for seed, score in enumerate(each)
        )
        for world, all_ in {"shop": shop, "port": port}.items()
    }


def test_scores_are_clipped_neither_below_nor_above() -> None:
    """A failed episode counts with the lowest of the world, or 0 if none is below the floor."""
    rows = worlds()
    found = normalised(rows, SCALES)
    assert found["wise"]["shop"] == {0: 0.8, 1: 0.9, 2: 1.2, 3: 1.0}
    assert found["bold"] == {
        "shop": {0: 0.4, 1: 0.0, 2: 0.5, 3: 0.9},
        "port": {0: -1.0, 1: 0.5, 2: 1.0},
    }
    crashed = Rows([*rows["port"], row("crashes", 0, None), row("crashes", 1, 20)])
    assert normalised({"port": crashed}, SCALES)["crashes"]["port"] == {0: -1.0, 1: 0.6}


def test_episodes_of_one_seed_count_with_their_mean() -> None:
    """Several samples of a language model are no new seeds."""
    rows = Rows([row("a", 0, 2), row("a", 0, 4), row("a", 1, 10)])
    assert normalised({"shop": rows}, SCALES) == {"a": {"shop": {0: pytest.approx(0.3), 1: 1.0}}}


def test_each_seed_may_have_a_scale_of_its_own() -> None:
    """What is possible depends on luck; a seed without a scale is refused."""
    rows = {"shop": Rows([row("a", 0, 5), row("a", 1, 5), row("b", 1, None)])}
    scales = {0: Scale(0, 10), 1: Scale(4, 5)}
    assert normalised(rows, {"shop": scales}) == {
        "a": {"shop": {0: 0.5, 1: 1.0}},
        "b": {"shop": {1: 0.0}},
    }
    assert aggregate(rows, {"shop": scales}).lines[0].middle.value == pytest.approx(0.75)
    with pytest.raises(UsageError, match="seed 1 of 'shop' has no scale"):
        aggregate(rows, {"shop": {0: Scale(0, 10)}})


def test_policies_are_ordered_and_compared_with_the_reference() -> None:
    """The failed episodes are told, and who was left out."""
    table = aggregate(worlds(), SCALES, against="bold")
    wise, bold = table.lines
    assert (wise.policy, wise.episodes, wise.failed) == ("wise", 7, 0)
    assert (bold.policy, bold.episodes, bold.failed, bold.improvement) == ("bold", 7, 1, None)
    assert wise.improvement is not None
    # Of sixteen pairs in the shop the first wins 14.5, of nine in the port 6.5.
    assert wise.improvement.value == pytest.approx((14.5 / 16 + 6.5 / 9) / 2)
    assert wise.gap.value == pytest.approx((0.3 / 4 + 0.45 / 3) / 2)
    assert table.left_out == ("local",)
    heads, *lines = str(table).splitlines()
    assert heads.split()[:4] == ["policy", "n", "failed", "IQM"]
    assert "P(above bold)" in heads
    assert [line.split()[:3] for line in lines[:2]] == [["wise", "7", "0"], ["bold", "7", "1"]]
    assert lines[-4:-2] == [
        "failed: counts with the lowest normalised score of its world, or 0",
        "not in every world, so left out: local",
    ]


def test_seeds_with_the_same_episode_are_told() -> None:
    """They are no new evidence; without ledgers nothing is known of them."""
    rows = Rows(row("a", seed, 1 + seed % 2, ledger_digest=str(seed % 2)) for seed in range(6))
    table = aggregate({"shop": rows}, SCALES)
    assert table.repeated == {"a in shop": (6, 2)}
    assert "seeds with different episodes: a in shop (2 of 6)" in str(table)
    assert aggregate(worlds(), SCALES).repeated == {}


def test_equal_seeds_of_the_bootstrap_give_equal_tables() -> None:
    """And others do not."""
    assert aggregate(worlds(), SCALES, seed=1) == aggregate(worlds(), SCALES, seed=1)
    assert aggregate(worlds(), SCALES, seed=1) != aggregate(worlds(), SCALES, seed=2)


def test_a_policy_that_crashes_where_it_is_bad_is_below_its_twin() -> None:
    """Whatever the world declares."""
    scores = [float(seed % 7) for seed in range(28)]
    rows = Rows(
        row(policy, seed, None if policy == "crashes" and score < 3 else score)
        for policy in ("crashes", "twin")
        for seed, score in enumerate(scores)
    )
    first, last = aggregate({"shop": rows}, {"shop": Scale(0, 6)}, against="twin").lines
    assert (first.policy, last.policy, last.failed) == ("twin", "crashes", 12)
    assert last.improvement is not None
    assert last.improvement.value < 1 / 2


def test_what_cannot_be_aggregated_is_refused() -> None:
    """In one sentence."""
    rows = worlds()
    with pytest.raises(UsageError, match="no worlds were given"):
        aggregate({}, SCALES)
    with pytest.raises(UsageError, match="'shop' has no scale"):
        aggregate(rows, {"port": SCALES["port"]})
    with pytest.raises(UsageError, match="'shop' has no rows"):
        aggregate({"shop": Rows([])}, SCALES)
    with pytest.raises(UsageError, match="'local' is not in every world"):
        aggregate(rows, SCALES, against="local")
    with pytest.raises(UsageError, match="no policy was played in every world"):
        aggregate({"shop": rows["shop"].where(policy="local"), "port": rows["port"]}, SCALES)
    with pytest.raises(UsageError, match="level 2 was given"):
        aggregate(rows, SCALES, level=2)
    for floor, best in ((1, 1), (2, 1), (0, float("inf")), (float("nan"), 1)):
        with pytest.raises(UsageError, match="the best is above the floor"):
            Scale(floor, best)
