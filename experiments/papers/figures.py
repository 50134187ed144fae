"""The papers' figures, drawn from the episodes of suites, with what the papers print beside them.

    python experiments/papers/figures.py results/yc_bench results/arena --out figures

DIRs are folders of `desim bench`. A figure shows all episodes in them of its world; for one without
any, a sentence names the suite that plays them. Nothing is played: metrics are those in the folder,
and what happened by month is read from the records by replaying their answers. Grey is published,
black ours. Every figure is written to `--out` as PNG and SVG.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import click
import numpy as np
from figure_episodes import Entries, Suite, ended, labels_of, what
from figure_style import PALE, Drawn, axes, finish, label_ends, line, save
from published import Absent, find
from reproduce_reasoning import CELLS
from yc_figures import YC_FIGURES, yc_windows

from desim import replay
from desim.errors import DesimError
from desim.suites.results import results

MILLION = 1e6


@cache
def monthly(record: Path) -> Mapping[str, Sequence[float]]:
    """Return what happened by month in a recorded episode."""
    return replay(record, series=True).series()


def arena_months(entries: Entries) -> Drawn:
    """Draw requests, closings and cash by month, with the points that the paper prints."""
    figure_, panels = axes(3, width=5.6, height=5)
    shown = (
        ("cumulative_requests", 1, "Figure 2: requests for funds", "mean requests since the start"),
        ("cumulative_closings", 1, "Figure 3: book closings", "mean closings since the start"),
        ("cash", MILLION, "Figure 4: cash", "mean cash, million USD"),
    )
    table = find("enterprise_arena", "table_2")
    last = max(len(monthly(one.record)["cash"]) for its in entries.values() for one in its) - 1
    for panel, (name, unit, title, axis) in zip(panels, shown, strict=True):
        ends = []
        for number, (entry, its) in enumerate(entries.items()):
            each = [_to(last + 1, monthly(one.record)[name], hold=name != "cash") for one in its]
            ys = np.mean(each, axis=0) / unit
            line(panel, number, range(last + 1), ys, every=12)
            ends.append((float(ys[-1]), entry, "black"))
        if name == "cumulative_closings":
            printed = find("enterprise_arena", "figure_3")
            for key, text in (("human_end", "paper: humans"), ("qwen9b_end", "paper: Qwen3.5-9B")):
                ends.append((printed[key].cells["value"].value, text, "0.3"))
                panel.plot(last, ends[-1][0], "*", color=PALE, markersize=10)
        if name == "cash":
            for label, row in table.items():
                at, end = row.cells["months_survived"], row.cells["end_cash"]
                if label != "Average":
                    panel.errorbar(at.value, end.value, end.spread, fmt="x", color=PALE, capsize=2)
            ends.append((table["Human"].cells["end_cash"].value, "paper: humans", "0.3"))
        finish(panel, title, "month", axis)
        label_ends(panel, ends, last)
    return figure_, (
        "EnterpriseArena, Figures 2 to 4, whose curves are not published as numbers. Black: "
        f"{what(entries)}; a bankrupt company counts with no cash and keeps its counts. Grey, of "
        "the text and Table 2: ends of curves (stars); months and cash at the end with the spread "
        "of runs, of all models and the humans (crosses)."
    )


def _to(months: int, values: Sequence[float], *, hold: bool) -> list[float]:
    """Return a series of so many months: after the episode's end its last value, or nothing."""
    known = [each for each in values if each == each]  # noqa: PLR0124 (nan is not equal)
    return [*known, *[known[-1] if hold else 0.0] * (months - len(known))]


def firmbench_questions(suites: Sequence[Suite]) -> Drawn | None:
    """Draw the share of all questions by method; None without an answer."""
    lines = [
        (one.entry, suite.plan.suite.entries[one.entry], estimate)
        for suite in suites
        for one in results(suite.plan, suite.outcomes)
        if (sheet := suite.plan.shown[one.world].published) and sheet.table == "figure_3"
        if (estimate := one.cells[0].estimate)
    ]
    if not lines:
        return None
    figure_, (panel,) = axes(1, width=8, height=1.6 + 0.3 * len(lines))
    printed, table = find("firmbench", "figure_3"), find("firmbench", "table_1")
    for place, (_, entry, share) in enumerate(lines):
        texts = []
        for label in labels_of(entry):
            if label in printed:
                texts.append(printed[label].cells["value"].text)
                panel.plot(printed[label].cells["value"].value, place - 0.15, "*", color=PALE)
            elif label in table[next(iter(CELLS))].cells:
                mean = np.mean([table[row].cells[label].value for row in CELLS])
                texts.append(f"({mean:.3f})")
                panel.plot(mean, place - 0.15, "|", color=PALE, markersize=9, markeredgewidth=2)
        if share.low is not None and share.high is not None:
            panel.plot([share.low, share.high], [place + 0.15] * 2, color="black", linewidth=1)
        panel.plot(share.mean, place + 0.15, "D", color="black", markersize=4)
        text = f"{' '.join(texts)} | {share.mean:.3f}"
        panel.annotate(text, (1.02, place + 0.15), xycoords=panel.get_yaxis_transform(), fontsize=7)
    panel.set_yticks(range(len(lines)), [name for name, _, _ in lines])
    panel.set_ylim(len(lines) - 0.4, -0.8)
    finish(panel, "Figure 3: all questions", "share of right answers, with 95 % intervals", "")
    return figure_, (
        "FirmBench, Figure 3. Grey stars: printed (AOA 0.729, ACE 0.725); the bars of the other "
        "methods cannot be read, and the grey line, in brackets, is the mean of a method's eight "
        "question cells of Table 1. Black: all answers of the suite, to its own items. Right of a "
        "row: published | ours."
    )


def drawn(suites: Sequence[Suite]) -> Iterator[tuple[str, str, Drawn | None]]:
    """Yield each figure's name, the suite that plays it, and the figure if it has episodes."""
    founders, windows = ended(suites, "yc_bench"), ended(suites, "yc_bench", windows=True)
    lenders = ended(suites, "enterprise_arena")
    for name, draw in YC_FIGURES.items():
        yield name, "yc_bench", draw(founders) if founders else None
    yield "yc_bench_10", "yc_bench_memory", yc_windows(windows) if windows else None
    yield "enterprise_arena_2_3_4", "enterprise_arena", arena_months(lenders) if lenders else None
    yield "firmbench_3", "firmbench", firmbench_questions(suites)


@click.command()
@click.argument("dirs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("figures"))
def main(dirs: Sequence[Path], out: Path) -> None:
    """Draw the papers' figures from the suites in DIRS."""
    try:
        for name, suite, made in drawn([Suite.of(path) for path in dirs]):
            if made:
                out.mkdir(parents=True, exist_ok=True)
                click.echo("\n".join(map(str, save(*made, out, name))))
            else:
                why = f"no folder has its episodes; experiments/suites/{suite}.toml plays them"
                click.echo(f"{name} is left out: {why}", err=True)
    except DesimError as fault:
        raise Absent(str(fault)) from None


if __name__ == "__main__":
    main()
