"""A role that observes several classes: records, replays, tables and frames keep the class."""

from pathlib import Path

from support.two_questions import WORKSHOP, Breakdown, Closing, Workshop

from desim import Episode, play, replay
from desim.schema import from_plain

BOTH = Closing | Breakdown

TAGS = ["closing", "breakdown", "closing", "breakdown"]


def test_a_record_holds_which_observation_it_was(tmp_path: Path) -> None:
    """The observations read from it equal those of the episode in memory."""
    played = play(Workshop(), "greedy", 0, record=tmp_path / "a.jsonl")
    kept = Episode.read(tmp_path / "a.jsonl")
    assert [step.observation["do"] for step in kept.steps] == TAGS
    again = [from_plain(step.observation, BOTH) for step in kept.steps]
    assert again == [step.observation for step in played.steps]
    assert replay(tmp_path / "a.jsonl", trust=True).score == played.score


def test_an_episode_in_memory_writes_the_same_record(tmp_path: Path) -> None:
    """Whether its steps are instances or were read from a file."""
    played = play(Workshop(), "greedy", 0, record=tmp_path / "a.jsonl")
    played.write(tmp_path / "b.jsonl")
    Episode.read(tmp_path / "b.jsonl").write(tmp_path / "c.jsonl")
    first, *others = [(tmp_path / f"{name}.jsonl").read_bytes() for name in "abc"]
    assert others == [first, first]


def test_a_table_of_decisions_has_the_tag_as_a_column(tmp_path: Path) -> None:
    """From memory as from the file; another class's fields are missing."""
    played = play(Workshop(), "greedy", 0, record=tmp_path / "a.jsonl")
    for episode in (played, Episode.read(tmp_path / "a.jsonl")):
        columns = episode.columns("decisions")
        assert columns["observation.do"] == TAGS
        assert columns["observation.machine"] == [None, "lathe", None, "lathe"]


def test_a_policy_that_plays_ahead_plays_it() -> None:
    """The repeated questions are compared with their class."""
    assert play(WORKSHOP, "rollout,samples=2", 0).score == play(Workshop(), "greedy", 0).score
