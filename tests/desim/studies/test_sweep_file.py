"""Sweeps described by options or a TOML file."""

from pathlib import Path

import pytest
from support.small_worlds import STRIDE, WALK

from desim import sweep
from desim.errors import UsageError
from desim.studies.options import SweepSpec
from desim.studies.sweep import read_config, read_entries, read_seeds

FILE = f"""
model = "{WALK}"
policies = ["{STRIDE}", {{walker = "{STRIDE}", helper = "greedy"}}]
seeds = "0:3"
set.steps = [2, 4]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A sweep in a file."""
    (tmp_path / "walk.toml").write_text(FILE)
    return str(tmp_path / "walk.toml")


def test_a_file_holds_a_sweep(file: str) -> None:
    """Each entry of its list of policies is one way to play."""
    rows = sweep(**read_config(SweepSpec(file)))
    assert len(rows) == 2 * 2 * 3
    assert list(rows.groups("policy")) == [(STRIDE,), (f"walker={STRIDE} helper=greedy",)]


def test_a_file_may_come_from_an_editor_of_windows(tmp_path: Path, file: str) -> None:
    """With a byte order mark, and a carriage return in each line end."""
    Path(file).write_text(FILE, "utf-8-sig", newline="\r\n")
    (tmp_path / "plain.toml").write_text(FILE)
    plain = read_config(SweepSpec(str(tmp_path / "plain.toml")))
    assert read_config(SweepSpec(file)) == plain


def test_options_take_precedence_over_a_file(file: str) -> None:
    """Parameters are added; policies and seeds replace those of the file."""
    options = {"preset": "long", "set": {"wind": "0,1"}, "policies": ["random"], "seeds": "5"}
    assert read_config(SweepSpec(file, **options)) == {
        "model": WALK,
        "preset": "long",
        "policies": ["random"],
        "seeds": [5],
        "set": {"steps": [2, 4], "wind": ["0", "1"]},
        "design": None,
    }


@pytest.mark.parametrize(
    ("texts", "entries"),
    [
        ([], []),
        (["greedy"], ["greedy"]),
        (["greedy", "x,k=1e+5"], ["greedy", "x,k=1e+5"]),
        (["greedy", "a=x"], ["greedy", {"a": "x"}]),
        (["a=x,k=1"], [{"a": "x,k=1"}]),
        (["a=x", "b=y"], [{"a": "x", "b": "y"}]),
        (["a=x,k=1+b=y", "c=z"], [{"a": "x,k=1", "b": "y", "c": "z"}]),
        (["a=x", "a=y"], [{"a": "x"}, {"a": "y"}]),
        (["a=x+b=y", "a=x+b=z"], [{"a": "x", "b": "y"}, {"a": "x", "b": "z"}]),
        (["a=x", "a=y+b=z"], [{"a": "x"}, {"a": "y", "b": "z"}]),
    ],
)
def test_different_roles_are_one_way_to_play(texts: list[str], entries: list[object]) -> None:
    """Several texts for one role are several ways, as are texts without a role."""
    assert read_entries(texts) == entries


@pytest.mark.parametrize(
    "texts", [["a=x", "a=y", "b=z"], ["greedy", "a=x", "b=y"], ["a=x+b=y", "b=x", "a=z"]]
)
def test_policies_that_may_be_read_in_two_ways_are_refused(texts: list[str]) -> None:
    """The error says what was given and how to write either reading."""
    with pytest.raises(UsageError) as refused:
        read_entries(texts)
    given = " ".join(f"--policy {text}" for text in texts)
    assert str(refused.value) == (
        f"{given} may be read as one way to play or as several; join the roles of each way with +, "
        "as in --policy a=SPEC+b=SPEC, or list the ways in a TOML file"
    )


def test_a_role_is_named_once_in_one_way() -> None:
    """`+` cannot join two policies of one role."""
    with pytest.raises(UsageError, match="two policies for 'a' were given; a role takes one"):
        read_entries(["a=x+a=y"])


def test_seeds_are_a_range_or_a_list() -> None:
    """The end of a range is left out; no text stands for 20 seeds."""
    assert read_seeds("3:5") == range(3, 5)
    assert read_seeds("7,1") == [7, 1]
    assert read_seeds("") == range(20)
    with pytest.raises(UsageError, match=r"seeds '1-3' were given; write A:B \(without B\) or"):
        read_seeds("1-3")
    with pytest.raises(UsageError, match="seeds '5:2' were given; in A:B, A is below B"):
        read_seeds("5:2")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (None, r"cannot read .*walk\.toml: No such file"),
        ("model = ", r"walk\.toml describes no sweep: "),
        ("model = 3", r"walk\.toml describes no sweep: "),
        ('model = "a"\nseed = 3', r"walk\.toml describes no sweep: .*seed"),
    ],
)
def test_a_file_without_a_sweep_is_refused(tmp_path: Path, text: str | None, error: str) -> None:
    """The error names the file."""
    path = tmp_path / "walk.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=error):
        read_config(SweepSpec(str(path)))
