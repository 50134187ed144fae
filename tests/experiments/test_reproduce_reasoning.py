"""The questions of Table 1: counts of episodes, from records and from the folder of a suite."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from reproduce_reasoning import counted, main

from desim import catalog, play
from models.reasoning.model import ReasoningTasks


def test_episodes_of_a_policy_count_together() -> None:
    """Right answers over counted ones; a cell without items has no accuracy."""
    episodes = [
        play(ReasoningTasks(tasks=[task]), "reference" if right else "first_number")
        for task, right in (("tagging", True), ("multiple_choice", False))
    ]
    first, second = [(one.header.params, one.metrics) for one in episodes]
    found = counted([("a", *first), ("a", *second), ("b", *first)])
    parts = [first[1], second[1]]
    both, alone = (found[name].share("domain_knowledge") for name in "ab")
    assert both is not None
    assert alone is not None
    assert (alone.mean, alone.n) == (1.0, 13)
    assert both.n == 13 + parts[1]["counted_domain_knowledge"]
    assert both.mean == (13 + parts[1]["right_domain_knowledge"]) / both.n
    assert found["b"].share("numerical_calculation_hard") is None


def test_an_item_that_is_answered_twice_is_one_cluster() -> None:
    """Twice the same answers make no narrower interval; those of other items do."""
    game = ReasoningTasks(tasks=["tagging"])
    episode = play(game, "first_number")
    one = (episode.header.params, episode.metrics)
    other = (
        play(ReasoningTasks(tasks=["tagging"], split="train"), "reference").header.params,
        one[1],
    )
    found = counted([("once", *one), *[("twice", *one)] * 2, ("more", *one), ("more", *other)])
    once, twice, more = (
        found[name].share("domain_knowledge") for name in ("once", "twice", "more")
    )
    assert once is not None
    assert twice is not None
    assert more is not None
    assert (twice.clusters, twice.n, more.clusters) == (once.n, 2 * once.n, 2 * once.n)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))
    assert more.high is not None
    assert once.high is not None
    assert more.high < once.high


def test_records_and_folders_are_shown_beside_the_paper(tmp_path: Path) -> None:
    """A record, and a suite's folder; records of other worlds and cut ones are left out."""
    (tmp_path / "records").mkdir()
    game = ReasoningTasks.preset("small")
    play(game, "reference", record=tmp_path / "records" / "one.jsonl")
    play(game, "first_number", record=tmp_path / "two.jsonl.gz")
    other = tmp_path / "records" / "other.jsonl"
    play(catalog.model("edt"), "simple", record=other)
    whole = (tmp_path / "records" / "one.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "records" / "cut.jsonl").write_bytes(b"".join(whole[:-1]))
    done = CliRunner().invoke(main, [str(tmp_path), str(tmp_path / "two.jsonl.gz")])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    [paper] = [line.split() for line in lines if line.startswith("paper: ACE")]
    assert paper[2:] == ["0.853", "0.825", "0.712", "0.500", "0.925", "0.826", "0.464", "0.697"]
    names = [line.split("  ")[0] for line in lines]
    assert [name for name in names if name in ("reference", "first_number")] == [
        "reference",
        "first_number",
    ] * 2
    assert "simple" not in done.stdout
    assert "1 records without a result are left out" in done.stderr
