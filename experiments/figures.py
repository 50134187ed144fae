"""How do our rules look beside the papers' figures that need no language model?

Grey is published, black ours. Every figure is written to `--out` as PNG and SVG.
"""

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from arena_targets import RULES as CALIBRATED
from beside import named
from figure_style import MARKS, PALE, Drawn, axes, finish, label_ends, line, played, save
from matplotlib.axes import Axes
from published import Absent, Line, find, reference

from desim import Episode, play
from models.beer_game import BeerGame
from models.enterprise_arena import EnterpriseArena
from models.yc_bench import YCBench

THOUSAND, CENTS = 1e3, 100

FOUNDERS = ("planner", "focus", "learning_focus", "published_throughput", "published_greedy")
MONTHS = range(1, 13)
LABELS = ("month of 2025", "mean funds at the end of the month, thousand USD")

MILLION = 1e6
ARENA = "enterprise_arena/paper"
ARENA_MONTHS = EnterpriseArena.preset("paper").horizon

#: Our rules of EnterpriseArena, and their labels.
ARENA_RULES = {
    CALIBRATED["pass_only"]: "never_raise",
    CALIBRATED["equity_20M_when_cash_below_15M"]: "raise_below (20M below 15M)",
    CALIBRATED["equity_20M_whenever_free"]: "raise_when_free (20M)",
    CALIBRATED["human_like"]: "human_like (future)",
    "treasurer": "treasurer",
}

PLAYERS = "sterman,rounding=half_up"
TRACE = "beer_game/traces/cl05_mean_subject_int.json"
BEER_RULES = ("sterman", "last_demand", "base_stock,target=20", "greedy")


def bullwhip(game: BeerGame, policy: str, seed: int) -> list[float]:
    """Return the variance of each stage's orders over that of the customers' demand."""
    episode = play(game, dict.fromkeys(game.stages, policy), seed, series=True)
    first = game.stages[0]
    demand = [step.observation.incoming_order for step in episode.steps if step.role == first]
    return [float(np.var(placed) / np.var(demand)) for placed in orders(episode, game)]


def orders(episode: Episode, game: BeerGame) -> list[Sequence[float]]:
    """Return the orders of each stage by week."""
    return [episode.series()[f"orders_{stage}"] for stage in game.stages]


def beer_bullwhip(seeds: int) -> Drawn:
    """Draw the orders of Sterman's mean player by week, and the amplification by rule."""
    figure, (left, right) = axes(2, width=5.6, height=4.6)
    game = BeerGame.preset("classic")
    weeks = range(1, game.horizon + 1)
    episode = play(game, dict.fromkeys(game.stages, PLAYERS), series=True)
    trace = json.loads(reference(TRACE).read_text())["stages"]
    ends = []
    for number, (stage, ys) in enumerate(zip(game.stages, orders(episode, game), strict=True)):
        left.plot(weeks, trace[stage]["order"], color="0.8", linewidth=5, solid_capstyle="round")
        line(left, number, weeks, ys, every=4)
        ends.append((ys[-1], stage, "black"))
    finish(left, "Orders of four mean players", "week", "order, units a week")
    label_ends(left, ends, game.horizon)

    noisy = BeerGame.preset("poisson")
    ends = []
    for number, rule in enumerate(BEER_RULES):
        ys = np.mean([bullwhip(noisy, rule, seed) for seed in range(seeds)], axis=0)
        line(right, number, range(len(ys)), ys)
        ends.append((float(ys[-1]), rule, "black"))
    right.axhline(1, color=PALE, linewidth=1)
    right.set_yscale("log")
    right.yaxis.set_major_formatter("{x:g}")
    right.set_xticks(range(len(noisy.stages)), noisy.stages)
    finish(right, "Bullwhip", "stage", "variance of orders / variance of demand")
    label_ends(right, ends, len(noisy.stages) - 1)
    return figure, (
        "Beer Game. Left: preset classic, demand 4, from week 5 on 8; all stages order by "
        "Sterman's rule with the mean parameters of his players, in whole units; the wide grey "
        "lines are the reference's own run, which ours covers. Right: preset poisson (52 weeks), "
        f"one rule at all four stages, mean of {seeds} seeds; the grey line is no amplification. "
        "The FirmBench paper prints no figure of it."
    )


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
    held = _to_the_end(cents, len(MONTHS), hold=True)
    return np.maximum(held, 0).mean(0) / CENTS / THOUSAND


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
            _dots(panel, place, [100 * value for value in rows.where(policy=name).values(metric)])
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
        "the mean. The mark (rules) says that a rule uses constants that a founder is not told, "
        "(state) that it also knows which clients are adversarial."
    )


FUNDS = "mean final funds, thousand USD"

#: Behind a label that a line may cross.
CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0}

#: Thousand USD below which a logarithmic scale of funds is linear, so that it shows 0.
LEAST = 10

#: Columns of Table 3, our metric for each, and the label of its axis.
BEHAVIOUR = (
    ("scratchpad_per_100_turns", "notes_per_100_turns", "scratchpad writes in 100 turns"),
    ("inspect_per_accept", "inspections_per_accept", "inspections for a task accepted"),
    ("avg_concurrent", "concurrency", "mean number of tasks under way"),
    ("commands_per_turn", "commands_per_turn", "commands in a turn"),
)


def yc_ends(seeds: int) -> Drawn:
    """Draw final funds by model and by policy, and the funds of our policies seed by seed."""
    figure, (left, right) = axes(2, width=6.6, height=6)
    rows = played("yc_bench/default", FOUNDERS, seeds)
    board = find("yc_bench", "leaderboard")
    for place, row in enumerate(board.values()):
        left.plot(row.cells["net_worth"].value / THOUSAND, place, "o", color=PALE, markersize=5)
    for place, name in enumerate(FOUNDERS, len(board)):
        ends = np.maximum(rows.where(policy=name).values("score"), 0) / THOUSAND
        _dots(left, place, ends)
    left.axvline(_start(), color="black", linestyle=":", linewidth=1)
    _name_rows(left, board)
    left.set_xscale("symlog", linthresh=LEAST)
    left.set_xlim(left=-1, right=2 * left.dataLim.x1)
    left.xaxis.set_major_formatter("{x:,g}")
    finish(left, "Figure 7 of the paper: final funds", FUNDS, "")
    lasts = []
    for number, (name, funds) in enumerate(rows.series("funds_cents").items()):
        held = _to_the_end(funds, len(MONTHS), hold=True)
        each = np.maximum(held, 0) / CENTS / THOUSAND
        parted = np.pad(each, ((0, 0), (0, 1)), constant_values=np.nan).ravel()
        line(right, number, [*MONTHS, np.nan] * len(each), parted, every=3)
        lasts.append((float(each.mean(0)[-1]), named(YCBench(), name), "black"))
    right.axhline(_start(), color=PALE, linestyle=":", linewidth=1)
    right.set_yscale("symlog", linthresh=LEAST)
    right.set_ylim(bottom=0)
    right.yaxis.set_major_formatter("{x:,g}")
    finish(right, "Figure 8 of the paper: funds by seed", LABELS[0], "funds, thousand USD")
    label_ends(right, lasts, 12)
    return figure, (
        "YC-Bench, Figures 7 and 8, whose images are not published. Grey: leaderboard, mean of 3 "
        f"seeds. Black: desim, preset default, {seeds} seeds; left, dots are seeds and the diamond "
        "is their mean; right, a line a seed. The dotted line is the start; a debt counts as none. "
        f"The scales are logarithmic from {LEAST} thousand on."
    )


def _dots(panel: Axes, place: int, values: Sequence[float]) -> None:
    """Draw the seeds of a policy and their mean in its row."""
    panel.plot(values, [place] * len(values), ".", color="0.4", markersize=4)
    panel.plot(np.mean(values), place, "D", color="black", markersize=5)


def _name_rows(panel: Axes, published: Collection[str], *, shown: bool = True) -> None:
    """Name the rows from the top: published models, a line, our policies."""
    labels = [*published, *(f"desim: {named(YCBench(), name)}" for name in FOUNDERS)]
    panel.set_yticks(range(len(labels)), labels if shown else [""] * len(labels))
    panel.axhline(len(published) - 0.5, color="0.7", linewidth=0.8)
    panel.invert_yaxis()


def _start() -> float:
    return YCBench().initial_funds_cents / CENTS / THOUSAND


def yc_behaviour(seeds: int) -> Drawn:
    """Draw the four columns of Table 3 by published model and by policy."""
    figure, panels = axes(4, width=3.6, height=4.8)
    rows = played("yc_bench/default", FOUNDERS, seeds)
    table = find("yc_bench", "table_3")
    for panel, (column, metric, label) in zip(panels, BEHAVIOUR, strict=True):
        for place, row in enumerate(table.values()):
            panel.plot(row.cells[column].value, place, "o", color=PALE, markersize=5)
        for place, name in enumerate(FOUNDERS, len(table)):
            values = [
                value for value in rows.where(policy=name).values(metric) if value is not None
            ]
            _dots(panel, place, values)
        _name_rows(panel, table, shown=panel is panels[0])
        finish(panel, column.replace("_", " "), label, "")
    return figure, (
        "YC-Bench, Figure 9, whose image is not published; Table 3 has its numbers in part. Grey: "
        f"Table 3, mean of 3 seeds. Black: desim, preset default, {seeds} seeds, dots a seed and "
        "the diamond their mean. Rules write no notes."
    )


def yc_cost(seeds: int) -> Drawn:
    """Draw final funds over the cost of a run, and their ratio by model."""
    figure, (left, right) = axes(2, width=6, height=4.8)
    _models_by_cost(left)
    rows = played("yc_bench/default", FOUNDERS, seeds)
    ends = []
    for number, name in enumerate(FOUNDERS):
        mean = np.mean(np.maximum(rows.where(policy=name).values("score"), 0)) / THOUSAND
        left.axhline(mean, color="black", linestyle=MARKS[number][0], linewidth=1)
        ends.append((mean, f"{named(YCBench(), name)}, no cost", "black"))
    left.set(xscale="log", yscale="log")
    left.xaxis.set_major_formatter("{x:g}")
    left.yaxis.set_major_formatter("{x:,g}")
    finish(left, "Final funds over cost", "cost of a run's calls, USD", FUNDS)
    label_ends(left, ends, left.get_xlim()[1])
    ratios = find("yc_bench", "figure_5b")
    for place, row in enumerate(ratios.values()):
        dots = [dot for dot in row.cells["seeds_sorted"].value if dot is not None]
        right.barh(place, row.cells["mean"].value, color=PALE, height=0.7)
        right.plot(dots, [place] * len(dots), ".", color="0.3", markersize=4)
    right.set_yticks(range(len(ratios)), list(ratios))
    right.invert_yaxis()
    finish(right, "Figure 5b of the paper", "million USD of funds for a USD of cost", "")
    return figure, (
        "YC-Bench, final funds and the cost of a run. Grey: leaderboard and Table 4, means of 3 "
        "seeds; right: measured on the paper's image, dots are seeds that can be told apart. "
        f"Black: desim, preset default, mean of {seeds} seeds; a rule calls no model, so a ratio "
        "of it does not exist, and a debt counts as none."
    )


def _models_by_cost(panel: Axes) -> None:
    board, costs = find("yc_bench", "leaderboard"), find("yc_bench", "table_4")
    own = {name: board[name if name in board else f"{name} Beta"] for name in costs}
    funds = {name: row.cells["net_worth"].value / THOUSAND for name, row in own.items()}
    # From the most to the least, so that labels of neighbours are on different sides.
    for number, name in enumerate(sorted(funds, key=lambda each: -funds[each])):
        at = costs[name].cells["cost"].value, funds[name]
        panel.plot(*at, "o", color=PALE)
        side = {"xytext": (5, 3 if number % 2 else -9), "textcoords": "offset points"}
        panel.annotate(name, at, fontsize=7, color="0.3", bbox=CLEAR, **side)


def arena_months(seeds: int) -> Drawn:
    """Draw cash, requests and closings by month, with the points that the paper prints."""
    rows = played(ARENA, tuple(ARENA_RULES), seeds)
    figure, panels = axes(3, width=5.4, height=5)
    shown = (
        ("cash", MILLION, "Cash", "mean cash, million USD"),
        ("cumulative_requests", 1, "Requests for funds since the start", "mean number of requests"),
        ("cumulative_closings", 1, "Book closings since the start", "mean number of closings"),
    )
    for panel, (name, unit, title, label) in zip(panels, shown, strict=True):
        ends = []
        for number, (rule, text) in enumerate(ARENA_RULES.items()):
            ys = (
                _to_the_end(rows.series(name)[rule], ARENA_MONTHS, hold=name != "cash").mean(0)
                / unit
            )
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
                panel.plot(ARENA_MONTHS - 1, value, "*", color=PALE, markersize=10)
                ends.append((value, text, "0.3"))
        label_ends(panel, ends, ARENA_MONTHS - 1)
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


def _to_the_end(values: Any, months: int, *, hold: bool) -> Any:
    """Return series of all months: after an episode's end its last value, or nothing."""
    filled = np.zeros((len(values), months))
    for row, series in zip(filled, values, strict=True):
        known = series[~np.isnan(series)]
        row[: len(known)] = known
        row[len(known) :] = known[-1] if hold else 0
    return filled if hold else np.maximum(filled, 0)


def arena_survival(seeds: int) -> Drawn:
    """Draw the share of companies alive by month, and the published survival at the end."""
    rows = played(ARENA, tuple(ARENA_RULES), seeds)
    figure, (panel,) = axes(1, width=7.4, height=4.8)
    ends = []
    for number, (rule, text) in enumerate(ARENA_RULES.items()):
        cash = rows.series("cash")[rule]
        alive = np.zeros(ARENA_MONTHS)
        alive[: cash.shape[1]] = (~np.isnan(cash)).mean(0)
        ys = 100 * alive
        line(panel, number, range(ARENA_MONTHS), ys, every=12, drawstyle="steps-post")
        ends.append((ys[-1], text, "black"))
    published: dict[float, list[str]] = {}
    for label, row in find("enterprise_arena", "table_2").items():
        if label != "Average":
            published.setdefault(row.cells["survival_pct"].value, []).append(label)
    for share, names in published.items():
        panel.plot(ARENA_MONTHS - 1, share, "*", color=PALE, markersize=10)
        some = names[0] if len(names) == 1 else f"{len(names)} models"
        ends.append((share, f"paper: {some}", "0.3"))
    finish(panel, "Companies that have cash", "month", "share of runs, percent")
    panel.set_ylim(-3, 103)
    label_ends(panel, ends, ARENA_MONTHS - 1)
    return figure, (
        f"EnterpriseArena, survival. Black: desim, preset paper, {seeds} seeds. Grey stars: Table "
        "2, at the end (5 runs a model, 2 human experts). The paper's shares disagree with one "
        "another: see models/enterprise_arena/README.md."
    )


#: The functions that draw, and how many seeds each plays unless it is said.
FIGURES: dict[str, tuple[Callable[[int], Drawn], int]] = {
    "beer_bullwhip": (beer_bullwhip, 100),
    "yc_funds": (yc_funds, 5),
    "yc_conduct": (yc_conduct, 5),
    "yc_ends": (yc_ends, 5),
    "yc_behaviour": (yc_behaviour, 5),
    "yc_cost": (yc_cost, 5),
    "arena_months": (arena_months, 100),
    "arena_survival": (arena_survival, 100),
}


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("figures"))
@click.option("--seeds", type=click.IntRange(1), help="Episodes of each policy, in all figures.")
@click.option("--only", multiple=True, type=click.Choice(list(FIGURES)), help="Draw these alone.")
def main(out: Path, seeds: int | None, only: Sequence[str]) -> None:
    """Draw the figures."""
    out.mkdir(parents=True, exist_ok=True)
    for name in only or FIGURES:
        draw, usual = FIGURES[name]
        try:
            figure, caption = draw(seeds or usual)
        except Absent as fault:
            click.echo(f"{name} is left out: {fault.message}", err=True)
            continue
        for file in save(figure, caption, out, name):
            click.echo(file)


if __name__ == "__main__":
    main()
