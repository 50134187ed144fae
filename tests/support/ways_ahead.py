"""Ways in which a look ahead is played, for tests that hold them equal."""

from functools import partial
from math import inf
from types import ModuleType
from typing import Any

import pytest

from desim.episodes.ahead import child_process
from desim.episodes.ahead.child_process import FasterWay, in_child


def always_repeats(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Let a module repeat the past for all scores."""
    monkeypatch.setattr(module, "FasterWay", partial(FasterWay, tried_from=inf))


def always_forks(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[Any]:
    """Let a module play all scores in child processes; return what these return, as it comes."""
    found: list[Any] = []

    def kept(score: Any) -> Any:
        found.append(in_child(score))
        return found[-1]

    # Other tests may have left idle threads.
    monkeypatch.setattr(child_process, "can_fork", lambda: True)
    monkeypatch.setattr(module, "FasterWay", partial(FasterWay, forks_from=0))
    monkeypatch.setattr(module, "in_child", kept)
    return found
