"""Which pictures do the pages show? Draws all of them anew, into `desim/docs/images`.

The commands are those of `desim/docs/gallery.md`. Figures of a report are taken from its page.
"""

import base64
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click
from figure_style import finish
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from desim import play
from desim.reports.elements.drawing import COLOURS, DASHES, name_rows, write_picture

DOCS = Path(__file__).resolve().parents[1] / "desim" / "docs"

#: Pictures in the report of the sweep, by the words with which their descriptions begin.
FIGURES = {
    "leaderboard.svg": "Mean scores with intervals",
    "sweep.svg": "Mean scores over",
    "fan.svg": "The median and the band from 5 to 95 % of inventory_retailer",
}
#: Inches, and microseconds.
WIDTH, DAY = 9.0, 86_400e6
#: Digits beyond a hundredth of a point, too fine to be seen; scales below 1 keep theirs.
_DIGITS = re.compile(rb"(?<![\w.])([1-9]\d*\.\d\d)\d+")
#: Blanks between two elements, a tenth of a picture.
_BLANKS = re.compile(rb">\s+<")
_FENCE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^<!-- file: (\w+\.py) -->\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_IMAGE = re.compile(r'<img src="data:image/svg\+xml;base64,([^"]+)"\s+alt="([^"]+)"')


@click.command()
@click.option("--out", default=DOCS / "images", show_default=True, type=click.Path(path_type=Path))
def main(out: Path) -> None:
    """Draw every picture of the pages."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run_page(work)
        pictures = figures((work / "levels" / "report.html").read_text(encoding="utf-8"))
        pictures |= {name: (work / name).read_bytes() for name in ("episode.svg", "regret.svg")}
        draw_trace(work / "trace.json", work / "trace.svg")
        draw_game(work / "beer_game.svg")
        pictures |= {name: (work / name).read_bytes() for name in ("trace.svg", "beer_game.svg")}
    out.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        shorter = _BLANKS.sub(b"><", _DIGITS.sub(rb"\1", picture))
        (out / name).write_bytes(shorter)
        print(f"{name:16} {len(shorter):7,} bytes")


def run_page(folder: Path) -> None:
    """Run the commands of the gallery in a folder."""
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name, text in _FILE.findall(page):
        (folder / name).write_text(text, encoding="utf-8")
    for line in "".join(_FENCE.findall(page)).splitlines():
        if line.startswith("$ desim "):
            command = [sys.executable, "-m", "desim", *shlex.split(line)[2:]]
            subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)  # noqa: S603 (our own page)


def figures(page: str) -> dict[str, bytes]:
    """Return the figures of a report by the names of their files."""
    found = {}
    for data, alt in _IMAGE.findall(page):
        for name, words in FIGURES.items():
            if alt.startswith(words):
                found[name] = base64.b64decode(data)
    if missing := sorted(FIGURES.keys() - found.keys()):
        raise ValueError(f"the report has no figure for {', '.join(missing)}")
    return found


def draw_trace(trace: Path, file: Path) -> None:
    """Draw the slices of a trace whose time is a calendar's, a line for each track."""
    events = json.loads(trace.read_bytes())["traceEvents"]
    names = {(e["name"], e["tid"]): e["args"].get("name") for e in events if e["ph"] == "M"}
    tracks: dict[str, list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            span = (event["ts"] / DAY, max(event["dur"] / DAY, 0.7))  # wide enough to be seen
            tracks.setdefault(names["thread_name", event["tid"]], []).append(span)

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        for place, spans in enumerate(tracks.values()):
            panel.broken_barh(spans, (place - 0.35, 0.7), facecolor=COLOURS[place % len(COLOURS)])
        name_rows(panel, list(tracks))
        finish(panel, "Decisions, waits of processes, entries of the book", "day", "")

    write_picture(file, WIDTH, 0.9 + 0.27 * len(tracks), draw)


def draw_game(file: Path) -> None:
    """Draw the retailer of one Beer Game: stock and backlog, and orders beside the demand."""
    steps = play("beer_game/classic", "sterman", seed=1, series=True).steps
    stages = [step.observation for step in steps]
    weeks = [stage.week for stage in stages]
    stock = {"stock": [s.inventory for s in stages], "backlog": [-s.backlog for s in stages]}
    orders = [step.action.quantity for step in steps]
    flow = {"orders": orders, "demand": [s.incoming_order for s in stages]}

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        draw_steps(left, weeks, stock)
        draw_steps(right, weeks, flow)
        finish(left, "The retailer's stock, and its backlog below 0", "week", "units")
        finish(right, "The customers' demand, and the rule's orders", "week", "units a week")

    write_picture(file, WIDTH, 2.8, draw)


def draw_steps(panel: Axes, weeks: list[int], values: Mapping[str, list[float]]) -> None:
    """Draw figures of each week as steps."""
    for number, (name, ys) in enumerate(values.items()):
        dashes = DASHES[number]
        panel.step(weeks, ys, where="post", color=COLOURS[number], linestyle=dashes, label=name)
    panel.axhline(0, color="0.6", linewidth=0.6)
    panel.legend(frameon=False)


if __name__ == "__main__":
    main()
