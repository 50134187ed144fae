"""What the baselines make of the same world and seed, played while somebody looks at the end."""

import threading
from collections.abc import Mapping
from typing import Any

from attrs import asdict, define, field, frozen

from desim import catalog
from desim.doors.figures import Grid, grid
from desim.episode import Episode
from desim.play import play
from desim.protocols import Model
from desim.seating import Spec, read_seats

__all__ = ["Baseline", "Beside"]


@frozen
class Baseline:
    """One baseline's episode.

    Attributes:
        policy: Its spec.
        score: Higher is better; None if it failed.
        ended: Why it ended, or why it failed.
    """

    policy: str
    score: float | None
    ended: str


@define(eq=False)
class Beside:
    """The baselines of a world, one after another in a thread of their own.

    Attributes:
        model: The world.
        seed: The seed that the person had.
        seats: The person's; where a baseline names no seat it takes these.
        others: Who plays other seats.
        names: The baselines' specs.
        played: Those that have played.
    """

    model: Model[Any]
    seed: int
    seats: tuple[str, ...]
    others: Mapping[str, Any]
    names: tuple[str, ...] = field(init=False)
    played: list[Baseline] = field(factory=list)
    _thread: threading.Thread | None = None

    def __attrs_post_init__(self) -> None:
        self.names = catalog.baselines(self.model)

    @property
    def done(self) -> bool:
        """Whether all have played."""
        return len(self.played) == len(self.names)

    def start(self) -> None:
        """Let them play; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.play, daemon=True)
            self._thread.start()

    def play(self) -> None:
        """Play all of them now."""
        for name in self.names:
            self.played.append(self._played(name))

    def ranked(self, episode: Episode) -> Grid:
        """Put the person's score among those of the baselines that have played, best first."""
        you = Baseline("you", episode.score, episode.ended)
        rows = sorted((you, *self.played), key=_order)
        told = [{"rank": n, **asdict(row)} for n, row in enumerate(rows, 1)]
        return grid("Scores on the same seed, higher is better", told)

    def _played(self, name: str) -> Baseline:
        try:
            episode = play(self.model, self._seated(name), self.seed)
        except Exception as fault:  # noqa: BLE001 (one that fails must not keep the rest waiting)
            return Baseline(name, None, str(fault))
        return Baseline(name, episode.score, episode.ended)

    def _seated(self, name: str) -> Any:
        """Put a baseline where the person sat, unless it says itself where it sits."""
        policies = read_seats((name,))
        if isinstance(policies, str):
            cls = catalog.policy(Spec.read(policies).name, self.model)
            if getattr(cls, "seats", "") == "all":
                return policies
            policies = dict.fromkeys(self.seats, policies)
        return {**self.others, **policies}


def _order(row: Baseline) -> tuple[bool, float]:
    """Higher scores first, those without one last."""
    return row.score is None, -(row.score or 0)
