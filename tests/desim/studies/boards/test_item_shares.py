"""Shares of items answered right: by group, with intervals over the items."""

import pytest
from support.sweep_rows import row

from desim.rows.rows import Rows
from desim.statistics.clusters import clustered_share
from desim.studies.boards.ranking import item_shares, item_table, ranked

GROUPS = {"i0": ("easy",), "i1": ("easy", "alone"), "i2": ()}


def rows() -> Rows:
    """Two policies that answer three items on two seeds."""
    right = {"a": [(1, 0, 1), (1, 1, 0)], "b": [(0, 0, 0), (1, 0, 0)]}
    return Rows(
        row(policy, seed, sum(each) / 3, items={f"i{n}": [x, bool(x)] for n, x in enumerate(each)})
        for policy, of_seeds in right.items()
        for seed, each in enumerate(of_seeds)
    )


def test_an_item_counts_once_however_often_it_was_answered() -> None:
    """A group of a single item has no share, and no line."""
    found = item_shares(rows(), GROUPS)
    assert [*found] == ["all", "easy"]
    whole = found["all"]["a"]
    assert whole == clustered_share([1, 0, 1, 1, 1, 0], "012012")
    assert (whole.n, whole.clusters, whole.mean) == (6, 3, pytest.approx(2 / 3))
    table = item_table(rows(), GROUPS, ["a", "b"])
    assert [line[:2] for line in table.texts] == [["all", "3"], ["easy", "2"]]
    assert table.texts[1][2].startswith("0.75 [")


def test_scores_of_worlds_with_items_rest_on_the_items() -> None:
    """Further seeds repeat them; an episode that failed counts with the worst score."""
    first, second = ranked(rows())
    assert first.estimate
    assert (first.sample.unit, first.estimate.n) == ("items", 3)
    assert first.sample.values == {"i0": 1, "i1": 0.5, "i2": 0.5}
    assert second.difference
    assert second.difference.paired.n == 3
    failed = Rows([*rows(), row("b", 2, None, worst_score=0.0)])
    assert ranked(failed)[1].sample.values == {"i0": pytest.approx(1 / 3), "i1": 0, "i2": 0}
    table = rows().table()
    assert "intervals are over 3 items; seeds only repeat these" in table.notes()
    assert table.lines[0].estimate == first.estimate
