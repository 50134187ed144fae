"""Episodes in lockstep: their requests are sent together, once no episode can continue without one.

A policy finds the rounds of its command in its budget, and sends nothing by itself then. What a
request is, and how several are sent together, is the policies' own.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field, frozen

T = TypeVar("T")


@frozen(kw_only=True)
class RoundOptions:
    """The part of a round that a command carries out.

    Attributes:
        sends: Whether new requests are sent.
        fetches: Whether replies are fetched.
        waits: Whether the command waits for replies; otherwise it stops the episodes as soon as all
            of them need one that is not there.
        pause: Seconds before the first look for replies; later ones are up to ten times as long.
    """

    sends: bool = True
    fetches: bool = True
    waits: bool = True
    pause: float = 30.0


@define(eq=False)
class Rounds:
    """Counts which episodes of one host wait for a reply; threads may share it.

    Attributes:
        file: The file that keeps what was sent and what came back, also after a kill.
        players: The number of episodes that are played at once; see `player`.
        options: The part of a round that the command carries out.
        progress: A line on the requests under way; empty before the first.
        changed: Notified when an episode waits, continues or ends.
    """

    file: Path
    players: int
    options: RoundOptions = field(factory=RoundOptions)
    progress: str = field(default="", init=False)
    changed: threading.Condition = field(factory=threading.Condition, init=False)
    _waiting: Counter[str] = field(factory=Counter, init=False)
    _shared: dict[Any, Any] = field(factory=dict, init=False)

    @property
    def all_wait(self) -> bool:
        """Whether every episode under way waits for a reply."""
        with self.changed:
            return 0 < self.players <= len(self._waiting)

    @property
    def waiting(self) -> set[str]:
        """The jobs that wait for a reply."""
        with self.changed:
            return {*self._waiting}

    def wait(self, job: str) -> None:
        """Count a reply that a job waits for."""
        with self.changed:
            self._waiting[job] += 1
            self.changed.notify_all()

    def go_on(self, job: str) -> None:
        """Count a reply that a job has waited for and that is there now."""
        with self.changed:
            self._waiting[job] -= 1
            if not self._waiting[job]:
                del self._waiting[job]

    @contextmanager
    def player(self) -> Iterator[None]:
        """Play one episode after another; the others no longer wait for it after the block."""
        try:
            yield
        finally:
            with self.changed:
                self.players -= 1
                self.changed.notify_all()

    def shared(self, make: "Callable[[Rounds], T]") -> T:
        """Return the one object of these rounds that a callable makes; made at the first call."""
        with self.changed:
            if make not in self._shared:
                self._shared[make] = make(self)
            made: T = self._shared[make]
            return made
