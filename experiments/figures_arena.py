"""Figures of EnterpriseArena: cash, requests and closings by month, and survival."""

from typing import Any

import numpy as np
from arena_targets import RULES as CALIBRATED
from figure_style import PALE, Drawn, axes, finish, label_ends, line, played
from published import Line, find

from models.enterprise_arena import EnterpriseArena

MILLION = 1e6
PRESET = "enterprise_arena/paper"
MONTHS = EnterpriseArena.preset("paper").horizon

#: Our rules, and their labels.
RULES = {
    CALIBRATED["pass_only"]: "never_raise",
    CALIBRATED["equity_20M_when_cash_below_15M"]: "raise_below (20M below 15M)",
    CALIBRATED["equity_20M_whenever_free"]: "raise_when_free (20M)",
    CALIBRATED["human_like"]: "human_like (informed)",
    "treasurer": "treasurer",
}


def arena_months(seeds: int) -> Drawn:
    """Draw cash, requests and closings by month, with the points that the paper prints."""
    rows = played(PRESET, tuple(RULES), seeds)
    figure, panels = axes(3, width=5.4, height=5)
    shown = (
        ("cash", MILLION, "Cash", "mean cash, million USD"),
        ("cumulative_requests", 1, "Requests for funds since the start", "mean number of requests"),
        ("cumulative_closings", 1, "Book closings since the start", "mean number of closings"),
    )
    for panel, (name, unit, title, label) in zip(panels, shown, strict=True):
        ends = []
        for number, (rule, text) in enumerate(RULES.items()):
            ys = _to_the_end(rows.series(name)[rule], hold=name != "cash").mean(0) / unit
            line(panel, number, range(len(ys)), ys, every=12)
            ends.append((ys[-1], text, "black"))
        finish(panel, title, "month", label)
        if name == "cash":
            for row in _models():
                at, cash = row.cells["months_survived"].value, row.cells["end_cash"].value
                panel.plot(at, cash, "x", color=PALE)
            human = find("enterprise_arena", "table_2")["Human"].cells
            at, end = human["months_survived"].value, human["end_cash"]
            panel.errorbar(at, end.value, end.spread, fmt="*", color=PALE, capsize=3, markersize=10)
            ends.append((end.value, "paper: humans", "0.3"))
            note = "paper, x: a model's mean\nmonths and cash at the end"
            panel.annotate(note, (0.03, 0.92), xycoords="axes fraction", fontsize=8, color="0.3")
        if name == "cumulative_closings":
            for key, text in (("human_end", "paper: humans"), ("qwen9b_end", "paper: Qwen3.5-9B")):
                value = find("enterprise_arena", "figure_3")[key].cells["value"].value
                panel.plot(MONTHS - 1, value, "*", color=PALE, markersize=10)
                ends.append((value, text, "0.3"))
        label_ends(panel, ends, MONTHS - 1)
    return figure, (
        "EnterpriseArena, Figures 2 to 4 of the paper, whose curves are not published as numbers. "
        f"Black: desim, preset paper, mean of {seeds} seeds; a bankrupt company counts with no "
        "cash and keeps its counts. Grey: what the paper prints of them (stars: ends of curves, "
        "from the text and Table 2, with the spread of 2 experts; crosses: the models of Table 2, "
        "5 runs each). human_like is calibrated to the humans' row of Table 2."
    )


def _models() -> list[Line]:
    rows = find("enterprise_arena", "table_2").values()
    return [row for row in rows if row.label not in ("Human", "Average")]


def _to_the_end(values: Any, *, hold: bool) -> Any:
    """Return series of all months: after an episode's end its last value, or nothing."""
    filled = np.zeros((len(values), MONTHS))
    for row, series in zip(filled, values, strict=True):
        known = series[~np.isnan(series)]
        row[: len(known)] = known
        row[len(known) :] = known[-1] if hold else 0
    return filled if hold else np.maximum(filled, 0)


def arena_survival(seeds: int) -> Drawn:
    """Draw the share of companies alive by month, and the published survival at the end."""
    rows = played(PRESET, tuple(RULES), seeds)
    figure, (panel,) = axes(1, width=7.4, height=4.8)
    ends = []
    for number, (rule, text) in enumerate(RULES.items()):
        cash = rows.series("cash")[rule]
        alive = np.zeros(MONTHS)
        alive[: cash.shape[1]] = (~np.isnan(cash)).mean(0)
        ys = 100 * alive
        line(panel, number, range(MONTHS), ys, every=12, drawstyle="steps-post")
        ends.append((ys[-1], text, "black"))
    published: dict[float, list[str]] = {}
    for label, row in find("enterprise_arena", "table_2").items():
        if label != "Average":
            published.setdefault(row.cells["survival_pct"].value, []).append(label)
    for share, names in published.items():
        panel.plot(MONTHS - 1, share, "*", color=PALE, markersize=10)
        some = names[0] if len(names) == 1 else f"{len(names)} models"
        ends.append((share, f"paper: {some}", "0.3"))
    finish(panel, "Companies that have cash", "month", "share of runs, percent")
    panel.set_ylim(-3, 103)
    label_ends(panel, ends, MONTHS - 1)
    return figure, (
        f"EnterpriseArena, survival. Black: desim, preset paper, {seeds} seeds. Grey stars: Table "
        "2, at the end (5 runs a model, 2 human experts). The paper's shares disagree with one "
        "another: see models/enterprise_arena/README.md."
    )
