"""Figures of YC-Bench: funds by month, trusted and adversarial work."""

from typing import Any

import numpy as np
from beside import named
from figure_style import PALE, Drawn, axes, finish, label_ends, line, played
from published import find

from models.yc_bench import YCBench

THOUSAND, CENTS = 1e3, 100

FOUNDERS = ("planner", "focus", "learning_focus", "published_throughput", "published_greedy")
MONTHS = range(1, 13)
LABELS = ("month of 2025", "mean funds at the end of the month, thousand USD")


def yc_funds(seeds: int) -> Drawn:
    """Draw funds by month: 18 published models and the published greedy rule, then our policies."""
    curves = find("yc_bench", "curves")
    board = [name for name in find("yc_bench", "leaderboard") if name in curves]
    figure, (left, right) = axes(2, width=6.2, height=5.4)
    ends = []
    for name in board:
        ys = [cell.value / THOUSAND for cell in curves[name].cells.values()]
        ours = name == "Greedy Bot"
        left.plot(MONTHS, ys, color="black" if ours else PALE, linewidth=2.2 if ours else 1)
        ends.append((ys[-1], f"{name} {_money(ys[-1])}", "black" if ours else "0.3"))
    finish(left, f"Published: {len(board) - 1} models and a rule", *LABELS)
    left.set_ylim(bottom=0)
    label_ends(left, ends, 12)

    rows = played("yc_bench/default", FOUNDERS, seeds).series("funds_cents")
    means = {named(YCBench(), name): _mean(rows[name]) for name in FOUNDERS}
    direct = played("yc_bench/direct", ("published_greedy",), 3).series("funds_cents")
    means["published_greedy, direct"] = _mean(direct["published_greedy"])
    for number, ys in enumerate(means.values()):
        line(right, number, MONTHS, ys)
    best = curves[board[0]]
    ys = [cell.value / THOUSAND for cell in best.cells.values()]
    right.plot(MONTHS, ys, color=PALE, linewidth=2)
    ends = [(ys[-1], f"{name} {_money(ys[-1])}", "black") for name, ys in means.items()]
    ends.append((ys[-1], f"published: {best.label}", "0.3"))
    finish(right, "Ours, without a language model", *LABELS)
    right.set_ylim(bottom=0)
    label_ends(right, ends, 12)
    return figure, (
        "YC-Bench, funds at the end of each month. Left: public leaderboard, mean of 3 seeds each. "
        "January is the start for the paper's models and a month's end for the six added later. "
        f"Right: desim, preset default, mean of {seeds} seeds; the greedy rule of preset direct "
        "(seeds 1 to 3) is the published baseline. Funds below zero count as none. Note the "
        "different scales."
    )


def _mean(cents: Any) -> Any:
    """Return the mean funds by month, thousand USD; a debt counts as none, as published."""
    return np.maximum(cents, 0).mean(0) / CENTS / THOUSAND


def _money(thousands: float) -> str:
    return f"${thousands / 1000:.2f}M" if thousands >= 1000 else f"${thousands:.0f}K"


def yc_conduct(seeds: int) -> Drawn:
    """Draw the share of trusted and of adversarial work, by published model and by policy."""
    figure, panels = axes(2, width=5.2, height=5.6)
    rows = played("yc_bench/default", FOUNDERS, seeds)
    shown = (
        ("figure_3a", "succeeded_trust_share", "tasks done that needed trust, percent"),
        ("figure_4a", "adversarial_share", "accepted tasks of adversarial clients, percent"),
    )
    for panel, (sheet, metric, label) in zip(panels, shown, strict=True):
        lines = [row for row in find("yc_bench", sheet).values() if "seeds_sorted" in row.cells]
        marks = [
            (row.label, row.cells["mean"].value, row.cells["seeds_sorted"].value) for row in lines
        ]
        for place, (_, mean, dots) in enumerate(marks):
            panel.plot(dots, [place] * len(dots), ".", color=PALE, markersize=5)
            panel.plot(mean, place, "|", color="0.3", markersize=13, markeredgewidth=2)
        for place, name in enumerate(FOUNDERS, len(marks) + 1):
            values = [100 * value for value in rows.where(policy=name).values(metric)]
            panel.plot(values, [place] * len(values), ".", color="0.4", markersize=4)
            panel.plot(np.mean(values), place, "D", color="black", markersize=6)
        names = [name for name, *_ in marks]
        panel.set_yticks(
            [*range(len(names)), *range(len(names) + 1, len(names) + 1 + len(FOUNDERS))]
        )
        panel.set_yticklabels([*names, *(f"desim: {named(YCBench(), name)}" for name in FOUNDERS)])
        panel.axhline(len(names), color="0.7", linewidth=0.8)
        panel.invert_yaxis()
        finish(panel, f"Figure {sheet.removeprefix('figure_')} of the paper", label, "")
    share = find("yc_bench", "figure_4a")["market share line"].cells["mean"]
    panels[1].axvline(share.value, color="black", linestyle=":", linewidth=1)
    panels[1].annotate(f"market {share.text}", (share.value + 2, -0.3), fontsize=8, va="center")
    return figure, (
        "YC-Bench. Above the line: published, measured on the paper's images; dots are its 3 "
        f"seeds, the bar their mean. Below: desim, preset default, {seeds} seeds; the diamond is "
        "the mean. A rule that is informed uses facts that a founder cannot observe: which "
        "clients are adversarial."
    )
