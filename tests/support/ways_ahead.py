"""Ways in which a look ahead is played, for tests that hold them equal."""

from functools import partial
from math import inf
from types import ModuleType
from typing import Any

import pytest

from desim.episodes.ahead import child_process, lane_mirror
from desim.episodes.ahead.child_process import FasterWay, in_child
from desim.lanes.lane_protocols import NoLanes


def no_lanes(*_: Any) -> Any:
    """Refuse lanes."""
    raise NoLanes("the test plays without lanes")


def always_repeats(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Let a module repeat the past for all scores."""
    monkeypatch.setattr(lane_mirror, "lanes_of", no_lanes)
    monkeypatch.setattr(module, "FasterWay", partial(FasterWay, tried_from=inf))


def always_forks(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[Any]:
    """Let a module play all scores in child processes; return what these return, as it comes."""
    found: list[Any] = []

    def kept(score: Any) -> Any:
        found.append(in_child(score))
        return found[-1]

    monkeypatch.setattr(lane_mirror, "lanes_of", no_lanes)
    # Other tests may have left idle threads.
    monkeypatch.setattr(child_process, "can_fork", lambda: True)
    monkeypatch.setattr(module, "FasterWay", partial(FasterWay, forks_from=0))
    monkeypatch.setattr(module, "in_child", kept)
    return found


def on_lanes(monkeypatch: pytest.MonkeyPatch) -> list[lane_mirror.Scores]:
    """Return the scores that lanes return, as they come."""
    found: list[lane_mirror.Scores] = []
    played = lane_mirror.LaneMirror.scores

    def kept(*arguments: Any) -> lane_mirror.Scores:
        found.append(played(*arguments))
        return found[-1]

    monkeypatch.setattr(lane_mirror.LaneMirror, "scores", kept)
    return found
