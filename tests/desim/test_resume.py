"""Records that were cut are played on, and nothing heard is asked for twice."""

import asyncio
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from click.testing import CliRunner

from desim import Episode, play, play_async, replay, resume, resume_async
from desim.cli import main
from desim.errors import BadRecord, UsageError
from tests.desim.small_worlds import Counting, Go, Spot, Walk


class Killed(BaseException):
    """The process dies here."""


@define
class Asks:
    """Asks an oracle for every step, and puts its words on record before it answers.

    Attributes:
        oracle: Called with the number of the step; each call is paid for.
        journal: Set by the framework.
        notes: What the last decision took.
    """

    oracle: Callable[[int], int]
    journal: Callable[[Any], None] = field(default=print)
    notes: dict[str, Any] = field(factory=dict)
    _known: list[int] = field(factory=list, init=False)

    def resume(self, said: list[Any]) -> None:
        """Take back what was heard."""
        self._known = list(said)

    def decide(self, spot: Spot) -> Go:
        """Answer from what is known, or ask."""
        if self._known:
            places = self._known.pop(0)
        else:
            places = self.oracle(spot.step)
            self.journal(places)
        self.notes = {"usage": {"calls": 1, "cost": 0.1, "what": "text"}}
        return Go(places)


@define
class Paid:
    """An oracle that counts its calls and may die after one.

    Attributes:
        dies: The call in which the process dies; 0 for none.
        calls: So far.
    """

    dies: int = 0
    calls: int = 0

    def __call__(self, step: int) -> int:
        """Answer and be paid."""
        self.calls += 1
        if self.calls == self.dies:
            raise Killed
        return step + 1


def killed(file: Path, dies: int, steps: int = 5) -> Paid:
    """Play until the process dies and return whom it had paid."""
    oracle = Paid(dies)
    with pytest.raises(Killed):
        play(Walk(steps=steps), {"walker": Asks(oracle)}, 3, record=file)
    return oracle


@pytest.mark.parametrize("name", ["walk.jsonl", "walk.jsonl.gz"])
@pytest.mark.parametrize("dies", [1, 2, 5])
def test_no_call_is_paid_twice(dies: int, name: str, tmp_path: Path) -> None:
    """Killed and resumed, an episode has paid once for each step and is what it was to be."""
    file, whole = tmp_path / name, tmp_path / "whole.jsonl"
    undisturbed = play(Walk(steps=5), {"walker": Asks(Paid())}, 3, record=whole)
    before = killed(file, dies).calls - 1
    after = Paid()
    resumed = resume(file, {"walker": Asks(after)})
    assert before + after.calls == 5
    assert resumed.result == undisturbed.result
    assert Episode.read(file).steps == Episode.read(whole).steps
    assert Episode.read(file).said == resumed.said
    assert replay(file).result == undisturbed.result
    assert list(tmp_path.glob("*.part")) == []


def test_what_was_heard_and_not_answered_is_not_asked_for_again(tmp_path: Path) -> None:
    """A process that dies between a paid word and its decision has the word on record."""
    file = tmp_path / "walk.jsonl"
    play(Walk(steps=3), {"walker": Asks(Paid())}, 3, record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    # Header, word, decision, word: the second decision and all behind it are lost.
    file.write_bytes(b"".join(lines[:4]))
    after = Paid()
    assert resume(file, {"walker": Asks(after)}).result is not None
    assert after.calls == 1


def test_sums_survive(tmp_path: Path) -> None:
    """What was used before the kill and after it is summed in the result."""
    file = tmp_path / "walk.jsonl"
    killed(file, 4)
    resumed = resume(file, {"walker": Asks(Paid())})
    assert resumed.summary()["usage"] == {"walker": {"calls": 5, "cost": 0.5}}
    assert Episode.read(file).summary()["usage"] == resumed.summary()["usage"]


def test_policies_are_built_from_their_names(tmp_path: Path) -> None:
    """A spec on record is enough; the command line resumes, and twice does no harm."""
    file = tmp_path / "walk.jsonl"
    spec = "tests.desim.small_worlds:Stride,size=2"
    whole = play(Walk(steps=6), {"walker": spec}, 3, record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    for _ in range(2):
        done = CliRunner().invoke(main, ["resume", str(file)])
        assert (done.exit_code, done.stderr) == (0, "")
        assert Episode.read(file).result == whole.result


def test_a_record_without_decisions_is_resumed(tmp_path: Path) -> None:
    """A run that died after its header starts from there."""
    file = tmp_path / "walk.jsonl"
    whole = play(Walk(), {"walker": "tests.desim.small_worlds:Stride"}, 3, record=file)
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0])
    assert resume(file).result == whole.result


def test_another_answer_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    """A policy that decides otherwise than on record stops at the first difference."""
    file = tmp_path / "walk.jsonl"
    play(Walk(steps=4), {"walker": "tests.desim.small_worlds:Stride,size=2"}, 3, record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4]))
    with pytest.raises(BadRecord, match=r"decision 1 .*\$\.action\.places was 2, now 1"):
        resume(file, {"walker": "tests.desim.small_worlds:Stride,size=1"})
    assert file.read_bytes() == b"".join(lines[:4])


def test_a_policy_without_a_spec_must_be_given(tmp_path: Path) -> None:
    """The record of an instance names it in a way that builds nothing."""
    file = tmp_path / "walk.jsonl"
    killed(file, 2)
    with pytest.raises(UsageError, match=r"is given by desim\.resume\(path, policies\)"):
        resume(file)


def test_concurrent_policies_lose_nothing(tmp_path: Path) -> None:
    """One policy's paid word is on record although another of the same instant died."""
    file = tmp_path / "walk.jsonl"

    class Dies:
        async def decide(self, _spot: Spot) -> Go:
            await asyncio.sleep(0)
            raise Killed

    first = Paid()
    players = {"walker": Asks(first), "helper": Dies()}
    with pytest.raises(Killed):
        asyncio.run(play_async(Walk(), players, 3, record=file))
    after = Paid()
    players = {"walker": Asks(after), "helper": Counting()}
    assert asyncio.run(resume_async(file, players)).result is not None
    assert first.calls + after.calls == 3


def test_a_copy_left_behind_does_not_stand_in_the_way(tmp_path: Path) -> None:
    """A process killed while it copied the record is no reason to refuse the next."""
    file = tmp_path / "walk.jsonl"
    killed(file, 3)
    (tmp_path / "walk.jsonl.part").write_text("half")
    assert resume(file, {"walker": Asks(Paid())}).result is not None
    assert list(tmp_path.glob("*.part")) == []


def test_a_cut_gzip_is_whole_again(tmp_path: Path) -> None:
    """What was rewritten is one readable gzip file."""
    file = tmp_path / "walk.jsonl.gz"
    killed(file, 3)
    resume(file, {"walker": Asks(Paid())})
    assert gzip.decompress(file.read_bytes()).endswith(b"}\n")
