"""Groups of rows compared: a mean with its interval for each, paired differences to a reference."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from desim.errors import UsageError, possible
from desim.statistics.intervals import Interval, interval
from desim.sweeps.columns import Key, column, mean, means_by_seed, numbers, places
from desim.sweeps.jobs import Row
from desim.sweeps.tables import ComparisonTable, TableLine

__all__ = ["compare"]

#: What two rows must share to be a pair: the seed, and as JSON all that does not make their group.
_Match = tuple[int, str]


def compare(
    rows: Sequence[Row],
    by: tuple[str, ...],
    figures: Sequence[str],
    against: Any,
    level: float,
) -> ComparisonTable:
    """Compare groups of rows; see `Rows.table`.

    Args:
        rows: The rows of all groups.
        by: The columns that make a group.
        figures: Columns of numbers.
        against: The reference group: a value of a column in *by*, one of each, or None.
        level: The level of the intervals, above 0 and below 1.

    Raises:
        UsageError: There is no such column or group, or a column holds no numbers.
    """
    # Only columns are kept for all rows, as the rows of a large sweep do not fit into memory.
    groups = places(rows, by)
    references = _references(list(groups), by, against)
    matches = list(_matches(rows, by)) if references else []
    seeds = column(rows, "seed")
    failed = [error is not None for error in column(rows, "error")]
    lines = []
    for figure in figures:
        values = numbers(rows, figure)
        means = {key: _match_means(matches, values, g) for key, g in groups.items() if matches}
        for key, group in groups.items():
            mine = [values[place] for place in group]
            known = means_by_seed((seeds[place] for place in group), mine, complete=False)
            estimate = interval(list(known.values()), level) if known else None
            other = means.get(references[key]) if key in references else None
            difference = _difference(means[key], other, level) if other else None
            count = sum(failed[place] for place in group)
            lines.append(TableLine(key, figure, estimate, count, difference))
    return ComparisonTable(by, tuple(lines), level, "" if against is None else _text(against))


def _references(keys: Sequence[Key], by: tuple[str, ...], against: Any) -> dict[Key, Key]:
    """Return for each group the group with which it is compared, if that is another one."""
    if against is None:
        return {}
    if against in keys:
        return {key: against for key in keys if key != against}
    for place in range(len(by)):
        if against in (key[place] for key in keys):
            pairs = {key: (*key[:place], against, *key[place + 1 :]) for key in keys}
            return {key: other for key, other in pairs.items() if key != other}
    known = [" and ".join(map(str, key)) for key in keys]
    raise UsageError(f"no group is {_text(against)!r}; {possible(_text(against), known)}")


def _matches(rows: Iterable[Row], by: tuple[str, ...]) -> Iterator[_Match]:
    """Yield for each row what it must share with the row of another group to be its pair."""
    texts: dict[str, str] = {}
    for row in rows:
        text = json.dumps(_shared(row, by))
        yield row["seed"], texts.setdefault(text, text)  # equal texts are kept once


def _shared(row: Row, by: tuple[str, ...]) -> dict[str, Any]:
    shared = {name: row[name] for name in ("model", "preset", "policy") if name not in by}
    # Models differ in their presets and parameters, and presets of one model in its parameters:
    # where these make the groups, rows cannot share them.
    if "model" in by:
        shared.pop("preset", None)
    elif "preset" not in by:
        varied = {name.removeprefix("params.") for name in by}
        shared["params"] = {k: v for k, v in row["params"].items() if k not in varied}
    return shared


def _match_means(
    matches: Sequence[_Match], values: Sequence[float | None], group: Iterable[int]
) -> dict[_Match, float]:
    """Return the mean of the values of a group's rows for each match."""
    known: dict[_Match, list[float]] = {}
    for place in group:
        if (value := values[place]) is not None:
            known.setdefault(matches[place], []).append(value)
    return {match: mean(each) for match, each in known.items()}


def _difference(
    mine: Mapping[_Match, float], theirs: Mapping[_Match, float], level: float
) -> Interval | None:
    """Estimate the mean difference over seeds; the pairs of one seed count as one value."""
    by_seed: dict[int, list[float]] = {}
    for match in mine.keys() & theirs.keys():
        by_seed.setdefault(match[0], []).append(mine[match] - theirs[match])
    means = [mean(differences) for differences in by_seed.values()]
    return interval(means, level) if means else None


def _text(against: Any) -> str:
    return " and ".join(map(str, against)) if isinstance(against, tuple) else str(against)
