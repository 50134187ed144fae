"""Elements of all figures: lines that differ without colour, labels at their ends, captions."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

#: A drawn figure and its caption.
Drawn = tuple[Figure, str]

#: Line styles and markers of our rules, in order; all black, so that a grey print keeps them apart.
MARKS = (
    ("-", "o"),
    ("--", "s"),
    ("-.", "^"),
    (":", "D"),
    ((0, (5, 1, 1, 1, 1, 1)), "v"),
    ("-", "x"),
)
#: Grey of published curves.
PALE = "0.55"
SMALL = 8
#: Distance between labels at the right edge, as a share of the height.
GAP = 0.042
#: Left edge of the labels, as a share of the panel's width.
RIGHT = 1.055


def axes(panels: int, height: float = 4.6, width: float = 4.6) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, without a window."""
    figure = Figure(figsize=(width * panels, height), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def line(
    panel: Axes, number: int, xs: Sequence[float], ys: Any, every: int = 1, **shown: Any
) -> None:
    """Draw one of our curves, with a marker at every few points."""
    style, marker = MARKS[number % len(MARKS)]
    shown |= {"linestyle": style, "marker": marker, "markersize": 4.5, "markevery": every}
    panel.plot(xs, ys, color="black", linewidth=1.3, markerfacecolor="white", **shown)


def label_ends(panel: Axes, ends: Sequence[tuple[float, str, str]], at: float) -> None:
    """Write labels right of the curves, moved apart where they would overlap.

    Args:
        panel: Its limits are final.
        ends: Height, text and colour of each label.
        at: The x of the curves' ends.
    """
    panel.set_ylim(panel.get_ylim())
    to_axes = panel.transData + panel.transAxes.inverted()
    points = [(*to_axes.transform((at, y)), text, colour) for y, text, colour in ends]
    points.sort(key=lambda point: point[1])
    places = spread([y for _, y, *_ in points])
    for place, (x, y, text, colour) in zip(places, points, strict=True):
        arrow = {"arrowstyle": "-", "color": "0.75", "linewidth": 0.6, "relpos": (0, 0.5)}
        panel.annotate(
            text,
            xy=(x, y),
            xytext=(RIGHT, place),
            xycoords="axes fraction",
            fontsize=SMALL,
            color=colour,
            va="center",
            arrowprops=arrow,
            annotation_clip=False,
        )


def spread(places: Sequence[float]) -> list[float]:
    """Return ascending heights, moved as little as possible to be `GAP` apart and in the panel."""
    gaps = GAP * np.arange(len(places))
    levels = isotonic_regression(np.asarray(places) - gaps).x
    return list(np.clip(levels, 0, 1.02 - GAP * (len(places) - 1)) + gaps)


def finish(panel: Axes, title: str, x: str, y: str) -> None:
    """Set title and labels, and remove what does not inform."""
    panel.set_title(title, fontsize=10, loc="left")
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=SMALL)


def save(figure: Figure, caption: str, out: Path, name: str) -> list[Path]:
    """Write a figure with its caption below as PNG and SVG; returns the files."""
    width = int(figure.get_figwidth() * 15)
    figure.supxlabel(textwrap.fill(caption, width), fontsize=8.5, x=0.01, ha="left")
    files = [out / f"{name}.{ending}" for ending in ("png", "svg")]
    for file in files:
        figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)
    return files
