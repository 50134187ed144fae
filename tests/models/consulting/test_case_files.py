"""Case files: what a folder may hold, what is refused with which sentence, what records keep."""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict
from support.interviews import BAKERY

from desim import Episode, play, replay
from models.consulting import Consulting
from models.consulting.case_file import MOST_BYTES, MOST_CASES

PLAIN: dict[str, Any] = {k: v for k, v in asdict(BAKERY).items() if v is not None}


def folder(path: Path, *cases: dict[str, Any] | str) -> str:
    """Write cases, or texts, as files of a folder."""
    for number, case in enumerate(cases):
        text = case if isinstance(case, str) else json.dumps(case)
        (path / f"{number:03d}.json").write_text(text, encoding="utf-8")
    return str(path)


def test_a_folder_is_read_in_the_order_of_the_ids(tmp_path: Path) -> None:
    """Other files are left alone, and a case without an id is named after its file."""
    (tmp_path / "notes.txt").write_text("not a case")
    nameless = {key: value for key, value in PLAIN.items() if key != "id"}
    cases = Consulting(cases=folder(tmp_path, PLAIN, nameless)).loaded_cases
    assert [case.id for case in cases] == ["001", "bakery"]
    assert cases[1] == BAKERY


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{", "line 1"),
        ("[]", "object"),
        ('{"opening": "a", "opening": "b"}', "the key 'opening' comes twice"),
        ({**PLAIN, "gatd": []}, "did you mean 'gated'"),
        ({**PLAIN, "length": "huge"}, "'huge'"),
        ({**PLAIN, "gated": [{"topic": "price"}]}, r"`\$.gated\[0\]`"),
        ({**PLAIN, "gated": 2 * [{"topic": "price", "fact": "9"}]}, "'price' twice"),
        ({**PLAIN, "gated": [{"topic": " ", "fact": "9"}]}, "not empty"),
        ({**PLAIN, "rubric": {"numbers": [{"name": "a", "value": "9"}]}}, r"numbers\[0\].value"),
        ({**PLAIN, "rubric": {"drivers": [[]]}}, "drivers"),
        ({"id": "empty"}, "needs an opening"),
        ({**PLAIN, "open": "\ud83d"}, "surrogate pair"),
        ('{"opening": "' + "a" * MOST_BYTES + '"}', "1,000,000 bytes"),
        ("[" * 100_000, "000.json"),
    ],
    ids=range(14),
)
def test_a_fault_is_one_sentence_with_the_file(tmp_path: Path, given: Any, expected: str) -> None:
    """And with the path inside it, where there is one."""
    with pytest.raises(ValueError, match=expected) as fault:
        Consulting(cases=folder(tmp_path, given))
    assert "000.json" in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_folder_has_limits(tmp_path: Path) -> None:
    """Of cases, each with an id of its own; and it must exist and hold one."""
    with pytest.raises(ValueError, match="holds no case file"):
        Consulting(cases=str(tmp_path))
    with pytest.raises(ValueError, match="'bakery'; an id is used once"):
        Consulting(cases=folder(tmp_path, PLAIN, PLAIN))
    with pytest.raises(ValueError, match=f"the limit is {MOST_CASES}"):
        Consulting(cases=folder(tmp_path, *["{}"] * (MOST_CASES + 1)))
    with pytest.raises(ValueError, match="cannot read the folder"):
        Consulting(cases=str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"case": "bakry", "cases": (BAKERY,)}, "did you mean 'bakery'"),
        ({"cases": 3}, "folder of case files"),
        ({"cases": (BAKERY, BAKERY)}, "used once"),
        ({"messages": 0}, "messages"),
        ({"messages": True}, "whole number"),
        ({"speaking_speed": 0.5}, "0 for no duration, or 1 to 10,000"),
        ({"reading_speed": float("nan")}, "finite"),
        ({"judges": 10}, "judges"),
        ({"score_of": "best"}, "score_of"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(params: dict[str, Any], expected: str) -> None:
    """With what was given and what is possible."""
    with pytest.raises(ValueError, match=expected):
        Consulting(**params)


def test_a_record_holds_the_cases_and_replays_without_the_folder(tmp_path: Path) -> None:
    """So it is complete, and opens nothing; the shipped cases are named by nothing."""
    given = folder(tmp_path, PLAIN)
    model, file = Consulting(cases=given), tmp_path / "played.jsonl"
    assert Consulting.files({"cases": given}) == [given]
    played = play(model, {"candidate": "greedy"}, record=file)
    for each in tmp_path.glob("*.json"):
        each.unlink()
    assert replay(file) == Episode.read(file)
    assert played.header.params["cases"][0]["id"] == "bakery"
    assert not Consulting.files(play(Consulting(), {"candidate": "greedy"}).header.params)
