"""Stored predictions: the file's format, its faults, and the division of items."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.router_items import item, items

from desim.errors import BadRecord
from desim.schema import encode
from policies.llm.router.predictions import Item, Prediction, read_items, shuffled_in_turn
from policies.llm.router.situation import Features

LINE: dict[str, Any] = {"id": "a", "task": "t", "predictions": {"cot": {"correct": True}}}
OTHER = LINE | {"id": "b"}


def stored(path: Path, *lines: Any) -> Path:
    """Write lines, each a text, bytes or an object, to a file."""
    texts = [each if isinstance(each, str | bytes) else json.dumps(each) for each in lines]
    whole = b"\n".join(each if isinstance(each, bytes) else each.encode() for each in texts)
    path.write_bytes(whole)
    return path


def test_items_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Every field; the file may be gzipped, hold empty lines, and lack what is not required."""
    made = [*items(5), item("x", bucket="easy")]
    assert read_items(stored(tmp_path / "items.jsonl", *map(encode, made))) == made
    path = tmp_path / "items.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n\n" + json.dumps(LINE).encode() + b"\n \n"))
    assert read_items(path) == [Item("a", "t", {"cot": Prediction(correct=True)})]


def test_methods_are_read_under_their_canonical_names(tmp_path: Path) -> None:
    """So that rules, files and live methods agree."""
    line = LINE | {"predictions": {"dc": {"correct": True}, "self-refine": {"correct": False}}}
    (found,) = read_items(stored(tmp_path / "f", line))
    assert list(found.predictions) == ["dynamic_cheatsheet", "self_refine"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "Expecting property name"),
        ("[]", "Expected `object`, got `array`"),
        (b"\xff\xfe", "decode byte 0xff"),
        ('{"id": "\\ud800", "task": "t", "predictions": {}}', "surrogate"),
        ({"id": "a"}, "missing required field `task`"),
        (OTHER | {"id": ""}, "length >= 1 - at `$.id`"),
        (OTHER | {"bukket": "easy"}, "did you mean 'bucket'?"),
        (OTHER | {"bucket": "NA"}, "'NA' - at `$.bucket`"),
        (OTHER | {"predictions": {"cot": {"correct": 1}}}, "Expected `bool`, got `int`"),
        ('{"id": "a", "task": "t", "predictions": ' + "[" * 10**5, "more than 100 levels"),
        (LINE, "the id 'a' comes again"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bad_line_is_named(tmp_path: Path, line: Any, why: str) -> None:
    """File, line and what is wrong; nothing is returned."""
    path = stored(tmp_path / "items.jsonl", LINE, "", line)
    with pytest.raises(BadRecord) as raised:
        read_items(path)
    assert str(raised.value).startswith(f"{path}, line 3: ")
    assert why in str(raised.value)


def test_a_file_without_items_is_an_error(tmp_path: Path) -> None:
    """So is one that does not exist, and a folder."""
    for path in (stored(tmp_path / "f", "", " "), tmp_path / "none", tmp_path):
        with pytest.raises(BadRecord, match=str(path)):
            read_items(path)


def test_a_situation_holds_neither_gold_nor_predictions() -> None:
    """Features come from the text; without one there are none."""
    made = item("a", question="1", context="| 2", gold="GOLD", capability="c")
    assert "GOLD" not in repr(made.situation)
    assert "says" not in repr(made.situation)
    assert made.situation.features == Features(1, 3, 2, has_table=True, table_row_estimate=1)
    assert item("a").situation.features is None


@pytest.mark.parametrize(("most", "taken"), [(0, ""), (2, "ab"), (4, "abca"), (9, "abcacc")])
def test_groups_take_turns(most: int, taken: str) -> None:
    """A group that is used up is passed over; an empty one is none."""
    groups = {1: "aa", 2: "", 3: "b", 4: "ccc"}
    assert "".join(shuffled_in_turn(groups, str, most)) == taken


def test_the_order_in_a_group_depends_on_the_keys_alone() -> None:
    """Whatever the order of the values."""
    orders = {"".join(shuffled_in_turn({"": v}, str, 99)) for v in ("abcdef", "fedcba")}
    assert len(orders) == 1
    assert orders != {"abcdef"}
