"""Another end of an episode: after a failure of its model, or with another policy."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import define, field, frozen
from support.recorded import played_lines
from support.small_worlds import Go, Spot, Walk

from desim import Episode, play, replay, resume
from desim.core.policy import OutsidePolicy
from desim.episodes.resume import play_branch
from desim.errors import BadRecord, ModelFailed, UsageError


@frozen
class Trap(Walk):
    """A walk whose model fails at an answer."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"short": {}}

    def _walk(self, world: Any, path: Any) -> Any:
        for step in range(self.steps):
            for role in sorted(world.seats):
                spot = Spot(path.places[-1], step)
                go = yield world.ask(role, lambda spot=spot: spot)
                path.places.append(path.places[-1] + [1, 2, 3][go.places])
            yield world.timeout(1)
        world.end("walked")

    def metrics(self, path: Any) -> Mapping[str, Any]:
        """Return none."""
        return {}

    def score(self, path: Any) -> float:
        """Return the last place."""
        return float(path.places[-1])


def far(spot: Spot) -> Go:
    """Give the answer that the world does not stand, in the fourth step."""
    return Go(9 if spot.step == 3 else 1)


def one(spot: Spot) -> Go:
    """Give an answer that the world stands."""
    return Go(1)


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """Write the record of a run whose model failed."""
    file = tmp_path / "run.jsonl"
    with pytest.raises(ModelFailed) as fault:
        play(Trap(steps=6), {"walker": far}, record=file)
    text = str(fault.value)
    assert text.startswith("model Trap failed at t=3 in Trap._walk (test_branched_record.py, line ")
    assert text.endswith("IndexError: list index out of range")
    (note,) = fault.value.__notes__
    assert note.startswith("The last answer was decision 4, 'walker' with {")
    assert note.endswith(f'"places":9}}; desim branch {file} --at 4 plays on from before it')
    return file


def test_the_record_of_a_failed_run_says_where(failed: Path) -> None:
    """It keeps all decisions, and its last line is under the digest."""
    cut = Episode.read(failed, whole=False)
    assert [step.action["places"] for step in cut.steps] == [1, 1, 1, 9]
    assert cut.failure is not None
    assert (cut.failure.t, cut.failure.decisions, cut.failure.before) == (3, 4, 3)
    assert "IndexError" in cut.failure.error
    for read in (Episode.read, replay):
        with pytest.raises(BadRecord, match=r"failed at t=3 after decision 4: .* --at 4 plays on"):
            read(failed)
    with pytest.raises(BadRecord, match="the run failed at t="):
        _ = cut.score
    failed.write_bytes(failed.read_bytes().replace(b'"decisions":4', b'"decisions":3'))
    with pytest.raises(BadRecord, match="altered"):
        Episode.read(failed, whole=False)


def test_a_branch_plays_on_from_before_the_failure(failed: Path) -> None:
    """With another policy; its record replays and can be branched and cut itself."""
    before, other = failed.read_bytes(), failed.with_name("other.jsonl.gz")
    episode = play_branch(failed, 3, {"walker": one}, record=other)
    assert episode.score == 12
    assert failed.read_bytes() == before
    assert replay(other).result == episode.result
    assert Episode.read(other).header.starts == {"walker": 3}
    again = play_branch(other, 5, {"walker": one})
    assert again.result == episode.result


def test_a_failed_run_that_is_resumed_fails_again(failed: Path) -> None:
    """At the same place; after its model is mended it goes on."""
    before = played_lines(failed)
    with pytest.raises(ModelFailed, match=r"decision 4, 'walker' .* --at 4"):
        resume(failed, {"walker": far})
    assert played_lines(failed) == before
    assert Episode.read(failed, whole=False).resumed == (4,)


@define
class Bought(OutsidePolicy):
    """Answers with what an oracle sold; asks it again only for what is not on record.

    Attributes:
        calls: How often it was asked.
        write: Writes to the record.
    """

    price: int = 1
    calls: list[int] = field(factory=list)
    write: Any = None
    _known: list[int] = field(factory=list, init=False)

    def resume(self, entries: Sequence[int], write: Callable[[Any], None]) -> None:
        """Take what was bought before."""
        self._known, self.write = [*entries], write

    def decide(self, spot: Spot) -> Go:
        """Buy an answer, or take one that was bought."""
        if self._known:
            return Go(self._known.pop(0))
        self.calls.append(spot.step)
        self.write(self.price)
        return Go(self.price)


def test_a_recorded_policy_decides_again_from_its_transcript(tmp_path: Path) -> None:
    """What was paid before the branch is not paid again; what came after it is not used."""
    file, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    seats = {"walker": Bought(), "helper": one}
    play(Trap(steps=4), seats, record=file)
    helper = Bought(2)
    branched = play_branch(file, 4, {"helper": helper, "walker": Bought()}, record=other)
    # Decisions alternate: helper and walker of two steps are repeated.
    assert helper.calls == [2, 3]
    assert branched.score == 2 * 4 + 2 * (3 + 2)
    lines = other.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join(lines[:-2]))
    after = {"helper": Bought(2), "walker": Bought()}
    assert resume(other, after).result == branched.result
    assert after["helper"].calls == []


def test_wrong_use_changes_nothing(failed: Path) -> None:
    """Too many decisions, an existing file, another answer on record."""
    with pytest.raises(UsageError, match=r"run\.jsonl has 4 decisions; 5 were given"):
        play_branch(failed, 5, {"walker": one})
    with pytest.raises(UsageError, match="exists and is kept"):
        play_branch(failed, 3, {"walker": one}, record=failed)
    file = failed.with_name("altered")
    cut = b"".join(failed.read_bytes().splitlines(keepends=True)[:-1])
    file.write_bytes(cut.replace(b'"place":4', b'"place":5'))
    new = failed.with_name("new")
    with pytest.raises(
        BadRecord, match=r"altered: decision 3 .*\$\.observation\.place was 5, now 4"
    ):
        play_branch(file, 3, {"walker": one}, record=new)
    assert sorted(path.name for path in failed.parent.iterdir()) == ["altered", "run.jsonl"]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (b'"places":9', b'"places":8', "altered: its last line has not the digest"),
        (b'"decisions":4', b'"decisions":5', "altered: its last line has not the digest"),
        (b'"places":9', b'"places":', r"decision 4 \(line 5\) is not readable"),
    ],
)
def test_what_lies_behind_the_repeated_decisions_is_checked(
    failed: Path, old: bytes, new: bytes, text: str
) -> None:
    """With the digest, as a replay does it; nothing is written. A cut record has no digest."""
    failed.write_bytes(failed.read_bytes().replace(old, new))
    with pytest.raises(BadRecord, match=text):
        play_branch(failed, 2, {"walker": one}, record=failed.with_name("new"))
    assert [path.name for path in failed.parent.iterdir()] == ["run.jsonl"]


def test_a_branch_of_a_whole_record_begins_as_if_it_had_been_cut(tmp_path: Path) -> None:
    """What lies behind is read, and neither kept nor taken for the branch's own end."""
    file = tmp_path / "run.jsonl"
    play(Walk(steps=6), {"walker": one}, record=file)
    for decisions in (0, 3, 6):
        part = Episode.read(file, decisions=decisions, whole=False)
        assert (len(part.steps), part.result, part.failure) == (decisions, None, None)
    assert Episode.read(file, decisions=7).result == Episode.read(file).result
    for keep_steps in (True, False):
        branched = play_branch(file, 3, {"walker": one}, keep_steps=keep_steps)
        assert branched.result == Episode.read(file).result
        assert len(branched.steps) == (6 if keep_steps else 0)
