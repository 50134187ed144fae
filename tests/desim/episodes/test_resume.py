"""Cut records are resumed, and no paid call in their transcript is made twice."""

import asyncio
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from click.testing import CliRunner
from support.small_worlds import WALK, Counting, Dice, Go, Spot, Walk

from desim import (
    Episode,
    Policy,
    play,
    play_async,
    play_branch,
    play_series,
    replay,
    resume,
)
from desim.cli.main import main
from desim.core.policy import OutsidePolicy
from desim.errors import BadRecord, UsageError

DICE = "support.small_worlds:Dice"
AHEAD = f"rollout,base={DICE}"


class Killed(BaseException):
    """Stands for the death of the process."""


@define
class Asks(OutsidePolicy):
    """Calls an oracle for every step and records its reply before the decision.

    Attributes:
        oracle: Called with the number of the step; each call costs money.
        write: Writes to the record.
        notes: What the last decision used.
    """

    oracle: Callable[[int], int]
    write: Callable[[Any], None] = field(default=print)
    notes: dict[str, Any] = field(factory=dict)
    _replies: list[int] = field(factory=list, init=False)

    def resume(self, entries: Sequence[Any], write: Callable[[Any], None]) -> None:
        """Take the replies on record."""
        self._replies, self.write = list(entries), write

    def decide(self, spot: Spot) -> Go:
        """Use the next reply on record, or call the oracle."""
        if self._replies:
            places = self._replies.pop(0)
        else:
            places = self.oracle(spot.step)
            self.write(places)
        self.notes = {"usage": {"calls": 1, "cost": 0.1, "what": "text"}}
        return Go(places)


@define
class Paid:
    """An oracle that counts its calls and may stop the process in one.

    Attributes:
        dies: The call in which the process dies; 0 for none.
        calls: So far.
    """

    dies: int = 0
    calls: int = 0

    def __call__(self, step: int) -> int:
        """Count the call and reply."""
        self.calls += 1
        if self.calls == self.dies:
            raise Killed
        return step + 1


def killed(file: Path, dies: int, steps: int = 5) -> Paid:
    """Play until the process dies and return the oracle."""
    oracle = Paid(dies)
    with pytest.raises(Killed):
        play(Walk(steps=steps), {"walker": Asks(oracle)}, 3, record=file)
    return oracle


@pytest.mark.parametrize("name", ["walk.jsonl", "walk.jsonl.gz"])
@pytest.mark.parametrize("dies", [1, 2, 5])
def test_no_call_is_paid_twice(dies: int, name: str, tmp_path: Path) -> None:
    """Killed and resumed, an episode has one call for each step and the undisturbed result."""
    file, whole = tmp_path / name, tmp_path / "whole.jsonl"
    undisturbed = play(Walk(steps=5), {"walker": Asks(Paid())}, 3, record=whole)
    before = killed(file, dies).calls - 1
    after = Paid()
    resumed = resume(file, {"walker": Asks(after)})
    assert before + after.calls == 5
    assert resumed.result == undisturbed.result
    assert Episode.read(file).steps == Episode.read(whole).steps
    assert Episode.read(file).transcript == resumed.transcript
    assert replay(file).result == undisturbed.result
    assert list(tmp_path.glob("*.part")) == []


def test_a_reply_without_a_decision_is_used(tmp_path: Path) -> None:
    """A process that dies between a reply and its decision has recorded the reply."""
    file = tmp_path / "walk.jsonl"
    play(Walk(steps=3), {"walker": Asks(Paid())}, 3, record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    # Header, reply, decision, reply: the second decision and all lines after it are lost.
    file.write_bytes(b"".join(lines[:4]))
    after = Paid()
    assert resume(file, {"walker": Asks(after)}).result is not None
    assert after.calls == 1


def test_usage_is_summed_over_both_parts(tmp_path: Path) -> None:
    """The result holds what was used before the kill and after it."""
    file = tmp_path / "walk.jsonl"
    killed(file, 4)
    resumed = resume(file, {"walker": Asks(Paid())})
    assert resumed.summary()["usage"] == {"walker": {"calls": 5, "cost": 0.5}}
    assert Episode.read(file).summary()["usage"] == resumed.summary()["usage"]


def test_policies_are_built_from_their_names(tmp_path: Path) -> None:
    """The spec on record is enough for the command line; a second `resume` changes nothing."""
    file = tmp_path / "walk.jsonl"
    spec = "support.small_worlds:Stride,size=2"
    whole = play(Walk(steps=6), {"walker": spec}, 3, record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    for _ in range(2):
        done = CliRunner().invoke(main, ["resume", str(file), "--trust"])
        assert (done.exit_code, done.stderr) == (0, "")
        assert Episode.read(file).result == whole.result


def test_a_record_without_decisions_is_resumed(tmp_path: Path) -> None:
    """A run that died after its header is played from the first decision."""
    file = tmp_path / "walk.jsonl"
    whole = play(Walk(), {"walker": "support.small_worlds:Stride"}, 3, record=file)
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0])
    assert resume(file, trust=True).result == whole.result


def test_another_action_is_an_error_and_the_record_is_kept(tmp_path: Path) -> None:
    """A policy whose action differs from the record stops the run at the first difference."""
    file = tmp_path / "walk.jsonl"
    play(Walk(steps=4), {"walker": "support.small_worlds:Stride,size=2"}, 3, record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4]))
    with pytest.raises(BadRecord, match=r"decision 1 .*\$\.action\.places was 2, now 1"):
        resume(file, {"walker": "support.small_worlds:Stride,size=1"})
    assert file.read_bytes() == b"".join(lines[:4])


def test_draws_from_global_generators_are_repeated(tmp_path: Path) -> None:
    """In a cut record, in a branch, in a series and in rollouts."""
    record = tmp_path / "record.jsonl"
    scores = [play(WALK, DICE, seed, record=None if seed else record).score for seed in range(2)]
    assert play_branch(record, 0, DICE, trust=True).score == scores[0]
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:2]))
    assert resume(record, trust=True).score == scores[0]
    for again in (lambda: play_series(WALK, Dice, range(2)), lambda: [play(WALK, AHEAD, 1)]):
        first, second = ([one.ledger_digest for one in again()] for _ in range(2))
        assert first == second


def test_a_policy_without_a_spec_must_be_given(tmp_path: Path) -> None:
    """The label of an instance does not say how to build it."""
    file = tmp_path / "walk.jsonl"
    killed(file, 2)
    with pytest.raises(UsageError, match=r"is given \(--policy ROLE=SPEC\)"):
        resume(file)


def test_a_reply_is_recorded_while_another_policy_fails(tmp_path: Path) -> None:
    """One policy's reply is on record although another policy of the same tick failed."""
    file = tmp_path / "walk.jsonl"

    class Dies(Policy):
        async def decide(self, _spot: Spot) -> Go:
            await asyncio.sleep(0)
            raise Killed

    first = Paid()
    players = {"walker": Asks(first), "helper": Dies()}
    with pytest.raises(Killed):
        asyncio.run(play_async(Walk(), players, 3, record=file))
    after = Paid()
    players = {"walker": Asks(after), "helper": Counting()}
    assert resume(file, players).result is not None
    assert first.calls + after.calls == 3


def test_a_partial_copy_is_overwritten(tmp_path: Path) -> None:
    """A process was killed while it copied the record."""
    file = tmp_path / "walk.jsonl"
    killed(file, 3)
    (tmp_path / "walk.jsonl.part").write_text("half")
    assert resume(file, {"walker": Asks(Paid())}).result is not None
    assert list(tmp_path.glob("*.part")) == []


def test_a_cut_gzip_is_whole_again(tmp_path: Path) -> None:
    """The resumed record is one readable gzip file."""
    file = tmp_path / "walk.jsonl.gz"
    killed(file, 3)
    resume(file, {"walker": Asks(Paid())})
    assert gzip.decompress(file.read_bytes()).endswith(b"}\n")
