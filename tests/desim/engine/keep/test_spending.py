"""What a suite has spent: kept through kills, refused where it cannot be kept."""

import os
from pathlib import Path

import pytest

from desim.engine.keep.budget import MoneyLimit
from desim.engine.keep.spending import JobBudget, SpendingFile
from desim.errors import LimitReached, WriteFailed


def test_lines_that_are_none_are_skipped(tmp_path: Path) -> None:
    """One that a kill has cut, garbage, and amounts that would give money back."""
    path = tmp_path / "spent.jsonl"
    with SpendingFile(path) as spent:
        spent.add("a", calls=1)
        spent.add("a", cost=0.5)
        spent.add("b", calls=1, cost=0.25)
    path.write_bytes(path.read_bytes() + b'\n{"job": "a", "ca')
    with SpendingFile(path) as spent:
        spent.add("b", cost=0.25)
    odd = [b"[1]", b'{"job": "a", "cost": -9}', b'{"job": "a", "calls": -9}', b'{"cost": 1e999}']
    path.write_bytes(path.read_bytes() + b"\n" + b"\n".join(odd))
    spent = SpendingFile(path, write=False)
    assert (spent.calls(), spent.cost(), spent.cost("b")) == (2, 1.0, 0.5)


def test_nothing_is_spent_that_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or a command that has stopped, refuses the call before it is made."""
    with SpendingFile(tmp_path / "spent.jsonl") as spent:
        budget = JobBudget(job="a", spent=spent)
        budget.calls += 1
        monkeypatch.setattr(os, "write", lambda _, line: len(line) - 1)
        with pytest.raises(WriteFailed, match="no space left"):
            budget.calls += 1
        monkeypatch.undo()
    with pytest.raises(WriteFailed, match="the command has stopped"):
        budget.calls += 1
    assert budget.calls == 1


def test_a_shared_limit_names_itself(tmp_path: Path) -> None:
    """It counts what all jobs have spent."""
    with SpendingFile(tmp_path / "spent.jsonl") as spent:
        limit = MoneyLimit("max_cost", 1.0, spent.cost)
        first, second = (JobBudget(job=name, spent=spent, shared=(limit,)) for name in "ab")
        first.cost += 0.6
        second.check()
        second.cost += 0.6
        with pytest.raises(LimitReached, match="max_cost = 1 is spent"):
            first.check()
