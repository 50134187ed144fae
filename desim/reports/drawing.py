"""Pictures for a page: drawn by matplotlib without a window, embedded in the page as SVG.

Lines differ in marker and style as well as in colour, so that they remain distinct in a grey print.
The colours are those of Okabe and Ito (Color Universal Design, 2008), which red-green colour-blind
people can distinguish.

Also the picture file of a command, which is checked before anything is played.
"""

import base64
import io
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desim.errors import UsageError
from desim.reports.page import check_installed, clean
from desim.show.files import write_whole
from desim.show.labels import number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#E69F00")

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))

MARKERS = ("o", "s", "^", "D", "v", "x", "P", "*")

#: Texts are not formulas, a picture is the same in every run, and its letters are drawn as paths,
#: because a reader's machine may lack the font.
_STYLE: dict[str, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "desim",
    "font.size": 10,
    "axes.titlesize": 10,
    "legend.fontsize": 9,
    "axes.formatter.use_mathtext": False,
}

#: A larger number is in the table only: the room around it would be beyond a float.
_LARGEST = 1e200

#: From the first number on an axis is in millions; from the second on numbers are not written out.
_MILLIONS, _HUGE = 2e6, 1e15

#: Entries of a file with a date or a version; left out, so that equal pictures are equal files.
_DATED = {
    "svg": ("Date", "Creator"),
    "pdf": ("CreationDate", "Creator", "Producer"),
    "png": ("Software",),
}

#: Dots per inch of a picture in another format than SVG.
_DOTS = 150

#: Most characters of a label inside a picture.
_LABEL = 32


def drawn(width: float, height: float, draw: "Callable[[Drawing], None]") -> str:
    """Return a picture in SVG as a data URI; the arguments are those of `pictured`."""
    picture = pictured(width, height, draw)
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode()


def pictured(
    width: float, height: float, draw: "Callable[[Drawing], None]", form: str = "svg"
) -> bytes:
    """Return a picture as the bytes of a file.

    Args:
        width: In inches.
        height: In inches.
        draw: Draws on an empty figure, whose panels make room for their labels afterwards.
        form: "svg", "pdf", or "png" with 150 dots per inch.
    """
    from matplotlib.figure import Figure as Drawing

    with _style():
        figure = Drawing(figsize=(width, height), layout="constrained")
        draw(figure)
        file = io.BytesIO()
        figure.savefig(file, format=form, metadata=dict.fromkeys(_DATED[form]), dpi=_DOTS)
    return file.getvalue()


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    # Not the user's own settings, some of which need programs that may be missing.
    settings: Any = {**mpl.rcParamsDefault, **_STYLE}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A label may hold letters without a glyph in the font; the table shows them.
        warnings.simplefilter("ignore")
        yield


def short(label: object) -> str:
    """Return a label that fits beside a picture."""
    return clean(label, _LABEL)


def drawable(values: Iterable[Any]) -> list[float]:
    """Return numbers, with NaN (a gap) for those that cannot be drawn."""
    return [
        float(value) if value is not None and abs(value) < _LARGEST else math.nan
        for value in values
    ]


def finish(panel: "Axes", title: str = "", x: str = "", y: str = "", named: str = "") -> None:
    """Set title, labels and the numbers of the axes of a panel; its limits are final.

    Args:
        panel: The panel that was drawn on.
        title: The title of the panel.
        x: The label of the horizontal axis.
        y: The label of the vertical axis.
        named: The axes that have names or dates and no numbers: "x", "y", "xy" or none.
    """
    panel.set_title(short(title), loc="left")
    panel.set_xlabel(short(x) if "x" in named else _scaled(panel.xaxis, x))
    panel.set_ylabel(short(y) if "y" in named else _scaled(panel.yaxis, y))
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(visible=True, axis="both", color="0.88", linewidth=0.6)
    panel.set_axisbelow(True)


def _scaled(axis: "Axis", label: str) -> str:
    """Write out the numbers of an axis, large ones in millions; return the label with the unit."""
    from matplotlib.ticker import FuncFormatter

    largest = max(map(abs, axis.get_view_interval()))
    divisor = 1e6 if _MILLIONS <= largest < _HUGE else 1.0
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value / divisor)))
    return short(label) + (" (millions)" if divisor > 1 else "")


#: The suffixes of pictures.
FORMS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Check that a picture can be drawn, and written to a new file.

    Raises:
        UsageError: The path is not a new .png, .svg or .pdf file in an existing folder, or
            matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"--plot {path} is no {', '.join(FORMS[:-1])} or {FORMS[-1]} file")
    if not os.path.isdir(path.parent):  # noqa: PTH112 (of a name that is too long: no exception)
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if os.path.lexists(path):
        raise UsageError(f"{path} exists; choose another name (--plot)")
    # The only certain test of a folder is to make a file there, like `write_whole`.
    probe = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        probe.open("xb").close()
        probe.unlink()
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    check_installed("--plot needs", "matplotlib")


def write_picture(
    path: Path, width: float, height: float, draw: "Callable[[Drawing], None]"
) -> None:
    """Draw a picture as `pictured` does, in the form of a file's suffix, and write it.

    Raises:
        UsageError: The file cannot be written.
    """
    form = path.suffix.lower().removeprefix(".")
    write_whole(path, [pictured(width, height, draw, form)])
