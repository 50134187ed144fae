"""Observers of a run, which are called before every event: traces and the log."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from desim.core.events import Decision
from desim.core.ledger_protocols import entries_of, inner_ledger, ledgers_of, scale_of
from desim.core.world import World


class Observed(Protocol):
    """The run as an observer may read it; an observer must not change it."""

    model: Any
    world: World
    state: Any
    decisions: int


class Observer:
    """Looks at one run; the episode is the same with and without it.

    The world is the run's, or the one of a part of its model.
    """

    def attach(self, run: Observed) -> None:
        """Prepare for a run, whose model has not begun: it has no state yet."""

    def event(self, world: World) -> None:
        """Look at the event that is processed next, the first of `world.scheduled()`."""

    def cause(self, world: World, role: str) -> None:
        """Note that further effects are caused by a role's last answer, or, if empty, no longer."""


class RunLog(Observer):
    """An observer that logs answers and postings at level debug, and the end of the episode."""

    def attach(self, run: Observed) -> None:
        """Prepare for a run."""
        self._run, self._log = run, run.world.log
        self._logged: dict[int, int] = {}

    def event(self, _world: World) -> None:
        """Log the entries of ledgers since the last call."""
        for outer in ledgers_of(self._run.state):
            ledger = inner_ledger(outer)
            if (rows := entries_of(ledger)) is None:
                continue
            scale = scale_of(ledger)
            named = {"ledger": name} if (name := getattr(outer, "name", "")) else {}
            first, self._logged[id(ledger)] = self._logged.get(id(ledger), 0), len(rows)
            for at in range(first, len(rows)):
                self._log.debug("posting", **named, **_entry_fields(rows[at], scale))

    def answer(self, decision: Decision) -> None:
        """Log an answer."""
        self._log.debug("answered", role=decision.role, action=decision.action)

    def end(self) -> None:
        """Log the postings of the last event, and why the episode ended."""
        world = self._run.world
        self.event(world)
        # A warning, not an error: a process that waits when no event is left waits forever, which
        # is usually a mistake but may be intended.
        if world.left:
            self._log.warning("no event is left and processes still wait", waiting=world.left)
        self._log.info("episode ended", reason=world.ended, decisions=self._run.decisions)


def _entry_fields(row: Any, scale: int) -> dict[str, Any]:
    # Without the time: that of a part's ledger is a tick of its own clock.
    fields = {name: value for name, value in row._asdict().items() if value and name != "time"}
    if "amounts" in fields:
        fields["amounts"] = {
            account: amount / scale for account, amount in row.amounts.items() if amount
        }
    return fields


def together(calls: Iterable[Callable[..., object]]) -> Callable[..., object] | None:
    """Return one function that makes all of these calls; None without calls."""
    each = tuple(calls)
    if len(each) < 2:  # noqa: PLR2004 (one alone needs no loop)
        return each[0] if each else None

    def call_all(*arguments: Any) -> None:
        for call in each:
            call(*arguments)

    return call_all
