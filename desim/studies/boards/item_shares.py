"""Shares of items answered right, for all items of a world and for each of their groups."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from desim.engine.plan import ITEMS
from desim.rows.rows import Rows
from desim.show.table import Printed, Table
from desim.statistics.clusters import ClusteredMean, clustered_share

_ALL = "all"

_PARTS = (
    "an answer is right if all of it is; the mean score above also counts the right parts of others"
)

_LEGEND = (
    "shares of items answered right, with 95 % intervals over the items (Wilson's, an item counts "
    "once however often it was answered)"
)


def item_shares(
    rows: Rows, groups: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, ClusteredMean]]:
    """Return by group and policy the share of items answered right.

    Args:
        rows: The rows of a world with items.
        groups: By item its groups; all items together are a group of their own. A group of a
            single item has no share.
    """
    found: dict[str, dict[str, tuple[list[bool], list[str]]]] = {_ALL: {}}
    for row in rows:
        for item, (_, right) in row.get(ITEMS, {}).items():
            for group in (_ALL, *groups.get(item, ())):
                of_policy = found.setdefault(group, {}).setdefault(row["policy"], ([], []))
                of_policy[0].append(right)
                of_policy[1].append(item)
    shares = {
        group: {policy: clustered_share(*each) for policy, each in of_group.items()}
        for group, of_group in found.items()
    }
    return {
        group: of_group
        for group, of_group in shares.items()
        if any(one.clusters > 1 for one in of_group.values())
    }


def item_table(rows: Rows, groups: Mapping[str, Sequence[str]], policies: Sequence[str]) -> Table:
    """Return the shares of some policies as a table with a line a group.

    Args:
        rows: See `item_shares`.
        groups: See `item_shares`.
        policies: Their columns, in order.
    """
    shares = item_shares(rows, groups)
    parts = any(part and not right for row in rows for part, right in row.get(ITEMS, {}).values())
    lines: list[list[Any]] = []
    for group in sorted(shares, key=lambda name: (name != _ALL, name)):
        of_group = shares[group]
        items = max(one.clusters for one in of_group.values())
        cells = [_share_cell(of_group.get(policy)) for policy in policies]
        lines.append([group.replace("_", " "), items, *cells])
    return Table(
        ["items", "n", *policies],
        lines,
        left=(0,),
        title="shares of items answered right",
        notes=(_PARTS,) * parts,
        legend=(_LEGEND,),
        breaks=accumulate([2, *[1] * (len(policies) - 1)]),
    )


def _share_cell(share: ClusteredMean | None) -> Printed | None:
    if share is None or share.low is None or share.high is None:
        return None
    text = f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"
    return Printed((share.mean, share.low, share.high), text)
