"""The calibration targets of the reference's targets.json, as figures of our lender.

Each target has the published value, the mean of the reference prototype, and the band in which the
mean of 200 seeds or more must lie.
"""

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import frozen
from published import reference

from desim import Rows, play
from desim.show.table import Table
from desim.statistics.intervals import interval
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.books import CASH, dollars
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.report import trailing_revenue

ANY = "any"
PROFILES = ("paper", "snapshot")
EQUITY = "raise_when_free,instrument=equity"
#: Our policies by the names of targets.json.
RULES = {
    "pass_only": "never_raise",
    "equity_once_20M": "raise_once,instrument=equity,amount=20_000_000",
    "debt_20M_whenever_free": "raise_when_free,instrument=debt,amount=20_000_000",
    "equity_5M_whenever_free": f"{EQUITY},amount=5_000_000",
    "equity_20M_when_cash_below_15M": (
        "raise_below,floor=15_000_000,instrument=equity,amount=20_000_000"
    ),
    "equity_20M_whenever_free": f"{EQUITY},amount=20_000_000",
    "human_like": "human_like",
    "human_like_three_tranches": "human_like,tranches=3",
    "equity_debt_equity_15M_once_each": (
        "equity_then_debt,sequence=equity+debt+equity,amount=15_000_000"
    ),
}
LOOKING = "never_raise,tools=18.94"
#: Our figures by the ids of targets.json, beside those that end in _survival and _months.
FIGURES = {
    "pass_peak": "peak_cash",
    "pass_last": "end_cash",
    "pass_first_surge": "first_surge",
    "early_low": "early_low",
    "eq20_score": "score",
    "eq20_rounds": "equity_rounds",
    "eq20_raised": "equity_raised",
    "human_score": "score",
    "human_end": "end_cash",
    "human_peak": "peak_cash",
    "human_low": "low_cash",
    "human_eq": "equity_raised",
    "human_debt": "debt_raised",
    "human_requests": "requests",
    "human_rate": "pooled_rate",
    "ttm_revenue": "trailing_revenue",
    "score_identity": "identity",
    "first_request_rate": "pooled_rate",
    "three_round_rate": "pooled_rate",
    "time_average_score": "time_average",
    "time_average_score_paper": "time_average",
}
#: The units of our metrics; dollars are shown in millions.
UNITS = {name: column.unit for name, column in EnterpriseArena().figures.columns.items()}
#: First and last month in which a run that fails in the first surge acts last.
FIRST_SURGE = (32, 37)


@frozen
class Target:
    """A published figure, the prototype's mean, and the acceptance band for an implementation.

    Attributes:
        profile: Preset of the model.
        policy: Spec of the policy, or `ANY` for all.
        figure: A metric of the model, or a figure that `values` computes; money in millions.
        published: As targets.json quotes it.
        prototype: Mean of the reference prototype.
        band: Acceptance band for 200 seeds or more; None if the target is informational.
    """

    profile: str
    policy: str
    figure: str
    published: str
    prototype: float
    band: tuple[float, float] | None


def targets() -> list[Target]:
    """Return the targets of the reference, in its order."""
    text = reference("enterprise_arena/targets.json").read_text()
    return [_target(each) for each in json.loads(text)["targets"]]


def _target(given: Mapping[str, Any]) -> Target:
    policy, name = given["policy"], given["id"]
    ending = {"survival": "survived", "months": "months"}.get(name.rpartition("_")[2], "")
    spread = f" ({given['target_sd']})" if given.get("target_sd") else ""
    return Target(
        given["profile"],
        policy if policy == ANY else RULES.get(policy, LOOKING),
        FIGURES.get(name, ending),
        f"{given['target']}{spread}",
        given["achieved"],
        tuple(given["implementation_band"]) if "implementation_band" in given else None,
    )


def compare(played: Mapping[str, Rows], early: Rows, seeds: int, **changes: str) -> Table:
    """Return a table of every target of the presets played beside our figure.

    Args:
        played: The episodes of all rules by preset.
        early: Episodes of three months in which nothing is raised.
        seeds: Number of seeds of each.
        changes: Parameters with which the presets were played.
    """
    profile = ", ".join(["profile", *(f"{name}={value}" for name, value in changes.items())])
    heads = [profile, "rule", "figure", "published", "prototype", "ours", "± 95 %", "band"]
    return Table(
        [*heads, f"inside, {seeds} seeds"],
        (
            cells(each, values(each, played[each.profile], early, seeds, **changes))
            for each in targets()
            if each.profile in played
        ),
    )


def cells(target: Target, ours: Sequence[float]) -> list[str]:
    """Return the texts of a target, our mean, and whether it is inside the band."""
    mean = interval(ours)
    texts = [
        target.profile,
        target.policy.replace(",instrument=equity", ""),
        target.figure,
        target.published,
        f"{target.prototype:.3f}",
        f"{mean.mean:.3f}",
        f"{mean.half:.3f}" if mean.half is not None else "",
    ]
    if target.band is None:
        return [*texts, "", ""]
    low, high = target.band
    return [*texts, f"{low:g} to {high:g}", "yes" if low <= mean.mean <= high else "NO"]


def values(target: Target, rows: Rows, early: Rows, seeds: int, **changes: str) -> list[float]:
    """Return a target's figure, one value for each episode, or one for all."""
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
            return [time_average(target.profile, seed, **changes) / 1e6 for seed in range(seeds)]
    return shown(mine, target.figure)


def pooled(parts: Sequence[float], wholes: Sequence[float]) -> list[float]:
    """Return values whose mean is sum(parts) / sum(wholes), and whose spread is that of the ratio.

    They are the pseudo-values of the delta method: r + (part - r whole) / mean whole.
    """
    ratio, size = sum(parts) / sum(wholes), fmean(wholes)
    return [
        ratio + (part - ratio * whole) / size for part, whole in zip(parts, wholes, strict=True)
    ]


def residual(row: Mapping[str, Any]) -> float:
    """Return the difference of a survivor's score from SPEC section 13, millions."""
    m = row["metrics"]
    expected = 5 * m["trailing_revenue"] + m["end_cash"] - 5_000 * m["tool_calls"]
    return abs(float(row["score"] - expected)) / 1e6


def time_average(profile: str, seed: int, **changes: str) -> float:
    """Return the mean over months of the running score without funding, dollars."""
    model = EnterpriseArena.preset(profile, **changes)
    return fmean(running_scores(play(model, LOOKING, seed).state))


def running_scores(lender: Lender) -> list[float]:
    """Return the score at the end of every month closed, dollars.

    Before `trailing_months` have passed, revenue is scaled up to that many months.
    """
    params, trailing = lender.params, lender.params.trailing_months
    scores = []
    for month in range(lender.months_closed):
        revenue = dollars(trailing_revenue(lender, month)) * (trailing / min(trailing, month + 1))
        cash = dollars(lender.books.book.balance(CASH, at=month))
        charged = params.tool_charge * sum(lender.calls[: month + 1])
        scores.append(params.valuation_multiple * revenue + cash - charged)
    return scores


def shown(rows: Rows, name: str) -> list[float]:
    """Return the values of a column; dollars in millions."""
    scale = 1e6 if UNITS.get(name) == "dollars" else 1.0
    return [value / scale for value in rows.values(name)]
