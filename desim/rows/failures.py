"""What is said of episodes that failed or have no number."""

from collections.abc import Sequence
from typing import Any

import msgspec

from desim.engine.plan import Row


def missing_text(count: int, total: int) -> str:
    """Return how many of some episodes have no number: it is missing, NaN or infinite."""
    return f"{count:,} of {total:,} episodes have no number"


def course(row: Row) -> tuple[Any, ...]:
    """Return what equal episodes share: score, end, error, and ledgers or else all metrics.

    The number of decisions and some metrics may differ, as they describe how the policy decides.
    """
    ledgers = row["ledger_digest"] or msgspec.json.encode(row["metrics"])
    return row["score"], row["ended"], row["error"], ledgers


def failures_text(failed: Sequence[Row], total: int) -> str:
    """Return how many of all episodes failed, at least one, and what failed in the first."""
    return f"{len(failed):,} of {total:,} episodes failed, the first is {failure_text(failed[0])}"


def failure_text(row: Row) -> str:
    """Return policy, world, seed and error of the row of an episode that failed."""
    world = "/".join(filter(None, [row["model"], row["preset"]]))
    return f"{row['policy']} in {world} with seed {row['seed']}: {row['error']}"
