"""The ends of episodes, and the reasons of failures."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from desim.reports.charts import shares
from desim.reports.page import Figure, Given, clean, cleaned, note_of_cut
from desim.rows.rows import Rows

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
    if len(total) == 1:
        (way,) = total
        yield f"All episodes {way if way == _FAILED else f'ended alike: {way}'}."
        return
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
