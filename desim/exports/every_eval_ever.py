"""Results of Every Eval Ever, schema 0.3.0: for each entry of a suite a file and its samples.

The file has a result for each world, with the mean score and its interval; the samples beside it
have a line for each episode in the means. Episodes that the means leave out are counted in the
details of the result.
"""

import hashlib
import math
import re
import uuid
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim.errors import UsageError
from desim.exports.every_eval_samples import as_text, as_texts, sample
from desim.exports.suite_scores import EntryScores, file_stem, stable_id, suite_scores
from desim.jobs.keep.store import SweepWarning
from desim.jobs.plan.record_job import safe_name
from desim.jobs.rows.samples import Sample
from desim.show.files import check_new, write_new
from desim.statistics.intervals import Interval
from desim.suites.suite_plan import PlannedEntry
from desim.version import __version__

#: The version of the schema.
SCHEMA = "0.3.0"

#: The developer of a model whose name states none, and of policies of desim.
_UNKNOWN, _OURS = "unknown", "desim"

#: The part of a model's name before its developer ends.
_DEVELOPER = re.compile(r"([^/]+)/(.+)")


def write_results(suite: str | Path, folder: str | Path, developer: str = "") -> list[Path]:
    """Write the results of a suite: `data/SUITE/DEVELOPER/MODEL/UUID.json` and the samples.

    Args:
        suite: The folder of a suite.
        folder: Where `data` is made.
        developer: The developer of models whose names are not DEVELOPER/MODEL; without one these
            are filed under "unknown", of which the validator warns.

    Returns:
        The files: for each entry its samples, and then its results, which name them.

    Raises:
        UsageError: The folder holds no suite, no episode counts in a mean, or a file exists or
            cannot be written.
        BadRecord: An outcome or a record is damaged.

    Warns:
        SweepWarning: No episode of an entry counts in a mean, so it has no results.
    """
    evaluations = _evaluations(suite, developer)
    of_results = [Path(folder) / each.file for each in evaluations]
    check_new([*of_results, *map(samples_file, of_results)])
    written = []
    for each, file in zip(evaluations, of_results, strict=True):
        lines = [msgspec.json.encode(line) + b"\n" for line in each.samples()]
        for path, parts in (
            (samples_file(file), lines),
            (file, [msgspec.json.encode(each.plain(lines))]),
        ):
            write_new(path, parts)
            written.append(path)
    return written


def _evaluations(suite: str | Path, developer: str) -> list["EntryEvaluation"]:
    """Return the entries with results."""
    entries: dict[str, list[EntryScores]] = {}
    for one in suite_scores(suite):
        entries.setdefault(one.entry.name, []).append(one)
    found = [EntryEvaluation(tuple(worlds), developer or _UNKNOWN) for worlds in entries.values()]
    empty = [each.entry.name for each in found if not each.counted]
    if len(empty) == len(found):
        raise UsageError(f"no episode of {suite} counts in a mean, so there are no results")
    if empty:
        text = f"no episode of {', '.join(empty)} counts in a mean, so no results were written"
        warnings.warn(text, SweepWarning, stacklevel=3)
    return [each for each in found if each.counted]


def samples_file(file: Path) -> Path:
    """Return the path of the samples of a file of results."""
    return file.with_name(f"{file.stem}_samples.jsonl")


@frozen
class EntryEvaluation:
    """The evaluation of an entry in its worlds.

    Attributes:
        worlds: Its scores by world; one at least.
        developer: The developer of a model whose name states none.
    """

    worlds: tuple[EntryScores, ...]
    developer: str = _UNKNOWN

    @property
    def counted(self) -> int:
        """The number of episodes in the means."""
        return sum(one.line.n for one in self.worlds)

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.worlds[0].suite

    @property
    def entry(self) -> PlannedEntry:
        """The entry."""
        return self.worlds[0].entry

    @property
    def model_id(self) -> str:
        """DEVELOPER/MODEL, which are names of folders too."""
        model = self.entry.table.model
        if not model:
            return f"{_OURS}/{safe_name(self.entry.name)}"
        named = _DEVELOPER.fullmatch(model)
        developer, name = named.groups() if named else (self.developer, model)
        return f"{safe_name(developer)}/{safe_name(name)}"

    @property
    def identifier(self) -> str:
        """Suite, entry and model with the time of the first episode, which does not change."""
        return f"{file_stem(self.suite, self.entry.name)}/{self.model_id}/{self.timestamp}"

    @property
    def timestamp(self) -> str:
        """When the first episode ended, in seconds since 1970."""
        ended = (one.ended for each in self.worlds for one in each.episodes)
        return str(min((int(time.timestamp()) for time in ended if time), default=0))

    @property
    def file(self) -> Path:
        """The path of the results, in the folder of the model."""
        name = uuid.UUID(hex=stable_id("file", self.identifier), version=4)
        return Path("data", safe_name(self.suite), *self.model_id.split("/"), f"{name}.json")

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield a sample for each episode in the means, in plain values.

        Raises:
            BadRecord: A record cannot be read.
        """
        common = {
            "schema_version": SCHEMA,
            "evaluation_id": self.identifier,
            "model_id": self.model_id,
        }
        for one in self.worlds:
            for episode in one.episodes:
                if episode.played.state == "done":
                    yield {**common, **sample(one, episode)}

    def plain(self, lines: Sequence[bytes]) -> dict[str, Any]:
        """Return the results in plain values.

        Args:
            lines: The samples.
        """
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self.identifier,
            "retrieved_timestamp": self.timestamp,
            "source_metadata": {
                "source_name": self.suite,
                "source_type": "evaluation_run",
                "source_organization_name": _UNKNOWN,
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "desim", "version": __version__},
            "model_info": {
                "name": self.entry.table.model or self.entry.name,
                "id": self.model_id,
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": "unknown",
                },
            },
            "evaluation_results": [_result(one) for one in self.worlds if one.score.estimate],
            "detailed_evaluation_results": {
                "format": "jsonl",
                "file_path": samples_file(self.file).as_posix(),
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(b"".join(lines)).hexdigest(),
                "total_rows": len(lines),
            },
        }


def _result(scores: EntryScores) -> dict[str, Any]:
    estimate, line = scores.score.estimate, scores.line
    assert estimate is not None
    details = {
        "episodes": line.n,
        "cut": line.cut,
        "training": line.training,
        "not_played": line.not_played,
        "failed": line.failed,
        "open": line.open,
        "share_of_default_actions": line.defaults,
        "knows": line.knows,
        **{f"column: {cell.head}": _cell_text(cell.estimate) for cell in line.cells[1:]},
    }
    return {
        "evaluation_result_id": scores.identifier("result"),
        "evaluation_name": scores.world.name,
        "source_data": {
            "dataset_name": scores.model,
            "source_type": "other",
            "additional_details": {"parameters": as_text(scores.params)},
        },
        "metric_config": {
            "metric_id": "score",
            "metric_name": "score",
            "evaluation_description": "The mean score over episodes of a simulated business world.",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": "-Infinity",
            "max_score": "Infinity",
        },
        "score_details": {
            "score": estimate.mean,
            "details": as_texts(details),
            "uncertainty": _uncertainty(scores.score.sample, estimate, scores.score.sd),
        },
        "generation_config": _generation(scores),
    }


def _uncertainty(sample: Sample, estimate: Interval, sd: float | None) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": estimate.n}
    if sd is not None:
        found["standard_deviation"] = sd
    if estimate.low is None or estimate.high is None:
        return found
    over = sample.independent_unit if sample.values else "episodes"
    found["confidence_interval"] = {
        "lower": estimate.low,
        "upper": estimate.high,
        "confidence_level": estimate.level,
        "method": f"Student's t over the means of {over}",
    }
    if estimate.sd is not None and not sample.is_clustered:
        error = estimate.sd / math.sqrt(estimate.n)
        found["standard_error"] = {"value": error, "method": f"analytic, over the means of {over}"}
    return found


def _generation(scores: EntryScores) -> dict[str, Any]:
    table = scores.entry.table
    settings = dict(scores.settings)
    if limit := table.options.get("max_tokens"):
        settings["eval_limits"] = {"token_limit": limit}
    details = {
        **scores.versions,
        "entry": scores.entry.name,
        "policies": scores.policies,
        "method": table.method,
        "options": table.options,
        "options_of_the_world": scores.world.table.options,
    }
    return {"generation_args": settings, "additional_details": as_texts(details)}


def _cell_text(estimate: Interval | None) -> str | None:
    if estimate is None:
        return None
    if estimate.low is None or estimate.high is None:
        return f"{estimate.mean:.6g}, n {estimate.n}"
    return f"{estimate.mean:.6g} [{estimate.low:.6g}, {estimate.high:.6g}], n {estimate.n}"
