"""A policy that fails in its bad episodes is below its twin, which plays them."""

import io
from typing import ClassVar

import pytest
from attrs import define, field, frozen
from rich.console import Console
from support.small_worlds import Go, Spot, Walk

from desim import Policy, Seat
from desim.core.reported import Figures
from desim.core.roles import Knowledge
from desim.rows.rows import Rows
from desim.studies.boards.baselines import Board
from desim.studies.sweep import sweep

SEEDS = range(12)


@define
class Twin(Policy):
    """Walks far, but back on every third seed."""

    needs_world_seed = True

    seed: int = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Keep the world's seed."""
        self.seed = seat.world_seed

    def decide(self, _spot: Spot) -> Go:
        """Take a long step."""
        return Go(40 if self.seed % 3 else -40)


class Crashes(Twin):
    """Does the same, but fails instead of walking back."""

    def decide(self, spot: Spot) -> Go:
        """Take a long step, or fail."""
        if super().decide(spot).places < 0:
            raise ValueError("not this one")
        return Go(40)


@frozen
class Bounded(Walk):
    """A walk that declares its lowest score."""

    figures: ClassVar[Figures] = Figures(score_range=(-400.0, None))


def played(model: Walk) -> Rows:
    """Both policies on the same seeds."""
    return sweep(model, [Crashes, Twin], SEEDS)


@pytest.mark.parametrize("model", [Walk(), Bounded()])
def test_a_policy_that_crashes_ranks_below_its_twin(model: Walk) -> None:
    """On the board and in the table of a sweep."""
    rows = played(model)
    crashes, twin = rows.groups("policy")
    assert len(rows.where(policy=crashes[0]).failed) == len(rows.failed) == 4
    known = {policy: rows.where(policy=policy).values("score") for (policy,) in (crashes, twin)}
    assert min(known[crashes[0]]) > 0 > min(known[twin[0]]), "without them it would be above"

    knows: dict[str, Knowledge] = {twin[0]: "observation", crashes[0]: "observation"}
    board = Board("walk", knows, rows, 1)
    lines = board.ranked()
    assert [one.policies for one in lines] == [(twin[0],), (crashes[0],)]
    assert (lines[1].failed, lines[1].ended["failed"]) == (4, 4)
    out = io.StringIO()
    Console(file=out, width=200).print(board)
    assert "4 failed" in out.getvalue()

    table = rows.table(against=twin[0])
    one, other = table.lines
    assert (one.group, one.failed, other.failed) == (crashes, 4, 0)
    assert other.estimate is not None
    if isinstance(model, Bounded):
        assert one.estimate is not None
        assert one.estimate.mean < other.estimate.mean
    else:
        assert one.estimate is one.difference is lines[1].ranks is None
