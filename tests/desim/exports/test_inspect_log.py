"""Logs of Inspect AI: what they hold of a suite; its package reads them back where it is there."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from desim.errors import UsageError
from desim.exports.inspect_log import eval_log, write_logs
from desim.exports.suite_scores import EntryScores, suite_scores


def scores_of(suite: Path, world: str, entry: str) -> EntryScores:
    """Return the scores of an entry in a world."""
    found = suite_scores(suite)
    return next(one for one in found if (one.world.name, one.entry.name) == (world, entry))


def log_of(suite: Path, world: str, entry: str) -> dict[str, Any]:
    """Return the log of an entry in a world."""
    return eval_log(scores_of(suite, world, entry))


def test_a_sample_is_an_episode_and_an_epoch_a_repeat(suite: Path) -> None:
    """With the score, the messages and the usage of the record."""
    log = log_of(suite, "game", "model")
    samples = log["samples"]
    assert [(one["id"], one["epoch"]) for one in samples] == [
        (f"seed-{seed}", epoch) for seed in range(3) for epoch in (1, 2)
    ]
    assert log["eval"]["dataset"]["sample_ids"] == ["seed-0", "seed-1", "seed-2"]
    roles = [message["role"] for message in samples[0]["messages"]]
    assert roles == ["system", *["user", "assistant"] * 4]
    reply = samples[0]["messages"][2]
    assert [part["type"] for part in reply["content"]] == ["reasoning", "text"]
    assert reply["tool_calls"][0]["function"] == "order"
    usage = samples[0]["model_usage"]["acme/Parrot-1"]
    assert (usage["input_tokens"], usage["input_tokens_cache_read"]) == (24, 16)
    assert usage["total_tokens"] == 60
    assert usage["total_cost"] == pytest.approx(60 * 1e-4)


def test_the_mean_is_that_of_the_suite_with_its_interval(suite: Path) -> None:
    """Over the means of seeds."""
    one = scores_of(suite, "game", "model")
    assert one.score.estimate is not None
    (of_all,) = eval_log(one)["results"]["scores"]
    metrics = {name: metric["value"] for name, metric in of_all["metrics"].items()}
    assert metrics["mean"] == one.score.estimate.mean
    assert (metrics["ci_lower"], metrics["ci_upper"]) == (
        one.score.estimate.low,
        one.score.estimate.high,
    )
    assert (of_all["scored_samples"], of_all["unscored_samples"]) == (6, 0)


def test_an_episode_that_was_not_played_has_no_score(suite: Path) -> None:
    """It is NaN with the reason, and the score on record is in the metadata."""
    log = log_of(suite, "game", "silent")
    for sample in log["samples"]:
        score = sample["scores"]["score"]
        assert math.isnan(score["value"])
        assert (score["reason"], score["metadata"]["defaults"]) == ("not_played", 1)
    (of_all,) = log["results"]["scores"]
    assert (of_all["metrics"], of_all["unscored_samples"]) == ({}, 6)


def test_episodes_in_a_row_are_samples_with_the_seed_of_each(suite: Path) -> None:
    """A suite without a column of the score has one here."""
    log = log_of(suite, "row", "a rule")
    assert [one["id"] for one in log["samples"]] == [f"seed-{seed}" for seed in (10, 11, 20, 21)]
    assert (log["eval"]["model"], log["eval"]["solver"]) == ("none/none", "a rule")
    assert {"score", "hundreds"} <= log["metadata"]["columns"].keys()
    assert all(one["messages"] for one in log["samples"])


def test_a_second_export_has_the_same_identifiers(suite: Path) -> None:
    """Also of messages; different entries have different ones."""
    first, second = (log_of(suite, "game", "model") for _ in range(2))
    assert first == second
    other = log_of(suite, "row", "model")
    assert first["eval"]["run_id"] == other["eval"]["run_id"]
    assert first["eval"]["task_id"] != other["eval"]["task_id"]
    uuids = [one["uuid"] for log in (first, other) for one in log["samples"]]
    assert len(set(uuids)) == len(uuids)


def test_inspect_reads_the_logs_back(suite: Path, tmp_path: Path) -> None:
    """One for each entry in each world that it plays."""
    reading = pytest.importorskip("inspect_ai.log")
    files = write_logs(suite, tmp_path / "logs")
    names = ["game__model", "game__silent", "game__a_rule", "row__model", "row__a_rule"]
    assert [file.name.partition("-")[0].removesuffix(".eval") for file in files] == names
    assert sorted(tmp_path.joinpath("logs").iterdir()) == sorted(files)
    log = reading.read_eval_log(str(files[0]))
    assert (log.status, len(log.samples)) == ("success", 6)
    assert log.eval.task == "desim/game"
    assert log.eval.model_generate_config.temperature == 0.5
    assert log.samples[0].output.completion == '{"order_qty": 6}'
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(
        sum(sample.scores["score"].value for sample in log.samples) / 6
    )
    before = files[-1].read_bytes()
    with pytest.raises(UsageError, match="exists and is kept"):
        write_logs(suite, tmp_path / "logs")
    assert files[-1].read_bytes() == before


def test_a_missing_package_is_named(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the extra that installs it."""
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UsageError, match=r"desim\[inspect\]"):
        write_logs(suite, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


def test_a_folder_without_episodes_is_refused(tmp_path: Path) -> None:
    """With a sentence."""
    with pytest.raises(UsageError, match="holds no suite"):
        suite_scores(tmp_path)
