"""YC-Bench's figures: funds by month, the window of history, and rows of models."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from attrs import frozen
from figure_episodes import Ended, Entries, labels_of, what
from figure_style import PALE, Drawn, axes, finish, label_ends, line
from matplotlib.axes import Axes
from published import Line, find
from scratchpad_lists import CLASSES, notes_at_end, read_lists

from desim import Episode
from models.yc_bench import YCBench

THOUSAND, CENTS = 1e3, 100

#: The market's share of adversarial clients, percent, and the funds at the start, thousand USD.
MARKET = find("yc_bench", "figure_4a")["market share line"].cells["mean"].value
START = YCBench().initial_funds_cents / CENTS / THOUSAND

#: A published value as text, the number, and those of its runs where they are known.
Printed = tuple[str, float, Sequence[float]]


@frozen
class Panel:
    """A value by entry.

    Attributes:
        title: What it is in the paper.
        axis: What it is, with its unit.
        sheet: The published sheet.
        published: Returns the published value of a row in the axis' unit; None without one.
        ours: Returns that of an episode.
        scale: The scale of the axis.
        mark: Where a dotted line is; None for none.
    """

    title: str
    axis: str
    sheet: str
    published: Callable[[Line], Printed | None]
    ours: Callable[[Ended], float | None]
    scale: str = "linear"
    mark: float | None = None


def cell(column: str, factor: float = 1) -> Callable[[Line], Printed | None]:
    """Return what reads a column of a sheet."""

    def read(row: Line) -> Printed | None:
        found, runs = row.cells.get(column), row.cells.get("seeds_sorted")
        if found is None or found.value is None:
            return None
        dots = [each for each in runs.value if each is not None] if runs else []
        return found.text, factor * found.value, dots

    return read


def rows_of(caption: str, panels: Sequence[Panel], entries: Entries) -> Drawn:
    """Draw a row for each published label and each entry, those of the same label together."""
    sheets = [find("yc_bench", panel.sheet) for panel in panels]
    labels = [label for label, row in sheets[0].items() if panels[0].published(row)]
    own = {
        label: name
        for name, its in entries.items()
        for label in labels_of(its[0].entry)
        if label in labels
    }
    names = [*labels, *(name for name in entries if name not in own.values())]
    height = 1.6 + 0.24 * len(names)
    figure_, drawn = axes(len(panels), width=3 if len(panels) > 2 else 5, height=height)
    for panel, on, sheet in zip(panels, drawn, sheets, strict=True):
        if panel.axis == panels[0].axis and on is not drawn[0]:
            on.sharex(drawn[0])
        for place, name in enumerate(names):
            published = panel.published(sheet[name]) if name in sheet else None
            ours = [panel.ours(one) for one in entries.get(own.get(name, name), ())]
            _row(on, place, published, [each for each in ours if each is not None])
        on.set_yticks(range(len(names)), names if on is drawn[0] else [""] * len(names))
        on.set_ylim(len(names) - 0.4, -1.2)
        if panel.scale == "symlog":
            on.set_xscale("symlog", linthresh=10)
            on.set_xlim(-1, 2 * on.dataLim.x1)
        if panel.mark is not None:
            on.axvline(panel.mark, color=PALE, linestyle=":")
        on.xaxis.set_major_formatter("{x:,g}")
        on.annotate("published | ours", (1.02, -0.8), xycoords=on.get_yaxis_transform(), fontsize=7)
        finish(on, panel.title, panel.axis, "")
    return figure_, (
        f"{caption} Grey: published; dots are its runs where they can be read. Black: "
        f"{what(entries)}; dots are episodes, the diamond is their mean. Right of a row: the "
        "published value | ours."
    )


def _row(panel: Axes, place: int, published: Printed | None, ours: Sequence[float]) -> None:
    """Draw a row: published marks above the middle, ours below it, and both numbers."""
    texts = ["", ""]
    if published:
        texts[0], mean, runs = published
        panel.plot(runs, [place - 0.15] * len(runs), ".", color=PALE, markersize=4)
        panel.plot(mean, place - 0.15, "|", color=PALE, markersize=9, markeredgewidth=2)
    if ours:
        texts[1] = f"{np.mean(ours):,.4g}"
        panel.plot(ours, [place + 0.15] * len(ours), ".", color="0.3", markersize=4)
        panel.plot(np.mean(ours), place + 0.15, "D", color="black", markersize=4)
    at = (1.02, place + 0.15)
    panel.annotate(" | ".join(texts), at, xycoords=panel.get_yaxis_transform(), fontsize=7)


MONTHS = range(1, 13)
FUNDS = "funds at the end of the month, thousand USD"


def funds(one: Ended) -> float:
    """Return the final funds, thousand USD; a debt counts as none, as published."""
    return max(0.0, one.played.score or 0.0) / THOUSAND


def by_month(one: Ended) -> list[float]:
    """Return the funds at the end of each month, thousand USD; a debt counts as none."""
    named = sorted(name for name in one.played.metrics if name.startswith("funds_by_month_cents."))
    return [max(0.0, one.played.metrics[name]) / CENTS / THOUSAND for name in named]


def of_policy(kind: str) -> Callable[[Ended], float]:
    """Return what reads whether the notes at the end of an episode are of a class, percent."""
    return lambda one: 100.0 * (client_policy(one.record) == kind)


@cache
def client_policy(record: Path) -> str:
    """Return the class of Figure 4b of the notes at the end of a recorded episode."""
    episode = Episode.read(record, keep_steps=False)
    return read_lists(notes_at_end(episode), list(episode.metrics["trust_by_client"])).policy


def runs_of(kind: str) -> Callable[[Line], Printed | None]:
    """Return what reads the share of a model's runs that are of a class, percent."""

    def read(row: Line) -> Printed | None:
        found = Counter(str(each.value) for name, each in row.cells.items() if "seed_" in name)
        return (f"{found[kind]} of 3", 100 * found[kind] / 3, ()) if found else None

    return read


def yc_funds(entries: Entries) -> Drawn:
    """Draw funds by month: the published curves, our means, and our episodes one by one."""
    figure_, (left, middle, right) = axes(3, width=6, height=5.4)
    curves, ends = find("yc_bench", "curves"), []
    for name in (name for name in find("yc_bench", "leaderboard") if name in curves):
        ys = [each.value / THOUSAND for each in curves[name].cells.values()]
        left.plot(MONTHS, ys, color=PALE, linewidth=1)
        ends.append((ys[-1], f"{name} {ys[-1]:,.0f}", "0.3"))
    finish(left, "Figure 1 of the paper, and its public board", "month of 2025", f"mean {FUNDS}")
    lasts = []
    for number, (name, its) in enumerate(entries.items()):
        each = np.array([by_month(one) for one in its])
        line(middle, number, MONTHS, each.mean(0))
        parted = np.pad(each, ((0, 0), (0, 1)), constant_values=np.nan).ravel()
        line(right, number, [*MONTHS, np.nan] * len(each), parted, every=3)
        lasts.append((float(each.mean(0)[-1]), f"{name} {each.mean(0)[-1]:,.0f}", "black"))
    finish(middle, "Figure 1, ours", "month of 2025", f"mean {FUNDS}")
    finish(right, "Figure 8, ours: a line an episode", "month of 2025", FUNDS)
    for panel, labels in zip((left, middle, right), (ends, lasts, lasts), strict=True):
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter("{x:,g}")
        label_ends(panel, labels, 12)
    return figure_, (
        "YC-Bench, Figures 1 and 8. Left: the published curves, means of 3 seeds; January is the "
        "start for the models of the paper, and a month's end for the six added later. Black: "
        f"{what(entries)}. Funds below zero count as none. The scales differ."
    )


def yc_windows(entries: Entries) -> Drawn:
    """Draw final funds and tasks done by the window of history, a line a model."""
    figure_, panels = axes(2, width=5.4)
    shown: tuple[tuple[str, Callable[[Ended], float | None]], ...] = (
        ("mean final funds, thousand USD", funds),
        ("mean number of tasks done in time", lambda one: one.value("tasks_succeeded")),
    )
    models = dict.fromkeys(its[0].entry.model for its in entries.values())
    for panel, (axis, value) in zip(panels, shown, strict=True):
        ends = []
        for number, model in enumerate(models):
            its = [own for own in entries.values() if own[0].entry.model == model]
            own = sorted(
                (int(each[0].entry.options["history"]), np.mean([value(one) for one in each]))
                for each in its
            )
            line(panel, number, *zip(*own, strict=True))
            ends.append((own[-1][1], model, "black"))
        finish(panel, "Figure 10, ours", "turns of history in the prompt", axis)
        label_ends(panel, ends, max(panel.get_lines()[-1].get_xdata()))
    printed = find("yc_bench", "figure_10").items()
    told = [f"{name} {row.cells['value'].text}" for name, row in printed]
    return figure_, (
        f"YC-Bench, Figure 10, whose image is not published; its text prints {', '.join(told)}. "
        f"Black: {what(entries)}."
    )


def metric(name: str, factor: float = 1) -> Callable[[Ended], float | None]:
    """Return what reads a figure of an episode."""
    return lambda one: one.value(name, factor)


def failed(cause: str) -> Callable[[Ended], float | None]:
    """Return what reads the share of a cause in the failed tasks of an episode, percent."""

    def share(one: Ended) -> float | None:
        tasks = one.value("tasks_failed")
        return (one.value(f"failed_{cause}", 100) or 0.0) / tasks if tasks else None

    return share


def funds_over_cost(one: Ended) -> float | None:
    """Return the million USD of final funds for a USD of cost; None without a cost."""
    cost = one.value("cost")
    return funds(one) / THOUSAND / cost if cost else None


CAUSES = {"adversarial": "adversarial", "incapable": "understaffed", "overcommitted": "thin"}

#: Figures with a row for each model: the beginning of the caption, and the panels.
_ROWS: Mapping[str, tuple[str, Sequence[Panel]]] = {
    "yc_bench_3a_4a": (
        "YC-Bench, Figures 3a and 4a, measured on the paper's images. Dotted: the market's share.",
        [
            Panel(
                *("Figure 3a: tasks that needed trust", "tasks done in time, percent", "figure_3a"),
                *(cell("mean"), metric("succeeded_trust_share", 100)),
            ),
            Panel(
                *("Figure 4a: adversarial clients", "tasks accepted, percent", "figure_4a"),
                *(cell("mean"), metric("adversarial_share", 100)),
                mark=MARKET,
            ),
        ],
    ),
    "yc_bench_3b": (
        "YC-Bench, Figure 3b, printed; Vanguard ML and Equinox Labs are adversarial.",
        [
            Panel(
                *(client, "trust at the end, 0 to 5", "figure_3b"),
                *(cell(client), metric(f"trust_by_client.{client}")),
            )
            for client in next(iter(find("yc_bench", "figure_3b").values())).cells
        ],
    ),
    "yc_bench_4b": (
        "YC-Bench, Figure 4b: the clients that a scratchpad selects and avoids; rules write none.",
        [
            Panel(f"4b: {kind}", "runs, percent", "figure_4b", runs_of(kind), of_policy(kind))
            for kind in CLASSES
        ],
    ),
    "yc_bench_5a": (
        "YC-Bench, Figure 5a: causes of failed tasks, measured on the paper's image.",
        [
            Panel(f"5a: {cause}", "tasks failed, percent", "figure_5a", cell(cause), failed(ours))
            for cause, ours in CAUSES.items()
        ],
    ),
    "yc_bench_5b": (
        "YC-Bench, Figure 5b, measured on the paper's image. An episode without a cost has none.",
        [
            Panel(
                *("Figure 5b: funds over cost", "million USD of final funds for a USD of cost"),
                *("figure_5b", cell("mean"), funds_over_cost),
            )
        ],
    ),
    "yc_bench_7": (
        "YC-Bench, Figure 7, of no published image: grey is the board. A debt counts as none.",
        [
            Panel(
                *("Figure 7: final funds", "mean final funds, thousand USD", "leaderboard"),
                *(cell("net_worth", 1 / THOUSAND), funds, "symlog", START),
            )
        ],
    ),
    "yc_bench_9": (
        "YC-Bench, Figure 9, whose image is not published; Table 3 has its numbers in part.",
        [
            Panel(f"9: {column}", axis, "table_3", cell(column), metric(ours))
            for column, ours, axis in (
                ("scratchpad_per_100_turns", "notes_per_100_turns", "scratchpad writes"),
                ("inspect_per_accept", "inspections_per_accept", "inspections a task accepted"),
                ("avg_concurrent", "concurrency", "mean number of tasks"),
                ("commands_per_turn", "commands_per_turn", "commands a turn"),
            )
        ],
    ),
}

#: The functions that draw figures of a suite in which each model has one window of history.
YC_FIGURES: Mapping[str, Callable[[Entries], Drawn]] = {
    "yc_bench_1_8": yc_funds,
    **{name: partial(rows_of, *about) for name, about in _ROWS.items()},
}
