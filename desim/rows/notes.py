"""The sentences that tables of rows share: on intervals, and on episodes that failed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from desim.engine.plan import Row
from desim.rows.samples import Sample
from desim.show.estimates import ALIKE, EXACT, SAME, TO_TELL, is_equal
from desim.statistics.intervals import Interval

#: Lines that a note lists.
_LISTED = 3

_EXACT = f"{EXACT}: the world is deterministic, so every seed has the same episode"
_SAME_VALUE = f"{SAME}: all seeds have the same value, so there is no interval"
_ALIKE = f"{ALIKE}: all cases have the same mean, so there is no interval"
_WORST = "failed: episodes that failed count with the worst score of their model"
_NO_MEAN = "failed: a mean without the episodes that failed proves nothing: no mean"

#: The column of default actions, in boards and in tables of suites.
DEFAULTS_MEANS = (
    "defaults: share of a language model's decisions that took the default action, as no reply "
    "came or none could be read."
)


def estimate_notes(samples: Iterable[Sample]) -> list[str]:
    """Return the sentences on what the intervals of some samples of one table count."""
    found: dict[str, None] = {}
    for sample in samples:
        n, cases = len(sample.values), len(sample.independent)
        if sample.is_clustered:
            text = (
                f"{cases:,} cases, which intervals count" if cases > 1 else "one case: no interval"
            )
            found[f"{n:,} seeds, {text}; seeds that share a case are not independent"] = None
        elif sample.unit != "seeds" and n:
            found[f"intervals are over {n:,} {sample.unit}; seeds only repeat these"] = None
    return [*found]


def estimate_legend(
    means: Iterable[tuple[Interval | None, int, Sample]], *, equal: bool = False
) -> list[str]:
    """Return the sentences on what heads and cells of some means mean.

    Args:
        means: Of each line the mean, None if it is withheld; how many episodes failed; the sample.
        equal: Whether some of its differences are the same on all seeds.
    """
    found = {_SAME_VALUE} if equal else set()
    for estimate, failed, sample in means:
        if estimate and sample.is_exact:
            found.add(_EXACT)
        elif estimate and is_equal(estimate):
            found.add(_ALIKE if estimate.sd else _SAME_VALUE)
        if failed:
            found.add(_WORST if estimate else _NO_MEAN)
    return [term for term in (_EXACT, _SAME_VALUE, _ALIKE, _WORST, _NO_MEAN) if term in found]


def to_tell_term(other: str) -> str:
    """Return the sentence on the seeds, cases or items that would tell two lines apart."""
    return (
        f"{TO_TELL}: seeds (or cases, items) with which half the 95 % interval of the difference "
        f"to {other} would be half of it"
    )


def missing_note(counts: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the sentence on missing numbers by line: of how many episodes of how many, if any."""
    texts = [f"{name}: {missing_text(*of)}" for name, of in counts.items() if of[0]]
    more = f" and {len(texts) - _LISTED:,} more" * (len(texts) > _LISTED)
    listed = ", ".join(texts[:_LISTED]) + more
    return [f"in no mean, as missing, NaN or infinite: {listed}"] if texts else []


# -- failed episodes ------------------------------------------------------------------------------


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
