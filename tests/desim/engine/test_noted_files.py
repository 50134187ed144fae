"""Data files that a policy opens itself determine the rows of a sweep, as its code does."""

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.small_worlds import Walk

from desim import sweep
from desim.engine.opened_files import noting, opened_by
from desim.errors import UsageError
from desim.rows.rows import Rows

MODEL = Walk(wind=2.0)
SEEDS = range(6)

#: A policy that reads its step from a file: when it is imported, built, at its first decision of
#: the process, or at each.
SOURCE = """
import json, pathlib
from desim import Policy
from functools import cache
from support.small_worlds import Go

DATA = pathlib.Path({data!r})

def read():
    return json.loads(DATA.read_text())["size"]

AT_IMPORT = read()
once = cache(read)

class Imported(Policy):
    def decide(self, _spot): return Go(AT_IMPORT)

class Built(Policy):
    def __init__(self): self.size = read()
    def decide(self, _spot): return Go(self.size)

class Cached(Policy):
    def decide(self, _spot): return Go(once())

class Reads(Policy):
    def decide(self, _spot): return Go(read())

class Writes(Policy):
    def decide(self, _spot):
        log = DATA.with_name("log.txt")
        if not log.exists(): log.write_text("a")
        with log.open("a") as file: file.write("b")
        return Go(len(log.read_text()) > 0)
"""

_names = (f"reads_data_{number}" for number in itertools.count())


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of these policies beside its data; its name."""
    name, data = next(_names), tmp_path / "data.json"
    data.write_text('{"size": 2}')
    (tmp_path / f"{name}.py").write_text(SOURCE.format(data=str(data)))
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def edit(folder: Path) -> None:
    """Change the data."""
    (folder / "data.json").write_text('{"size": 30}')


#: When the data are read, and where the policy plays.
EDITED: list[tuple[str, dict[str, Any]]] = [
    ("Imported", {"jobs": 2}),
    ("Built", {"jobs": 1}),
    ("Cached", {"executor": "processes=1"}),
    ("Reads", {"jobs": 2}),
]


@pytest.mark.parametrize(("policy", "where"), EDITED)
def test_rows_of_edited_data_are_not_mixed(
    module: str, policy: str, where: dict[str, Any], tmp_path: Path
) -> None:
    """A sweep goes on as long as the data are the same, and is refused once they have changed."""
    spec, out = f"{module}:{policy}", tmp_path / "out"
    first = sweep(MODEL, spec, SEEDS, out=out, **where)
    assert sweep(MODEL, spec, SEEDS, out=out, **where) == first
    edit(tmp_path)
    text = rf"rows of other code or data \(changed: file {tmp_path}/data.json\)"
    with pytest.raises(UsageError, match=text):
        sweep(MODEL, spec, SEEDS, out=out, **where)
    assert Rows.read(out) == first
    (tmp_path / "data.json").unlink()
    with pytest.raises(UsageError, match=r"changed: .*data\.json"):
        sweep(MODEL, spec, SEEDS, out=out, **where)


def test_each_sweep_has_the_files_of_its_own_policies(module: str, tmp_path: Path) -> None:
    """Also where an earlier one has read and kept them; another policy's edited data are no bar."""
    one, other, plain = (tmp_path / name for name in ("one", "other", "plain"))
    for out in (one, other):
        sweep(MODEL, f"{module}:Cached", SEEDS, out=out)
    sweep(MODEL, "random", SEEDS, out=plain)
    edit(tmp_path)
    for out in (one, other):
        with pytest.raises(UsageError, match=r"changed: .*data\.json"):
            sweep(MODEL, f"{module}:Cached", SEEDS, out=out)
    assert len(sweep(MODEL, "random", SEEDS, out=plain)) == len(SEEDS)


def test_data_that_change_while_a_sweep_plays_end_it(module: str, tmp_path: Path) -> None:
    """The rows before are kept, and none of the new data is added."""

    def changing(done: int, _total: int) -> None:
        if done:
            edit(tmp_path)

    slow: Any = {"set": {"steps": [3, 4]}, "jobs": 1, "out": tmp_path / "out"}
    with pytest.raises(UsageError, match=r"changed: .*data\.json"):
        sweep(MODEL, f"{module}:Reads", range(3_000), progress=changing, **slow)
    scores = set(map(repr, Rows.read(tmp_path / "out").column("policy")))
    assert scores == {repr(f"{module}:Reads")}


def test_what_a_policy_writes_is_no_data(module: str, tmp_path: Path) -> None:
    """A log that it writes and reads may change between two calls."""
    spec = f"{module}:Writes"
    first = sweep(MODEL, spec, SEEDS, jobs=2, out=tmp_path / "out")
    (tmp_path / "log.txt").write_text("another")
    assert sweep(MODEL, spec, SEEDS, jobs=2, out=tmp_path / "out") == first


def test_kept_workers_start_anew_for_edited_data(module: str, tmp_path: Path) -> None:
    """They would hold what they have read before."""
    before = sweep(MODEL, f"{module}:Cached", SEEDS, jobs=2).column("score")
    edit(tmp_path)
    after = sweep(MODEL, f"{module}:Cached", SEEDS, jobs=2).column("score")
    assert before != after


def test_files_that_are_opened_elsewhere_are_not_noted(tmp_path: Path) -> None:
    """Only while models and policies are imported, built and played."""
    (tmp_path / "other.txt").write_text("x")
    assert (tmp_path / "other.txt").read_text() == "x"
    assert os.fspath(tmp_path / "other.txt") not in opened_by([edit])


def test_the_code_that_asks_for_a_play_did_not_open_its_files(tmp_path: Path) -> None:
    """A file counts for the modules inside the play, not for the script that calls the sweep."""
    data = tmp_path / "data.json"
    data.write_text("1")
    rule: dict[str, object] = {"__name__": "elsewhere.rule"}
    exec("def read(path):\n    with open(path) as file:\n        return file.read()", rule)  # noqa: S102 (a module)
    with noting():
        assert rule["read"](data) == "1"  # type: ignore[operator]
    assert str(data) in opened_by([rule["read"]])
    assert str(data) not in opened_by([edit])
