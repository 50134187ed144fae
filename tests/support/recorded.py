"""A short Beer Game: policies that fail in it, the text of its record, its observations."""

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define

from desim import Policy
from models.beer_game import BeerGame, Order, Stage

GAME = BeerGame(horizon=6)
SEATS = dict.fromkeys(("retailer", "wholesaler"), "typical")


@define
class Dies(Policy):
    """A policy that fails after some decisions."""

    after_weeks: int
    fault: BaseException

    def decide(self, stage: Stage) -> Order:
        """Order as many as weeks have passed."""
        if stage.week == self.after_weeks:
            raise self.fault
        return Order(stage.week)


class Killed(BaseException):
    """What no policy can catch."""


def text_of(file: Path) -> bytes:
    """Return what a whole record holds."""
    raw = file.read_bytes()
    return gzip.decompress(raw) if file.suffix == ".gz" else raw


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a whole record."""
    return [json.loads(line) for line in text_of(file).splitlines()]


#: Keys of lines that a resumed record has otherwise than one that was not cut.
_OF_THE_FILE = ("tag", "record_digest", "id")


def played_lines(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a record without what says that it was resumed, and its digests."""
    return [
        {key: value for key, value in line.items() if key not in _OF_THE_FILE}
        for line in lines_of(file)
        if line["line"] != "resumed"
    ]


@contextmanager
def telltale(folder: Path, name: str, source: str, patch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a module in the way that leaves a file when it is imported; yield that file."""
    left = folder / "imported"
    (folder / f"{name}.py").write_text(
        f"import pathlib; pathlib.Path({str(left)!r}).touch()\n{source}"
    )
    patch.syspath_prepend(str(folder))
    yield left
    sys.modules.pop(name, None)


def observed(**changes: Any) -> Stage:
    """Return an observation of the published game with some fields changed."""
    seen = {
        "week": 3,
        "role": "retailer",
        "inventory": 0,
        "backlog": 0,
        "incoming_order": 0,
        "incoming_delivery": 0,
        "outgoing_delivery": 0,
        "supply_line": 0,
        "last_order": 0,
        "horizon": 9,
        "opponents": "typical",
        "target_inventory": 400,
    }
    return Stage(**{**seen, **changes})
