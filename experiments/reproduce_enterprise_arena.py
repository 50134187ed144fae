"""Does our lender live and die as the calibrated prototype, and how do our rules do beside humans?

Bands and published figures are constants of this script: those of reference targets.json (its
acceptance bands for 200 seeds or more) and of the paper's Table 2 as the reference quotes it. The
tests compare them with the reference folder where that is present.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import click
from attrs import frozen
from beside import table
from rich.console import Console
from rich.table import Table

from desim import Rows, sweep
from desim.stats import interval
from desim.table import Table as Seated
from models.enterprise_arena.score import curve

NEVER = "never_raise"
ONCE = "raise_once,instrument=equity,amount=20_000_000"
DEBT = "raise_when_free,instrument=debt,amount=20_000_000"
SMALL = "raise_when_free,instrument=equity,amount=5_000_000"
BELOW = "raise_below,floor=15_000_000,instrument=equity,amount=20_000_000"
FREE = "raise_when_free,instrument=equity,amount=20_000_000"
HUMAN = "human_like"
TRANCHES = "human_like,tranches=3"
EDE = "equity_then_debt,sequence=equity+debt+equity,amount=15_000_000"
TREASURER = "treasurer"
LOOKING = "never_raise,tools=18.94"
ANY = "any"

#: Played in both profiles, in the order of the tables.
RULES = (NEVER, ONCE, EDE, DEBT, SMALL, BELOW, FREE, HUMAN, TRANCHES, TREASURER)
PROFILES = ("paper", "snapshot")
#: Months in which a run that dies in the first surge acts last.
FIRST_SURGE = (32, 37)


@frozen
class Target:
    """A published figure, what the prototype makes of it, and where an implementation must lie.

    Attributes:
        profile: Preset of the model.
        policy: Spec of ours.
        figure: A metric of the model, or one of `FIGURES`; money in millions.
        published: As targets.json quotes it, with its standard deviation.
        prototype: Mean of the reference prototype.
        band: Acceptance band for 200 seeds or more; None: informational.
    """

    profile: str
    policy: str
    figure: str
    published: str
    prototype: float
    band: tuple[float, float] | None


#: In the order of targets.json.
TARGETS = tuple(
    Target(*row)
    for row in (
        ("paper", NEVER, "months", "38 to 44 (11 to 15)", 39.682, (36.5, 42.8)),
        ("paper", NEVER, "peak_cash", "38.8 (1.2)", 38.669, (38.3, 39.1)),
        ("paper", NEVER, "end_cash", "-2.5 (1.8)", -2.152, (-2.65, -1.65)),
        ("paper", NEVER, "survived", "0.0", 0.0, (0.0, 0.02)),
        ("paper", NEVER, "first_surge", "0.75", 0.741, (0.63, 0.85)),
        ("paper", NEVER, "early_low", "14.3 (0.2)", 14.277, (14.2, 14.4)),
        ("paper", FREE, "score", "135 to 160", 157.534, (152.0, 163.0)),
        ("paper", FREE, "survived", "1.0", 1.0, (0.98, 1.0)),
        ("paper", FREE, "equity_rounds", "8.3", 8.148, (7.8, 8.5)),
        ("paper", FREE, "equity_raised", "139", 138.594, (133.0, 144.0)),
        ("paper", HUMAN, "score", "152.2 (29.6)", 152.117, (146.0, 158.0)),
        ("paper", HUMAN, "survived", "1.0", 1.0, (0.99, 1.0)),
        ("paper", HUMAN, "end_cash", "136.7 (31.1)", 137.058, (131.0, 143.0)),
        ("paper", HUMAN, "peak_cash", "181.2 (64.4)", 217.149, (200.0, 234.0)),
        ("paper", HUMAN, "low_cash", "14.3 (0.2)", 14.38, (14.2, 14.5)),
        ("paper", HUMAN, "equity_raised", "131.1 (29.5)", 133.261, (127.0, 139.0)),
        ("paper", HUMAN, "debt_raised", "76.0 (107.4)", 76.364, (67.0, 86.0)),
        ("paper", HUMAN, "requests", "4.5", 3.768, (3.3, 4.25)),
        ("paper", HUMAN, "pooled_rate", "0.75", 0.796, (0.72, 0.87)),
        ("paper", HUMAN, "trailing_revenue", "3.1 (0.3)", 3.038, (2.94, 3.13)),
        ("paper", ANY, "identity", "0", 0.0, (-0.01, 0.01)),
        ("paper", ONCE, "pooled_rate", "0.85", 0.852, (0.75, 0.93)),
        ("paper", TRANCHES, "pooled_rate", "0.65", 0.688, (0.62, 0.76)),
        ("snapshot", NEVER, "survived", "0.0", 0.0, (0.0, 0.02)),
        ("snapshot", NEVER, "months", "33", 33.046, (32.5, 33.6)),
        ("paper", NEVER, "survived", "0.0", 0.0, (0.0, 0.02)),
        ("paper", NEVER, "months", "33", 39.682, (36.5, 42.8)),
        ("snapshot", ONCE, "survived", "0.0", 0.016, (0.0, 0.067)),
        ("snapshot", ONCE, "months", "57", 59.193, (54.9, 63.5)),
        ("paper", ONCE, "survived", "0.0", 0.036, (0.0, 0.102)),
        ("paper", ONCE, "months", "57", 62.898, (57.7, 68.1)),
        ("snapshot", DEBT, "survived", "0.0", 0.002, (0.0, 0.033)),
        ("snapshot", DEBT, "months", "79", 80.072, (73.9, 86.2)),
        ("paper", DEBT, "survived", "0.0", 0.005, (0.0, 0.042)),
        ("paper", DEBT, "months", "79", 84.299, (78.0, 90.6)),
        ("snapshot", SMALL, "survived", "0.56", 0.486, (0.342, 0.63)),
        ("snapshot", SMALL, "months", "105", 99.314, (90.6, 108.0)),
        ("paper", SMALL, "survived", "0.56", 0.588, (0.446, 0.73)),
        ("paper", SMALL, "months", "105", 107.194, (99.1, 115.3)),
        ("snapshot", BELOW, "survived", "0.74", 0.745, (0.617, 0.873)),
        ("snapshot", BELOW, "months", "111", 115.406, (107.5, 123.3)),
        ("paper", BELOW, "survived", "0.74", 0.521, (0.377, 0.665)),
        ("paper", BELOW, "months", "111", 98.168, (88.9, 107.4)),
        ("snapshot", FREE, "survived", "1.0", 1.0, (0.98, 1.0)),
        ("snapshot", FREE, "months", "131", 131.0, (130.7, 131.3)),
        ("paper", FREE, "survived", "1.0", 1.0, (0.98, 1.0)),
        ("paper", FREE, "months", "131", 131.0, (130.7, 131.3)),
        ("snapshot", LOOKING, "time_average", "28.6", 29.683, (28.8, 30.6)),
        ("paper", LOOKING, "time_average", "28.6", 28.086, (27.2, 29.0)),
        ("snapshot", EDE, "survived", "0.14", 0.134, (0.05, 0.23)),
        ("snapshot", EDE, "months", "76", 77.743, None),
    )
)

#: Metrics that are dollars; they are shown in millions.
MONEY = (
    "score",
    "peak_cash",
    "end_cash",
    "low_cash",
    "equity_raised",
    "debt_raised",
    "total_raised",
    "trailing_revenue",
)

#: The columns of the paper's Table 2, in three tables.
COLUMNS = {
    "outcome": (
        "score",
        "survived",
        "months",
        "trailing_revenue",
        "peak_cash",
        "end_cash",
        "low_cash",
    ),
    "funding": (
        "equity_raised",
        "debt_raised",
        "total_raised",
        "success_rate",
        "request_share",
        "successful_request_share",
    ),
    "decisions": ("tool_calls_per_month", "closing_share", "passes", "pass_share"),
}

#: Rows of the paper's Table 2 that the reference quotes: mean (standard deviation).
PAPER: dict[str, dict[str, str]] = {
    "paper: no funding, 5 runs": {
        "survived": "0",
        "months": "38 (11)",
        "peak_cash": "38.8 (1.4)",
        "end_cash": "-2.3 (1.6)",
    },
    "paper: one small debt, 5 runs": {
        "survived": "0",
        "months": "43 (14)",
        "peak_cash": "38.9 (0.8)",
        "end_cash": "-2.6 (2.0)",
    },
    "paper: human, 2 experts": {
        "score": "152.2 (29.6)",
        "survived": "1",
        "trailing_revenue": "2.9 and 3.4",
        "peak_cash": "181.2 (64.4)",
        "end_cash": "136.7 (31.1)",
        "low_cash": "14.3 (0.2)",
        "equity_raised": "131.1 (29.5)",
        "debt_raised": "76.0 (107.4)",
        "success_rate": "0.75",
        "request_share": "0.034",
        "tool_calls_per_month": "0.2",
    },
}


@click.command()
@click.option("--seeds", default=200, show_default=True, help="Episodes of each rule.")
@click.option("--jobs", default=2, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the targets, then the columns of Table 2."""
    out = Console(highlight=False, width=160)
    played = {
        profile: sweep(f"enterprise_arena/{profile}", list(RULES), range(seeds), jobs=jobs)
        for profile in PROFILES
    }
    early = sweep("enterprise_arena", NEVER, range(seeds), set={"horizon": 3}, jobs=jobs)
    out.print(targets(played, early, seeds))
    for profile, rows in played.items():
        for name, columns in COLUMNS.items():
            out.print(standing(f"{profile}, {name}", rows, columns))


# -- targets ---------------------------------------------------------------------------------------


def targets(played: Mapping[str, Rows], early: Rows, seeds: int) -> Table:
    """Lay every target beside ours."""
    head = ("profile", "rule", "figure", "published", "prototype", "ours", "± 95 %", "band")
    rows = table(*head, f"inside, {seeds} seeds")
    for target in TARGETS:
        rows.add_row(*told(target, values(target, played[target.profile], early, seeds)))
    return rows


def told(target: Target, ours: Sequence[float]) -> list[str]:
    """Write a target, what we make of it, and whether that is inside the band."""
    mean = interval(ours)
    cells = [
        target.profile,
        target.policy.replace(",instrument=equity", ""),
        target.figure,
        target.published,
        f"{target.prototype:.3f}",
        f"{mean.mean:.3f}",
        f"{mean.half:.3f}" if mean.half is not None else "",
    ]
    if target.band is None:
        return [*cells, "", ""]
    low, high = target.band
    return [*cells, f"{low:g} to {high:g}", "yes" if low <= mean.mean <= high else "NO"]


def values(target: Target, rows: Rows, early: Rows, seeds: int) -> list[float]:
    """Return a target's figure, one value an episode; the identity is one for all."""
    mine = rows if target.policy == ANY else rows.where(policy=target.policy)
    match target.figure:
        case "early_low":
            return shown(early, "low_cash")
        case "first_surge":
            first, last = FIRST_SURGE
            return [float(first <= month <= last) for month in mine.values("months")]
        case "pooled_rate":
            return pooled(mine.values("successes"), mine.values("requests"))
        case "identity":
            return [max(map(residual, mine.where(survived=True)))]
        case "time_average":
            return [time_average(target.profile, seed) / 1e6 for seed in range(seeds)]
    return shown(mine, target.figure)


def pooled(parts: Sequence[float], wholes: Sequence[float]) -> list[float]:
    """Return values whose mean is sum over sum, and whose spread is that of the ratio.

    They are the pseudo-values of the delta method: r + (part - r whole) / mean whole.
    """
    ratio, size = sum(parts) / sum(wholes), fmean(wholes)
    return [
        ratio + (part - ratio * whole) / size for part, whole in zip(parts, wholes, strict=True)
    ]


def residual(row: Mapping[str, Any]) -> float:
    """Return by how much a survivor's score misses SPEC section 13, millions."""
    m = row["metrics"]
    worth = 5 * m["trailing_revenue"] + m["end_cash"] - 5_000 * m["tool_calls"]
    return abs(float(row["score"] - worth)) / 1e6


def time_average(profile: str, seed: int) -> float:
    """Return the mean over months of the running score without funding, dollars."""
    with Seated(f"enterprise_arena/{profile}", LOOKING, seed, None) as played:
        played.played()
        return fmean(curve(played.run.state))


# -- Table 2 ---------------------------------------------------------------------------------------


def standing(title: str, rows: Rows, columns: Sequence[str]) -> Table:
    """Our rules under some columns of Table 2, below the rows of the paper."""
    made = table(title, *columns)
    for name, quoted in PAPER.items():
        if any(column in quoted for column in columns):
            made.add_row(name, *[quoted.get(column, "") for column in columns])
    for rule in RULES:
        mine = rows.where(policy=rule)
        cells = [mean_half(shown(mine, column)) for column in columns]
        made.add_row(rule.replace(",instrument=equity", ""), *cells)
    return made


def shown(rows: Rows, name: str) -> list[float]:
    """Return a column, dollars in millions."""
    scale = 1e6 if name in MONEY else 1.0
    return [value / scale for value in rows.values(name)]


def mean_half(known: Sequence[float]) -> str:
    """Write a mean and half its 95 % interval; nothing where no episode has the figure."""
    if not known:
        return ""
    mean = interval(known)
    return f"{mean.mean:.2f}" + (f" ± {mean.half:.2f}" if mean.half is not None else "")


if __name__ == "__main__":  # spawn imports this file again
    main()
