"""Logs of Inspect AI: one `.eval` file for each entry in each world of a suite.

Inspect's own classes and its writer make the file, which is a zip with an index of its own; so
the package is needed (the extra `inspect`). Tried with inspect-ai 0.3.285.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from desim.episodes.usage import usage_in_all
from desim.errors import UsageError
from desim.exports.messages import ChatMessage, ToolCall
from desim.exports.suite_scores import (
    EntryScores,
    SuiteEpisode,
    file_stem,
    stable_id,
    suite_scores,
)
from desim.jobs.keep.outcome import Played
from desim.show.files import check_new, new_file
from desim.version import __version__

#: The name of the score and of its scorer in a log.
_SCORE, _SCORER = "score", "desim"

#: When an episode without a record has ended.
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)

#: By the argument of a language model the kind of Inspect's limit.
_LIMITS = {"max_tokens": "token", "max_cost": "cost"}
_LIMIT = re.compile(r"(\w+)=([\d.e+-]+)")


def write_logs(suite: str | Path, folder: str | Path) -> list[Path]:
    """Write a log for each entry in each world of a suite.

    Args:
        suite: The folder of a suite.
        folder: Where the logs are written; made if it is missing.

    Returns:
        The files, named by world and entry.

    Raises:
        UsageError: Inspect is not installed, the folder holds no suite, or a file exists or cannot
            be written.
        BadRecord: An outcome or a record is damaged.
    """
    found = suite_scores(suite)
    try:
        from inspect_ai.log import EvalLog, write_eval_log
    except ImportError:
        raise UsageError(
            "logs of Inspect need its package; install the extra: pip install 'desim[inspect]'"
        ) from None
    stems = [file_stem(one.world.name, one.entry.name) for one in found]
    files = [Path(folder) / f"{stem}.eval" for stem in stems]
    check_new(files)
    for one, file in zip(found, files, strict=True):
        log = EvalLog.model_validate(eval_log(one))
        with new_file(file) as partial:
            write_eval_log(log, str(partial))
    return files


def eval_log(scores: EntryScores) -> dict[str, Any]:
    """Return the log of an entry in a world, in plain values.

    A sample is an episode, and its epoch the repeat. An episode that the means leave out has a
    score of NaN with the reason, which Inspect leaves out too.

    Raises:
        BadRecord: A record cannot be read.
    """
    line, episodes = scores.line, scores.episodes
    samples = [_sample(scores, one) for one in episodes]
    usage = _usage(usage_in_all(one.played.usage for one in episodes))
    whole = not (line.failed or line.open)
    return {
        "version": 2,
        "status": "success" if whole else "error" if line.failed else "started",
        "eval": _spec(scores),
        "results": {
            "total_samples": scores.planned,
            "completed_samples": sum(one.played.score is not None for one in episodes),
            "scores": [_score_of_all(scores)],
        },
        "stats": {
            "started_at": min(_started(one) for one in episodes),
            "completed_at": max(one.ended or _UNKNOWN for one in episodes).isoformat(),
            "model_usage": {_model(scores): usage} if usage else {},
        },
        "samples": samples,
        "metadata": {"suite": scores.suite, "columns": _columns(scores)},
    }


def _spec(scores: EntryScores) -> dict[str, Any]:
    entry, names = scores.entry.table, dict.fromkeys(one.name for one in scores.episodes)
    return {
        "eval_set_id": stable_id(scores.suite),
        "eval_id": scores.identifier("eval"),
        "run_id": stable_id(scores.suite),
        "created": min(_started(one) for one in scores.episodes),
        "task": f"desim/{scores.world.name}",
        "task_id": scores.identifier("task"),
        "task_args": {"model": scores.model, "parameters": scores.params},
        "solver": entry.method or (None if entry.model else scores.entry.name),
        "solver_args": {"policies": scores.policies},
        "dataset": {"name": scores.model, "samples": len(names), "sample_ids": list(names)},
        "model": _model(scores),
        "model_generate_config": scores.settings,
        "config": {"epochs": scores.world.repeats},
        "packages": {"desim": __version__},
        "tags": [scores.entry.name],
        "metadata": {"suite": scores.suite, "entry": scores.entry.name, **scores.versions},
    }


def _model(scores: EntryScores) -> str:
    """Return the name of the evaluated model; Inspect's own for none is "none/none"."""
    return scores.entry.table.model or "none/none"


def _score_of_all(scores: EntryScores) -> dict[str, Any]:
    """Return the mean score with its interval; no metrics where no episode counts."""
    line, estimate = scores.line, scores.score.estimate
    figures: dict[str, float | None] = {}
    if estimate is not None:
        figures = {
            "mean": estimate.mean,
            "ci_lower": estimate.low,
            "ci_upper": estimate.high,
            "std": scores.score.sd,
        }
    return {
        "name": _SCORE,
        "scorer": _SCORER,
        "scored_samples": line.n,
        "unscored_samples": len(scores.episodes) - line.n,
        "metrics": {
            name: {"name": name, "value": value}
            for name, value in figures.items()
            if value is not None
        },
        "metadata": {
            "level": estimate.level if estimate else None,
            "independent_values": estimate.n if estimate else 0,
            "not_played": line.not_played,
            "defaults": line.defaults,
        },
    }


def _columns(scores: EntryScores) -> dict[str, Any]:
    """Return the mean and the interval of each column of the suite."""
    return {
        cell.head: {
            "show": cell.show,
            "mean": cell.estimate.mean,
            "low": cell.estimate.low,
            "high": cell.estimate.high,
            "n": cell.estimate.n,
        }
        for cell in scores.line.cells
        if cell.estimate
    }


def _sample(scores: EntryScores, one: SuiteEpisode) -> dict[str, Any]:
    played, uuid = one.played, scores.identifier(one.name, one.job.repeat)
    usage, messages = _usage(played.usage), _messages(one, uuid)
    last = next((each for each in reversed(messages) if each["role"] == "assistant"), None)
    sample = {
        "id": one.name,
        "epoch": one.job.repeat + 1,
        "uuid": uuid,
        "input": f"{scores.model}, seed {one.seed}",
        "target": "",
        "messages": messages,
        "output": {
            "model": _model(scores),
            "choices": [{"message": last, "stop_reason": "stop"}] if last else [],
        },
        "scores": {_SCORE: _score(played)},
        "metadata": {
            "seed": one.seed,
            "repeat": one.job.repeat + 1,
            "episode": played.episode,
            "decisions": played.decisions,
            "revision": played.revision,
            "usage": played.usage,
        },
        "model_usage": {_model(scores): usage} if usage else {},
        "started_at": _started(one),
        "completed_at": (one.ended or _UNKNOWN).isoformat(),
        "total_time": played.seconds,
    }
    if played.error:
        sample["error"] = {"message": played.error, "traceback": "", "traceback_ansi": ""}
    return sample | _limit(played)


def _limit(played: Played) -> dict[str, Any]:
    if not played.limit or played.error:
        return {}
    named = _LIMIT.search(played.limit)
    kind = _LIMITS.get(named[1], "custom") if named else "custom"
    number = float(named[2]) if named else 0.0
    return {"limit": {"type": kind, "limit": number, "reason": played.limit}}


def _score(played: Played) -> dict[str, Any]:
    """Return the score of an episode: NaN with the reason where means leave it out."""
    counts = played.state == "done"
    metadata: dict[str, Any] = {"metrics": played.metrics, "defaults": played.default_share}
    if not counts:
        metadata["score"] = played.score
    return {
        "value": played.score if counts else float("nan"),
        "explanation": played.ended,
        "reason": None if counts else played.state.replace(" ", "_"),
        "metadata": metadata,
    }


def _started(one: SuiteEpisode) -> str:
    return ((one.ended or _UNKNOWN) - timedelta(seconds=round(one.played.seconds))).isoformat()


def _usage(used: Mapping[str, float]) -> dict[str, Any]:
    """Return tokens as Inspect counts them: tokens read do not include those of the cache."""
    if "prompt_tokens" not in used:
        return {}
    read, written = int(used["prompt_tokens"]), int(used.get("completion_tokens", 0))
    cached, stored = (int(used.get(f"cache{kind}_tokens", 0)) for kind in ("d", "_written"))
    usage = {
        "input_tokens": max(0, read - cached - stored),
        "output_tokens": written,
        "total_tokens": read + written,
        "input_tokens_cache_read": cached,
        "input_tokens_cache_write": stored,
        "reasoning_tokens": int(used.get("reasoning_tokens", 0)),
        "total_cost": used.get("cost", 0.0),
    }
    always = ("input_tokens", "output_tokens", "total_tokens")
    return {name: value for name, value in usage.items() if value or name in always}


def _messages(one: SuiteEpisode, uuid: str) -> list[dict[str, Any]]:
    return [
        {"id": f"{uuid}-{number}", **_message(message)}
        for number, message in enumerate(one.messages())
    ]


def _message(message: ChatMessage) -> dict[str, Any]:
    about = {"role": message.role, "decision": message.decision}
    plain: dict[str, Any] = {"role": message.source, "content": message.text, "metadata": about}
    if message.source == "tool":
        return {**plain, "tool_call_id": message.answers}
    if message.source != "assistant":
        return {**plain, "source": "input"}
    if message.thinking:
        reasoning = {"type": "reasoning", "reasoning": message.thinking}
        plain["content"] = [reasoning, {"type": "text", "text": message.text}]
    if message.call:
        about["phase"] = message.call.phase
        plain |= {"source": "generate", "model": str(message.call.fields.get("model", ""))}
        if message.call.failure:
            about["no_reply"] = message.call.failure
    return {**plain, "tool_calls": _tool_calls(message.tool_calls)}


def _tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "function": call.name,
            "arguments": dict(call.arguments),
            "parse_error": f"no JSON object: {call.raw}" if call.raw else None,
        }
        for call in calls
    ]
