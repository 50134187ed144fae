"""A short game with two seats, policies that fail in it, and the text of its record."""

import gzip
import json
from pathlib import Path
from typing import Any

from attrs import define

from models.beer_game import BeerGame, Order, Stage

GAME = BeerGame(horizon=6)
SEATS = dict.fromkeys(("retailer", "wholesaler"), "typical")


@define
class Dies:
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
