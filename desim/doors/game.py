"""A game that a person plays: what the page and the terminal have in common.

A game is an episode at a table where some seats are a person's. It stands still at every decision
of theirs. What is shown of it is a `View`, made anew after every change; an answer names the turn
of the view it answers, so that one from an old tab or a second click is told apart and refused.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from attrs import frozen

from desim.doors.keeping import Held, cut
from desim.episode import PERSON, Episode, Header, Step
from desim.errors import DesimError, PolicyFailed, UsageError
from desim.kernel import Option, Role, Run, seated
from desim.protocols import Model, lead
from desim.replay import branch
from desim.schema import codec
from desim.seating import label
from desim.table import Table
from desim.world import Decision

__all__ = ["Game", "Stale", "View"]


class Stale(UsageError):
    """An answer to a decision that is not open any more."""


@frozen
class View:
    """A game as it stands.

    Attributes:
        turn: Grows with every change, undone ones too.
        role: Whose decision is open; empty where none is.
        observation: What they see.
        options: Sensible answers, the one worth most first; empty where the role offers none.
        steps: The decisions so far of the person's own seats.
        decisions: How many decisions there were of all seats.
        sheets: Tables that somebody at this seat may look up, by name.
        episode: The whole episode once it has ended.
        fault: Why the other seats could not go on; empty where they could.
    """

    turn: int
    role: str
    observation: Any
    options: tuple[Option, ...]
    steps: tuple[Step, ...]
    decisions: int
    sheets: Mapping[str, Sequence[Mapping[str, Any]]]
    episode: Episode | None
    fault: str


class Person:
    """Keeps a person's seat; the game itself waits for the answer."""

    def decide(self, _: Any) -> Any:
        """Nobody asks here.

        Raises:
            UsageError: Always.
        """
        raise UsageError("a person's seat is answered through its game")


class Game:
    """An episode that stops wherever a person has to decide.

    Every answer is on disk when the call returns. Started again with the same file it goes on
    where it was. Calls from several threads are taken one after the other.

    Args:
        model: The world.
        seed: A whole number of at least 0.
        file: The record; made if it does not exist, gone on with if it does.
        seats: The person's; none stands for the model's lead seats.
        others: Who plays other seats, as a mapping of roles to policies; specs, where decisions are
            taken back, because their policies are then built anew.
        practice: Whether decisions can be taken back.

    Raises:
        UsageError: A seat that does not exist or is taken twice, or a file of another game.
        BadRecord: The file is no record, or what it holds does not come out the same.
    """

    def __init__(
        self,
        model: Model[Any],
        seed: int,
        file: str | Path,
        *,
        seats: Sequence[str] = (),
        others: Mapping[str, Any] | None = None,
        practice: bool = False,
    ) -> None:
        self.model, self.seed, self.practice = model, seed, practice
        self.file = Path(file)
        self.seats = tuple(seats) or tuple(lead(model))
        self.others = _apart(self.seats, others or {})
        seated(model, frozenset([*self.seats, *self.others]))
        labels = dict.fromkeys(self.seats, PERSON) | {r: label(p) for r, p in self.others.items()}
        self.header = Header.of(model, seed, labels)
        self._lock = threading.Lock()
        self._turn = 0
        self._table: Table | None = None
        self._held: Held | None = None
        self._loop: Any = None
        self._run: Run
        self._open()
        self.view = self._look()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> bool:
        """Whether other seats are thinking, or the clock is moving."""
        return self._lock.locked()

    def role(self, name: str) -> Role:
        """Return what somebody at a seat sees and does."""
        return self.model.roles[name]

    def answer(self, turn: int, action: Any) -> None:
        """Answer the open decision and let the world go on to the next one of the person's.

        Args:
            turn: Of the view that is answered.
            action: An action, or its tagged object as a mapping.

        Raises:
            Stale: The game has moved on since that view; nothing changes.
            WrongAction: The action does not fit the role; nothing changes.
        """
        with self._lock:
            self._current(turn)
            decision = self._decision()
            if self._table is None or decision is None:
                raise Stale("the game has no open decision to answer")
            # Checked here first: what is shown beside a form need not name the seat and the tick.
            codec(self.role(decision.role).does).take(action)
            self._table.take(decision, action)
            self._go_on()

    def go_on(self, turn: int) -> None:
        """Ask the other seats again after a fault.

        Raises:
            Stale: The game has moved on since that view.
        """
        with self._lock:
            self._current(turn)
            self._go_on()

    def undo(self, turn: int) -> None:
        """Take back the person's last decision, and all that came of it, on record too.

        Raises:
            Stale: The game has moved on since that view.
            UsageError: It is no practice, or nothing was decided yet.
        """
        with self._lock:
            self._current(turn)
            if not self.practice:
                raise UsageError("decisions are final; start with --practice to take them back")
            mine = [n for n, step in enumerate(self._steps()) if step.role in self.seats]
            if not mine:
                raise UsageError("nothing was decided yet, so nothing can be taken back")
            self.close()
            cut(self.file, mine[-1])
            self._open()
            self._changed()

    def close(self) -> None:
        """Close the record; what is on it stays."""
        for each in (self._table, self._held):
            if each is not None:
                each.__exit__()
        if self._loop is not None:
            self._loop.close()
        self._table = self._held = self._loop = None

    # -- within the lock ---------------------------------------------------------------------------

    def _open(self) -> None:
        """Begin the episode, or bring it back to where its record ends."""
        try:
            self._sit_down()
        except BaseException:
            self.close()
            raise

    def _sit_down(self) -> None:
        self._episode: Episode | None = None
        self._fault = ""
        past = self._past()
        if past is not None and past.result is not None:
            self._episode, self._run = past, branch(past)
            return
        players = {role: Person() for role in self.seats} | dict(self.others)
        header = self.header
        table = Table(self.model, players, self.seed, self.file, header.policies, past)
        self._table, self._run = table.__enter__(), table.run
        self._hold()
        try:
            self._advance()
        except PolicyFailed as fault:
            self._fault = str(fault)

    def _past(self) -> Episode | None:
        """Read what is on record already.

        Raises:
            UsageError: It is a record of another game, or somebody else plays it.
        """
        if not self.file.exists():
            return None
        self._hold()
        past = Episode.read(self.file, whole=False)
        for what in ("model", "seed", "params", "policies"):
            told, asked = getattr(past.header, what), getattr(self.header, what)
            if told != asked:
                raise UsageError(
                    f"{self.file} is the record of another game, with {_differs(what, told, asked)}"
                    "; start as it was started, or choose another --record"
                )
        return past

    def _hold(self) -> None:
        """Hold the file that is there now, which may have taken the place of one held before."""
        held, self._held = self._held, Held(self.file)
        if held is not None:
            held.__exit__()

    def _go_on(self) -> None:
        self._fault = ""
        try:
            self._advance()
        except DesimError as fault:
            self._fault = str(fault)
        except Exception as fault:  # noqa: BLE001 (a fault of the world's, which the view tells)
            self._fault = f"{type(fault).__name__}: {fault}"
        self._changed()

    def _advance(self) -> None:
        """Move on to a decision of the person's that is not on record, or to the end."""
        table, run = self._table, self._run
        assert table is not None
        while True:
            if not run.open and not run.advance():
                self._episode = table.episode()
                return
            decision, known = run.open[0], len(table.steps)
            if decision.role not in self.seats:
                table.take(decision, self._asked(table, decision))
            elif known < len(table.past):
                table.take(decision, table.past[known].action)
            else:
                return

    def _asked(self, table: Table, decision: Decision) -> Any:
        """Ask a policy, which may be a coroutine."""
        import asyncio

        # One loop for the whole game: a client that a coroutine keeps belongs to the loop it met.
        self._loop = self._loop or asyncio.Runner()
        return self._loop.run(table.decide_async(decision))

    def _current(self, turn: int) -> None:
        if turn != self._turn:
            raise Stale("the game has moved on since this was shown; here is how it stands now")

    def _changed(self) -> None:
        self._turn += 1
        self.view = self._look()

    def _decision(self) -> Decision | None:
        """Return the person's open decision."""
        waiting = [] if self._episode or self._fault else self._run.open
        return waiting[0] if waiting else None

    def _steps(self) -> Sequence[Step]:
        if self._episode is not None:
            return self._episode.steps
        return self._table.steps if self._table else ()

    def _look(self) -> View:
        decision, steps = self._decision(), self._steps()
        mine = tuple(step for step in steps if step.role in self.seats)
        role = decision.role if decision else ""
        return View(
            turn=self._turn,
            role=role,
            observation=decision.observation if decision else None,
            options=self._options(decision) if decision else (),
            steps=mine,
            decisions=len(steps),
            sheets=self._sheets(role or (mine[-1].role if mine else self.seats[0])),
            episode=self._episode,
            fault=self._fault,
        )

    def _options(self, decision: Decision) -> tuple[Option, ...]:
        offered = self.role(decision.role).options
        found = offered(decision.observation) if offered else ()
        return tuple(sorted(found, key=lambda option: -option.worth))

    def _sheets(self, role: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        sheets = getattr(self.model, "sheets", None)
        told: Mapping[str, Sequence[Mapping[str, Any]]] = (
            sheets(self._run.state, role) if sheets else {}
        )
        return told


def _apart(seats: Sequence[str], others: Mapping[str, Any]) -> dict[str, Any]:
    for role in seats:
        if role in others:
            raise UsageError(f"{role!r} is the person's seat; a policy plays another one")
    return dict(others)


def _differs(what: str, told: Any, asked: Any) -> str:
    """Name what is different, of mappings only the first key that is."""
    if isinstance(told, dict) and isinstance(asked, dict):
        for key in [*told, *asked]:
            if told.get(key) != asked.get(key):
                return f"{key} {told.get(key)!r} instead of {asked.get(key)!r}"
    return f"{what} {told!r} instead of {asked!r}"
