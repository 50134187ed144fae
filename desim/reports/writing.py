"""The file of a report: written as a whole, and never over what is no report."""

import os
from pathlib import Path

from desim.errors import UsageError
from desim.reports.rendering import MARK

__all__ = ["check_target"]

#: Bytes at the start of a file among which a report has its mark.
_START = 1_024


def check_target(path: Path, *, force: bool) -> None:
    """Check before anything is drawn that a file may be written.

    Args:
        path: The file.
        force: Whether a file that is no report may be replaced.

    Raises:
        UsageError: It is a folder, its folder does not exist, or it is no report of desim.
    """
    try:
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
    except OSError as fault:  # a name that is too long
        raise UsageError(f"cannot write {path.parent}: {fault.strerror}") from None
    if is_folder:
        raise UsageError(f"{path} is a folder; --out names a file")
    if not has_folder:
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if os.path.lexists(path) and not force and not _is_report(path):
        raise UsageError(
            f"{path} exists and is no report of desim; choose another name (--out), "
            "or replace it (--force)"
        )


def _is_report(path: Path) -> bool:
    if not path.is_file():  # to open a pipe would wait
        return False
    try:
        with path.open("rb") as file:
            return MARK in file.read(_START)
    except OSError:
        return False
