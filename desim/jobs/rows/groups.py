"""Comparisons of groups of rows: means with intervals, paired differences to a reference."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from desim.errors import UsageError, possible
from desim.jobs.plan.job import Row
from desim.jobs.rows.columns import Key, column, holds_truth_values, mean, means_by_seed, places
from desim.jobs.rows.comparison_table import ComparisonTable, TableLine
from desim.jobs.rows.failures import counted, different_seeds
from desim.jobs.rows.known_means import knowledge_of_groups, known_note
from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import Difference, difference, simultaneous
from desim.statistics.proportions import are_truth_values, share

#: The values that paired rows share: the seed, and as JSON all that does not define their groups.
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
        level: The level of the intervals, above 0 and below 1; the joint level of the differences
            of one figure.

    Raises:
        UsageError: A column or the group does not exist, or a column holds other values than
            numbers.
    """
    # Only columns are kept for all rows, as the rows of a large sweep do not fit into memory.
    groups = places(rows, by)
    references = _references(list(groups), by, against)
    matches = list(_matches(rows, by)) if references else []
    seeds = column(rows, "seed")
    failed = [error is not None for error in column(rows, "error")]
    different = {key: different_seeds(rows, group) for key, group in groups.items()}
    each_level = simultaneous(level, len(references))
    lines = []
    for figure in figures:
        values, truth = counted(rows, figure), holds_truth_values(rows, figure)
        missing = [out and value is None for out, value in zip(failed, values, strict=True)]
        known = {key: g for key, g in groups.items() if not any(missing[at] for at in g)}
        means = {key: _match_means(matches, values, g) for key, g in known.items() if matches}
        for key, group in groups.items():
            mine = [values[place] for place in known.get(key, ())]
            by_seed = means_by_seed((seeds[at] for at in known.get(key, ())), mine, complete=False)
            pair = means.get(key), means.get(references.get(key, ()))
            lines.append(
                TableLine(
                    key,
                    figure,
                    estimated(list(by_seed.values()), level, truth=truth),
                    sum(failed[place] for place in group),
                    _difference(*pair, each_level, truth=truth),
                    different[key],
                )
            )
    text = "" if against is None else _reference_label(against)
    levels = knowledge_of_groups(rows, groups, by)
    note = known_note(rows, seeds) if "score" in figures else ""
    return ComparisonTable(by, tuple(lines), level, text, len(references), levels, note)


def estimated(values: Sequence[float], level: float, *, truth: bool = False) -> Interval | None:
    """Return a mean with its interval; None without values.

    Args:
        values: One for each seed.
        level: The level of the interval.
        truth: Whether they come from truth values. If each is 0 or 1, the interval is Wilson's; if
            some are means over several rows of a seed, it is Student's.
    """
    if not values:
        return None
    if truth and len(values) > 1 and are_truth_values(values):
        return share(values, level)
    return interval(values, level)


def _references(keys: Sequence[Key], by: tuple[str, ...], against: Any) -> dict[Key, Key]:
    """Return the reference of each group, for the groups that differ from their reference."""
    if against is None:
        return {}
    if against in keys:
        return {key: against for key in keys if key != against}
    for place in range(len(by)):
        if against in (key[place] for key in keys):
            pairs = {key: (*key[:place], against, *key[place + 1 :]) for key in keys}
            return {key: other for key, other in pairs.items() if key != other}
    known = [" and ".join(map(str, key)) for key in keys]
    raise UsageError(
        f"no group is {_reference_label(against)!r}; {possible(_reference_label(against), known)}"
    )


def _matches(rows: Iterable[Row], by: tuple[str, ...]) -> Iterator[_Match]:
    """Yield for each row the values that it shares with its pair in another group."""
    texts: dict[str, str] = {}
    for row in rows:
        text = json.dumps(_shared(row, by))
        yield row["seed"], texts.setdefault(text, text)  # equal texts are kept once


def _shared(row: Row, by: tuple[str, ...]) -> dict[str, Any]:
    shared = {name: row[name] for name in ("model", "preset", "policy") if name not in by}
    varied = {name.removeprefix("policy.") for name in by if name.startswith("policy.")}
    if varied and "policy" in shared:
        # The label of a policy names the arguments that define the groups.
        shared["policy"] = row["policy"].partition(",")[0]
        shared["arguments"] = {k: v for k, v in row["arguments"].items() if k not in varied}
    # Models differ in their presets and parameters, and presets of one model in its parameters:
    # if these define the groups, rows cannot share them.
    if "model" in by:
        shared.pop("preset", None)
    elif "preset" not in by:
        named = {name.removeprefix("params.") for name in by}
        shared["params"] = {k: v for k, v in row["params"].items() if k not in named}
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
    mine: Mapping[_Match, float] | None,
    theirs: Mapping[_Match, float] | None,
    level: float,
    *,
    truth: bool,
) -> Difference | None:
    """Estimate the mean difference over seeds; the pairs of one seed count as one value."""
    if mine is None or theirs is None:
        return None
    by_seed: dict[int, list[_Match]] = {}
    for match in mine.keys() & theirs.keys():
        by_seed.setdefault(match[0], []).append(match)
    if not by_seed:
        return None
    # In the order of the seeds, so that rounding does not depend on the order of the set.
    matches = [by_seed[seed] for seed in sorted(by_seed)]
    one, other = (
        [mean([side[match] for match in each]) for each in matches] for side in (mine, theirs)
    )
    return difference(one, other, level, truth=truth)


def _reference_label(against: Any) -> str:
    return " and ".join(map(str, against)) if isinstance(against, tuple) else str(against)
