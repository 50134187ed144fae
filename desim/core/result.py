"""The result of an episode, and the series that its model reports period by period."""

import contextlib
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.core.model import Model
from desim.core.reported import Periods, ledgers_of
from desim.core.world import World
from desim.errors import ModelFailed
from desim.schema import to_plain
from desim.short_repr import short_repr

#: One number for each period that was played, by name; NaN if unknown.
Series = Mapping[str, Sequence[float]]

#: The ticks at which periods end, by the name of the series.
Ticks = Mapping[str, Sequence[int]]

#: Stands in `Result.ended` instead of a reason if the model has not ended.
RUNNING = "still running"


@frozen
class Result:
    """The result of an episode.

    Attributes:
        score: Higher is better.
        ended: The reason that the model gave, or "finished" when the calendar was empty.
        metrics: Further figures by name.
        decisions: The number of answered questions.
        ledger_digest: SHA-256 over the state's ledgers; None for a state without ledgers.
        waiting: The processes that still wait, each with its event, if the calendar was empty.
        usage: By role, the sums of the values that its policy noted under "usage" (calls, tokens,
            cost).
        last_tick: When the calendar was empty; None if it was not, or for a result on record.
    """

    score: float
    ended: str
    metrics: Mapping[str, Any]
    decisions: int
    ledger_digest: str | None
    usage: Mapping[str, Mapping[str, float]] = field(factory=dict)
    waiting: tuple[str, ...] = ()
    last_tick: int | None = field(default=None, eq=False)

    @property
    def dead_end(self) -> str:
        """A sentence on the processes that wait for ever; empty if none does."""
        if not self.waiting:
            return ""
        when = "" if self.last_tick is None else f" at t={self.last_tick}"
        names = ", ".join(text.partition(" waits for ")[0] for text in self.waiting)
        return f"nothing was left to happen{when}; processes still wait: {names}"


def summarise(model: Model[Any], state: Any, world: World, decisions: int) -> Result:
    """Return the result of an episode, or of a part, which may have no end and then no metrics.

    Raises:
        ModelFailed: The score is not a finite number, a metric is not a JSON value, or the model
            finds that something was created or lost.
    """
    model.check(state)
    return Result(
        score=score_of(model, state),
        ended=world.ended or RUNNING,
        metrics=metrics_of(model, state) if world.ended else {},
        decisions=decisions,
        ledger_digest=_digest(ledgers_of(state)),
        waiting=world.left,
        last_tick=world.now if world.left else None,
    )


def score_of(model: Model[Any], state: Any) -> float:
    """Return the score of a state, also one of numpy, as Python's float."""
    given: Any = model.score(state)
    with contextlib.suppress(TypeError, ValueError):
        if math.isfinite(score := float(given)):
            return score
    raise ModelFailed(f"the model's score is {short_repr(given)}; a score is a finite number")


def metrics_of(model: Model[Any], state: Any) -> dict[str, Any]:
    """Return the metrics of a state as a record will hold them: NaN and infinity become None."""
    given = model.metrics(state)
    try:
        plain: dict[str, Any] = to_plain(dict(given))
    except (TypeError, ValueError) as fault:
        raise ModelFailed(f"the model's metrics are no JSON values: {fault}") from None
    return plain


def _digest(ledgers: Sequence[Any]) -> str | None:
    # None, because the digest of an empty text would look like a proof.
    if not ledgers:
        return None
    return hashlib.sha256("".join(ledger.digest() for ledger in ledgers).encode()).hexdigest()


def read_series(model: Model[Any], state: Any) -> tuple[dict[str, tuple[float, ...]], Ticks]:
    """Return the series of an ended episode as Python's floats, and the known ends of periods."""
    values, ends = dict[str, tuple[float, ...]](), dict[str, Sequence[int]]()
    for name, given in (model.series(state) if model.series else {}).items():
        if isinstance(given, Periods):
            ends[name] = given.ends
        values[name] = _floats(name, given.values if isinstance(given, Periods) else given)
    return values, ends


def ended_series(model: Model[Any], state: Any, end: int) -> tuple[Series, Ticks]:
    """Return the series of an episode that ended at a tick, and the ends of their periods.

    Periods after the end are cut: a company that went bankrupt in May may report all months of its
    year. The period in which the episode ended ends with it. Series without the ends of all periods
    are whole.
    """
    found, ticks = read_series(model, state)
    kept = {name: _played(each, end) for name, each in ticks.items()}
    values = {
        name: each[: len(kept[name])] if len(ticks.get(name, ())) == len(each) else each
        for name, each in found.items()
    }
    return values, kept


def _played(ticks: Sequence[int], end: int) -> Sequence[int]:
    whole = [tick for tick in ticks if tick <= end]
    if len(whole) == len(ticks):
        return ticks
    return [*whole, end] if end > (whole[-1] if whole else 0) else whole


def _floats(name: str, values: Any) -> tuple[float, ...]:
    # A text is a sequence whose items may be numbers, as in float("7").
    if not isinstance(values, str | bytes):
        with contextlib.suppress(TypeError, ValueError):
            return tuple(map(float, values))
    raise ModelFailed(
        f"the model's series {name!r} is {short_repr(values)}; a series is a sequence of numbers, "
        "one a period"
    )
