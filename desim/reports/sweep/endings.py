"""The ends of episodes, and the reasons of failures.

The share of episodes that are still running, period by period, with intervals.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from desim.jobs.rows.rows import Rows
from desim.reports.elements.charts import Fan, fans, shares
from desim.reports.elements.page import Figure, Given, clean, cleaned, note_of_cut
from desim.statistics.intervals import Interval
from desim.statistics.proportions import share

#: Ways to end that have a colour of their own, policies of a figure, errors, seeds of an error.
_MOST_WAYS, _MOST_SHOWN, _MOST_ERRORS, _MOST_SEEDS = 7, 40, 30, 5

_FAILED, _OTHER = "failed", "other"

_NUMBER = re.compile(r"\d+")


def endings(rows: Rows) -> Iterator[Given]:
    """Yield how many episodes of each policy ended in which way."""
    found: dict[str, Counter[str]] = {}
    total = Counter[str]()
    columns = (rows.column(name) for name in ("policy", "ended", "error"))
    for policy, ended, error in zip(*columns, strict=True):
        way = _FAILED if error is not None else clean(ended, 60)
        found.setdefault(str(policy), Counter())[way] += 1
        total[way] += 1
    ways = [way for way, _ in total.most_common(_MOST_WAYS)]
    rest = len(total) - len(ways)
    shown = dict(islice(found.items(), _MOST_SHOWN))
    parts = {way: [_share(counts, [way]) for counts in shown.values()] for way in ways}
    if rest:
        others = [way for way in total if way not in ways]
        parts[_OTHER] = [_share(counts, others) for counts in shown.values()]
    notes = [f"other: {rest} further ways to end"] if rest else []
    notes += note_of_cut(shown, found, "policies")
    yield Figure(
        "How episodes ended",
        shares(list(shown), parts, "% of the episodes"),
        f"Shares of {', '.join(parts)} among the episodes of {len(shown)} policies.",
        cleaned(
            ["policy", "episodes", *parts],
            (
                [policy, *_counts(counts, ways, other=bool(rest))]
                for policy, counts in found.items()
            ),
            notes=notes,
        ),
    )


def failures(rows: Rows) -> Iterator[Given]:
    """Yield the errors of failed episodes, the most frequent first."""
    found: dict[tuple[str, str], list[Any]] = {}
    first: dict[tuple[str, str], str] = {}
    for row in rows.failed:
        error = clean(row["error"])
        # Errors of one kind differ in times, seeds and amounts.
        key = str(row["policy"]), _NUMBER.sub("0", error)
        first.setdefault(key, error)
        found.setdefault(key, []).append(row["seed"])
    if not found:
        return
    yield f"{sum(map(len, found.values())):,} of {len(rows):,} episodes failed."
    each = sorted(found.items(), key=lambda item: -len(item[1]))
    yield cleaned(
        ["policy", "episodes", "seeds", "error, or the first of several"],
        ([key[0], len(seeds), _seeds(seeds), first[key]] for key, seeds in each),
        left=(0, 2, 3),
        notes=["errors that differ in numbers only are one line"],
        most=_MOST_ERRORS,
    )


def _share(counts: "Counter[str]", ways: list[str]) -> float:
    return 100 * sum(counts[way] for way in ways) / counts.total()


def _counts(counts: "Counter[str]", ways: list[str], *, other: bool) -> list[int]:
    known = [counts[way] for way in ways]
    rest = [counts.total() - sum(known)] if other else []
    return [counts.total(), *known, *rest]


def _seeds(seeds: list[Any]) -> str:
    unique = list(dict.fromkeys(seeds))
    more = f" and {len(unique) - _MOST_SEEDS:,} more" if len(unique) > _MOST_SEEDS else ""
    return ", ".join(map(str, unique[:_MOST_SEEDS])) + more


#: Policies of the figure.
_MOST_GROUPS = 12

_HALF = 0.5


def still_running(rows: Rows) -> Iterator[Given]:
    """Yield a figure of survival curves, a panel for each policy of one world.

    The length of an episode is that of its longest series. Without series, or if all episodes are
    equally long, it yields nothing. Every episode is observed up to its end, so that the curve
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
        *note_of_cut(shown, curves, "policies"),
    ]
    yield Figure(
        "Episodes still running in each period, and the 95 % interval",
        fans(
            [_fan(policy, curve) for policy, curve in shown.items()],
            range(1, longest + 1),
            "period",
            "% still running",
        ),
        f"Survival curves over {longest} periods, a panel for each of {len(shown)} policies.",
        cleaned(
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


def _cells(curve: Sequence[Interval]) -> list[object]:
    """Return episodes, those that ended early, the share at the end, its interval, the median."""
    last = curve[-1]
    half = next((at for at, one in enumerate(curve, 1) if one.mean <= _HALF), None)
    return [
        last.n,
        round(last.n * (1 - last.mean)),
        f"{100 * last.mean:.0f}",
        f"{100 * (last.low or 0.0):.0f} to {100 * (last.high or 0.0):.0f}",
        None if half is None else f"period {half:,}",
    ]
