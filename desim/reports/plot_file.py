"""The file of a picture that a command draws: checked before anything is played."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from desim.errors import UsageError
from desim.reports.drawing import pictured
from desim.show.files import write_whole

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.figure import Figure as Drawing

__all__ = ["FORMS", "check_plot", "write_picture"]

#: The suffixes of pictures.
FORMS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Check that a picture can be drawn, and written to a new file.

    Raises:
        UsageError: It is no new .png, .svg or .pdf file in a folder that exists, or matplotlib is
            not installed.
    """
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"--plot {path} is no {', '.join(FORMS[:-1])} or {FORMS[-1]} file")
    if not os.path.isdir(path.parent):  # noqa: PTH112 (of a name that is too long: no exception)
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if os.path.lexists(path):
        raise UsageError(f"{path} exists; choose another name (--plot)")
    # The only certain test of a folder: a file as `write_whole` makes it.
    probe = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        probe.open("xb").close()
        probe.unlink()
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    try:
        import matplotlib  # noqa: F401, ICN001 (found now rather than after minutes of playing)
    except ImportError as fault:
        raise UsageError(
            f"--plot needs {fault.name}; install the extra, as in: pip install 'desim[report]'"
        ) from None


def write_picture(
    path: Path,
    width: float,
    height: float,
    draw: "Callable[[Drawing], None]",
    *,
    fitted: bool = True,
) -> None:
    """Draw a picture in the form that a file's suffix names, and write it.

    Args:
        path: A .png, .svg or .pdf file.
        width: As in `drawn`, like *height*, *draw* and *fitted*.
        height: As above.
        draw: As above.
        fitted: As above.

    Raises:
        UsageError: It cannot be written.
    """
    form = path.suffix.lower().removeprefix(".")
    write_whole(path, [pictured(width, height, draw, fitted=fitted, form=form)])
