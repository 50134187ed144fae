"""One episode of a sweep as a job that can be sent to another process, and what comes back."""

import copy
import inspect
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from attrs import frozen

from desim.episode import Episode
from desim.instances import plain_scalar
from desim.play import play, play_async
from desim.protocols import Model
from desim.seating import Policies, seat_all

__all__ = ["BUDGET", "Job", "Lineup", "Row", "Variant", "encoded", "play_job", "play_some"]

#: What is known of one episode: plain JSON values, always the same keys in the same order.
Row = dict[str, Any]

#: Seconds after which a worker hands back what it has; progress is at least this smooth.
BUDGET = 0.25


_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode


@frozen
class Variant:
    """A model, and how rows name it.

    Attributes:
        name: Its name in the catalog.
        preset: The preset it was made from, or the nearest.
        params: The parameters that were set, vary in the sweep, or differ from the preset.
        model: The frozen parameters themselves.
    """

    name: str
    preset: str
    params: dict[str, Any]
    model: Model[Any]


@frozen
class Lineup:
    """Who plays, and how rows name it.

    Attributes:
        label: A text without memory addresses; equal labels mean equal policies.
        policies: What `play` takes.
    """

    label: str
    policies: Policies


@frozen
class Job:
    """One episode to play.

    Attributes:
        variant: The model.
        lineup: The policies.
        seed: A whole number of at least 0.
    """

    variant: Variant
    lineup: Lineup
    seed: int


def play_job(job: Job) -> Row:
    """Play one episode.

    Whatever fails in it, in the policy or in the model, becomes the row's `error`; the other
    figures of such a row are None. A metric that is not finite is None as well.

    Returns:
        model, preset, params, policy, seed, score, ended, decisions, metrics, ledger_digest, error.
    """
    row: Row = msgspec.json.decode(encoded(job))
    return row


def play_some(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play jobs in their order until `BUDGET` is used up, at least one.

    Yields:
        Rows as JSON, which is how they travel and are kept.
    """
    end = time.monotonic() + BUDGET
    for job in jobs:
        yield encoded(job)
        if time.monotonic() > end:
            return


def encoded(job: Job) -> bytes:
    """Play one episode and return its row as JSON."""
    try:
        return _encode(_row(job, **_figures(_episode(job))))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends one episode, not all)
        return _encode(_row(job, error=_sentence(fault)))


def _row(
    job: Job,
    *,
    score: float | None = None,
    ended: str | None = None,
    decisions: int | None = None,
    metrics: Mapping[str, Any] | None = None,
    ledger_digest: str | None = None,
    error: str | None = None,
) -> Row:
    return {
        "model": job.variant.name,
        "preset": job.variant.preset,
        "params": job.variant.params,
        "policy": job.lineup.label,
        "seed": job.seed,
        "score": score,
        "ended": ended,
        "decisions": decisions,
        "metrics": metrics or {},
        "ledger_digest": ledger_digest,
        "error": error,
    }


def _episode(job: Job) -> Episode:
    """Play with fresh policies, as coroutines where one of them is."""
    model, given = job.variant.model, _fresh(job.lineup.policies)
    players = seat_all(model, given, job.seed)
    if any(inspect.iscoroutinefunction(player.decide) for player in players.values()):
        import asyncio

        return asyncio.run(play_async(model, players, job.seed))
    return play(model, players, job.seed)


def _fresh(policies: Policies) -> Policies:
    """Copy instances, so that no episode sees what an earlier one left in them."""
    if isinstance(policies, Mapping):
        return {role: _fresh(one) for role, one in policies.items()}
    return policies if isinstance(policies, str | type) else copy.deepcopy(policies)


def _figures(episode: Episode) -> dict[str, Any]:
    result = episode.result
    assert result is not None
    return {
        "score": result.score,
        "ended": result.ended,
        "decisions": result.decisions,
        "metrics": dict(_flat(result.metrics)),
        "ledger_digest": result.ledger_digest,
    }


def _flat(metrics: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Name nested figures by their path: `{"cost": {"retailer": 3}}` is `cost.retailer`."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _sentence(fault: BaseException) -> str:
    """Tell a fault in one line that is the same in every process."""
    text = " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", str(fault)).split())
    return f"{type(fault).__name__}: {text}".removesuffix(": ")[:500]
