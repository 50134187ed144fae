"""Packed rows: the same as a list of rows, in a tenth of the memory."""

import pickle
from typing import Any

import msgspec
import pytest
from support.sweep_rows import row

from desim.rows.columns import PackedRows
from desim.rows.rows import Rows

#: More than two blocks.
MANY = 600


def plain(count: int = MANY) -> list[dict[str, Any]]:
    """Rows as mappings; some hold texts that look like the end of a line."""
    return [
        row("a\nb" if n % 7 else "ü", n, n / 3, metrics={"list": [n, None]}) for n in range(count)
    ]


def packed(rows: list[dict[str, Any]]) -> PackedRows:
    """The same rows, packed."""
    return PackedRows(map(msgspec.json.encode, rows))


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 512, MANY])
def test_packed_rows_are_the_rows(count: int) -> None:
    """Whatever the number of blocks: as a sequence and one by one, in any order."""
    rows = plain(count)
    kept = Rows(packed(rows))
    assert len(kept) == count
    assert list(kept) == rows
    assert [kept[n] for n in reversed(range(count))] == rows[::-1]
    assert [kept[-1 - n] for n in range(count)] == rows[::-1]


@pytest.mark.parametrize("index", [MANY, -MANY - 1, 10**30])
def test_an_index_beyond_the_end_is_an_error(index: int) -> None:
    """As that of a list."""
    with pytest.raises(IndexError):
        Rows(packed(plain()))[index]


@pytest.mark.parametrize(
    "part",
    [
        *(slice(None), slice(3, 9), slice(250, 520, 3), slice(-5, None), slice(None, None, -1)),
        *(slice(9, 3), slice(0, 0), slice(-(10**9), 10**9, 100)),
    ],
)
def test_slices_are_those_of_a_list(part: slice) -> None:
    """They hold no copies of the rows, and may be sliced again."""
    rows = plain()
    chosen = Rows(packed(rows))[part]
    assert list(chosen) == rows[part]
    assert len(chosen) == len(rows[part])
    assert list(chosen[1::2]) == rows[part][1::2]


def test_a_changed_row_changes_nothing() -> None:
    """Neither the packed rows nor what is read through them."""
    rows = Rows(packed(plain(5)))
    rows[2]["score"] = 1e9
    rows[2]["metrics"].clear()
    for each in rows:
        each.clear()
    assert rows == Rows(plain(5))
    assert rows.column("score") == [n / 3 for n in range(5)]


def test_rows_that_are_chosen_stay_packed() -> None:
    """Filters, groups and slices look the rows up where they are, and keep none of them."""
    rows = Rows(packed(plain()))
    groups = rows.groups("policy")
    for some in (rows.where(policy="ü"), rows.failed, rows[5:], *groups.values()):
        assert some._rows is rows._rows
    assert groups["ü",] == rows.where(policy="ü") == Rows(plain()[::7])
    assert rows.where(policy="ü")[1:3].column("seed") == [7, 14]
    assert rows.where(policy="ü").where(seed=14) == Rows([plain()[14]])


def test_packed_rows_can_be_pickled() -> None:
    """So that a script may keep them or send them to a process."""
    rows = Rows(packed(plain(300)))
    assert pickle.loads(pickle.dumps(rows[10:])) == rows[10:]  # noqa: S301 (made here)
