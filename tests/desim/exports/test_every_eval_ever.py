"""Results of Every Eval Ever: what they hold of a suite, and that its validator takes them."""

import hashlib
import json
import math
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from desim.errors import UsageError
from desim.exports.every_eval_ever import EntryEvaluation, write_results
from desim.exports.suite_scores import suite_scores
from desim.jobs.keep.store import SweepWarning


@pytest.fixture
def written(suite: Path, tmp_path: Path) -> list[Path]:
    """The files of the suite's results: samples and results of the model, then of the rule."""
    with pytest.warns(SweepWarning, match="no episode of silent counts in a mean"):
        return write_results(suite, tmp_path)


def results_of(file: Path) -> dict[str, Any]:
    """Return a file of results."""
    plain: dict[str, Any] = json.loads(file.read_bytes())
    return plain


def samples_of(file: Path) -> list[dict[str, Any]]:
    """Return a file of samples."""
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_the_validator_takes_the_results(written: list[Path], tmp_path: Path) -> None:
    """Without an error or a warning; it needs Python 3.12."""
    pytest.importorskip("every_eval_ever")
    files = [str(file.relative_to(tmp_path)) for file in written]
    command = [sys.executable, "-m", "every_eval_ever", "validate", "--format", "json", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, len(json.loads(done.stdout))) == (0, 4), done.stdout


def test_files_lie_where_the_model_is_looked_for(written: list[Path], tmp_path: Path) -> None:
    """Below DEVELOPER/MODEL as in the identifier, with the capitals, under a UUID of version 4."""
    model, rule = written[1], written[3]
    assert model.relative_to(tmp_path).parts[2:4] == ("acme", "Parrot-1")
    assert results_of(model)["model_info"]["id"] == "acme/Parrot-1"
    assert rule.relative_to(tmp_path).parts[2] == "desim"
    assert uuid.UUID(model.stem).version == 4
    assert written[0].name == f"{model.stem}_samples.jsonl"
    detailed = results_of(model)["detailed_evaluation_results"]
    assert tmp_path / detailed["file_path"] == written[0]
    assert detailed["checksum"] == hashlib.sha256(written[0].read_bytes()).hexdigest()


@pytest.mark.parametrize("model", ["../../x", "a/../../x", "/x", "a/b/c", "x" * 500, "..", ""])
def test_a_file_never_leaves_its_folder(model: str, suite: Path) -> None:
    """Whatever the names of suite and model are: both may come from a stranger."""
    scores = suite_scores(suite)[0]
    entry = evolve(scores.entry, table=evolve(scores.entry.table, model=model))
    one = EntryEvaluation((evolve(scores, entry=entry, suite="../s"),), "../me")
    assert len(one.file.parts) == 5
    assert not {"..", ".", "", "/"} & {*one.file.parts}
    assert one.model_id == "/".join(one.file.parts[2:4])


def test_a_result_is_the_mean_of_a_world_with_its_interval(written: list[Path]) -> None:
    """The standard error is over the means of seeds; what the means leave out is counted."""
    game, row = results_of(written[1])["evaluation_results"]
    assert (game["evaluation_name"], row["evaluation_name"]) == ("game", "row")
    scores = [one["evaluation"]["score"] for one in samples_of(written[0])]
    details = game["score_details"]
    assert details["score"] == pytest.approx(sum(scores[:6]) / 6)
    spread = details["uncertainty"]
    seeds = [sum(scores[at : at + 2]) / 2 for at in (0, 2, 4)]
    variance = sum((seed - details["score"]) ** 2 for seed in seeds) / 2
    assert spread["standard_error"]["value"] == pytest.approx(math.sqrt(variance / 3))
    interval = spread["confidence_interval"]
    assert interval["lower"] < details["score"] < interval["upper"]
    assert (interval["confidence_level"], spread["num_samples"]) == (0.95, 3)
    assert interval["method"] == "Student's t over the means of seeds"
    assert (details["details"]["episodes"], details["details"]["not_played"]) == ("6", "0")
    settings = game["generation_config"]
    limits = {"token_limit": 5000}
    assert settings["generation_args"] == {
        "temperature": 0.5,
        "max_tokens": 99,
        "eval_limits": limits,
    }
    assert settings["additional_details"]["prompt"]


def test_a_sample_has_the_messages_and_joins_its_result(written: list[Path]) -> None:
    """All arguments and facts are texts."""
    plain, lines = results_of(written[1]), samples_of(written[0])
    assert len(lines) == plain["detailed_evaluation_results"]["total_rows"] == 10
    first = lines[0]
    assert first["evaluation_id"] == plain["evaluation_id"]
    ids = [result["evaluation_result_id"] for result in plain["evaluation_results"]]
    assert first["evaluation_result_id"] == ids[0]
    assert {line["evaluation_result_id"] for line in lines} == set(ids)
    assert [message["turn_idx"] for message in first["messages"]] == [*range(9)]
    reply = first["messages"][2]
    assert (reply["role"], reply["reasoning_trace"]) == ("assistant", "Demand is 6.")
    assert reply["tool_calls"][0]["arguments"] == {"quantity": "6"}
    usage = first["token_usage"]
    assert (usage["input_tokens"], usage["input_tokens_cache_read"]) == (40, 16)
    assert all(isinstance(value, str) for value in first["metadata"].values())


def test_a_second_export_is_the_same_and_replaces_nothing(
    suite: Path, written: list[Path], tmp_path: Path
) -> None:
    """Into another folder the files have the same names and content."""
    with pytest.warns(SweepWarning):
        again = write_results(suite, tmp_path / "again")
    for file, other in zip(written, again, strict=True):
        assert file.relative_to(tmp_path) == other.relative_to(tmp_path / "again")
        assert file.read_bytes() == other.read_bytes()
    with pytest.warns(SweepWarning), pytest.raises(UsageError, match="exists and is kept"):
        write_results(suite, tmp_path)
