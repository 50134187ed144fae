"""The share of episodes that are still running, period by period, with intervals."""

from collections.abc import Iterator, Sequence
from itertools import islice

from desim.jobs.rows.rows import Rows
from desim.reports.charts import Fan, fans
from desim.reports.page import Figure, Given, Table
from desim.show.labels import NOTHING
from desim.statistics.intervals import Interval
from desim.statistics.proportions import share

__all__ = ["still_running"]

#: Policies of the figure.
_MOST_GROUPS = 12

_HALF = 0.5


def still_running(rows: Rows) -> Iterator[Given]:
    """Yield a figure of survival curves, a panel for each policy of one world.

    The length of an episode is that of its longest series. Without series, or where all episodes
    are equally long, there is no figure. Every episode is observed up to its end, so that the curve
    is a share of them in each period, and no estimator for cut-off durations is needed.
    """
    played = {str(policy): _lengths(each) for (policy,), each in rows.groups("policy").items()}
    known = {policy: lengths for policy, lengths in played.items() if lengths}
    longest = max(map(max, known.values()), default=0)
    if longest == min(map(min, known.values()), default=0):
        return
    curves = {policy: _curve(lengths, longest) for policy, lengths in known.items()}
    shown = dict(islice(curves.items(), _MOST_GROUPS))
    notes = [
        (
            f"an episode counts as running to the end if it has a value in period {longest:,}, "
            "the last of any policy, however it ended there"
        ),
        "interval: 95 % (Wilson), each period for itself",
        "failed episodes are left out",
    ]
    if len(curves) > len(shown):
        notes.append(f"the figure shows {len(shown)} of {len(curves):,} policies")
    yield Figure(
        "Episodes still running in each period, and the 95 % interval",
        fans(
            [_fan(policy, curve) for policy, curve in shown.items()],
            range(1, longest + 1),
            "period",
            "% still running",
        ),
        f"Survival curves over {longest} periods, a panel for each of {len(shown)} policies.",
        Table.of(
            ["policy", "episodes", "ended early", "% to the end", "interval", "half ended before"],
            ([policy, *_cells(curve)] for policy, curve in curves.items()),
            notes=notes,
        ),
    )


def _lengths(rows: Rows) -> list[int]:
    """Return the number of periods of each episode that holds series."""
    lengths = (max(map(len, row.get("series", {}).values()), default=0) for row in rows)
    return [length for length in lengths if length]


def _curve(lengths: Sequence[int], longest: int) -> list[Interval]:
    """Return the share of episodes with a value in each period."""
    return [share([n >= period for n in lengths]) for period in range(1, longest + 1)]


def _fan(policy: str, curve: Sequence[Interval]) -> Fan:
    """Return the curve as percentages, with its interval as the band."""
    ends = [[100 * (one.low or 0.0), 100 * one.mean, 100 * (one.high or 0.0)] for one in curve]
    return Fan(policy, *zip(*ends, strict=True))


def _cells(curve: Sequence[Interval]) -> list[str]:
    """Return episodes, those that ended early, the share at the end, its interval, the median."""
    last = curve[-1]
    half = next((at for at, one in enumerate(curve, 1) if one.mean <= _HALF), None)
    return [
        f"{last.n:,}",
        f"{round(last.n * (1 - last.mean)):,}",
        f"{100 * last.mean:.0f}",
        f"{100 * (last.low or 0.0):.0f} to {100 * (last.high or 0.0):.0f}",
        NOTHING if half is None else f"period {half:,}",
    ]
