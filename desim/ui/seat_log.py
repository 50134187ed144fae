"""Measures the time of each decision of a person, and counts the hints and tables opened."""

import hashlib
import re
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

from desim.errors import UsageError
from desim.records.lines import Step
from desim.records.seat_file import SeatLine, append_line, open_seat, seat_path
from desim.short_repr import shown
from desim.version import __version__

#: Letters, digits, spaces, dots, dashes and underscores: no cell of a table that a spreadsheet
#: would compute, and no end of a line.
_ALIAS = re.compile(r"\w[\w .-]{0,39}")

#: By surface the seconds without a sign of the person after which they count as away. A page sends
#: signs as long as a tab shows it; a terminal sends none before the answer.
_AWAY_AFTER = {"browser": 5.0, "terminal": float("inf")}


class SeatLog:
    """Measures a person's decisions and appends a line for each to the file beside the record.

    Calls from several threads are safe.

    Args:
        record: The record of the game.
        surface: Where the game is played.
        alias: A name that the person has chosen: at most 40 letters, digits, spaces, dots, dashes
            and underscores; empty for none.
        clock: Returns seconds that never go back.

    Raises:
        UsageError: The alias is something else, or the file cannot be written.

    Attributes:
        path: The file.
    """

    def __init__(
        self,
        record: str | Path,
        surface: Literal["browser", "terminal"],
        alias: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if alias and not _ALIAS.fullmatch(alias):
            raise UsageError(
                f"the alias {shown(alias)} is not 1 to 40 letters, digits, spaces, dots, dashes "
                "and underscores that begin with a letter or digit"
            )
        self.path = seat_path(record)
        self._surface, self._alias, self._clock = surface, alias, clock
        self._lock = threading.Lock()
        self._failed = False
        self.begin()

    def open(self) -> None:
        """Make the file if it is missing.

        Raises:
            UsageError: It cannot be written.
        """
        try:
            open_seat(self.path).close()
        except OSError as fault:
            raise UsageError(
                f"cannot write {self.path}: {fault.strerror}; --no-log keeps nothing beside the "
                "record"
            ) from None

    def begin(self, *, resumed: bool = False) -> None:
        """Start the measure of a decision that is open now."""
        with self._lock:
            self._resumed = resumed
            self._seen_at: float | None = None
            self._seconds = self._away = 0.0
            self._hints, self._tables = 0, dict[str, None]()

    def seen(self) -> None:
        """Note that the person sees the open decision now."""
        with self._lock:
            self._pass_time()

    def hint_opened(self) -> None:
        """Note that a hint was opened."""
        with self._lock:
            self._hints += 1

    def table_opened(self, name: str) -> None:
        """Note that a table was shown."""
        with self._lock:
            self._tables[name] = None

    def decided(self, step: Step, *, charged: bool) -> None:
        """Append the line of a decision that is on record.

        If the file cannot be written any more, a warning is printed on standard error and the game
        goes on.

        Args:
            step: The decision.
            charged: Whether tables are charged for.
        """
        with self._lock:
            self._pass_time()
            line = SeatLine.of(
                step,
                self._tables,
                seconds=round(self._seconds, 3),
                away_seconds=round(self._away, 3),
                resumed=self._resumed,
                hints=self._hints,
                charged=charged,
                alias=self._alias,
                surface=self._surface,
                version=page_version(),
            )
        try:
            append_line(self.path, line)
        except OSError as fault:
            self._warn(f"cannot write {self.path}: {fault.strerror}; the game goes on without it")

    def _pass_time(self) -> None:
        now = self._clock()
        passed = 0.0 if self._seen_at is None else now - self._seen_at
        if passed > _AWAY_AFTER[self._surface]:
            self._away += passed
        else:
            self._seconds += passed
        self._seen_at = now

    def _warn(self, text: str) -> None:
        if not self._failed:
            print(f"desim: {text}", file=sys.stderr, flush=True)  # noqa: T201
        self._failed = True


@cache
def page_version() -> str:
    """Return the version of desim, and a digest of the code of the page and the terminal."""
    folder = Path(__file__).parent
    files = sorted(file for end in ("*.py", "*.css") for file in folder.rglob(end))
    content = b"\0".join(file.read_bytes() for file in files)
    return f"{__version__}+{hashlib.sha256(content).hexdigest()[:12]}"
