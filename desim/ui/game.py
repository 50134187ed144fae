"""A game that a person plays, for the page and the terminal.

A game is a `CallerSession` whose caller is a person. The page and the terminal show a `GameView`,
which is made anew after every change. An answer names the turn of the view that it answers, so an
answer from an old tab or a second click is refused.

A game that fails is shown like any other: the view holds a `Fault`, and the record keeps every
decision and has no result. Playing the same record again leads to the same fault of the model.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from desim.catalog.policy_spec import label
from desim.core.events import Decision
from desim.core.model import Model
from desim.core.roles import Role
from desim.core.run import Run, check_roles
from desim.episodes.driver import CallerSeat, CallerSession
from desim.episodes.lineup import assign, knows_by_role
from desim.episodes.replay import branch, first_difference
from desim.errors import (
    BadRecord,
    DesimError,
    PolicyFailed,
    UsageError,
    WriteFailed,
)
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.lines import PERSON, Header, Step
from desim.records.record_lock import RecordLock
from desim.records.writer import cut
from desim.schema import codec, plain_observation
from desim.ui.answer_effects import AnswerEffect, effect_of
from desim.ui.forms import Form, forms
from desim.ui.game_faults import Fault, RecordWatch
from desim.ui.view import GameView, offered_options, offered_tables, time_text


class Stale(UsageError):
    """An answer to a decision that is no longer open."""


class Game:
    """An episode that stops wherever a person has to decide.

    Every answer is on disk when the call returns. A game with the same file continues where the
    record ends. Calls from several threads run one after the other.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        file: The record; created if it does not exist, continued if it does.
        seats: The person's roles; empty means the model's default roles, and a part's name for
            the default roles of the part.
        others: The policies of other roles, or of all default roles of a part. Give specs if
            decisions may be taken back, so that the policies are built anew.
        practice: Whether decisions can be taken back.
        hints: Whether the options are shown from the start.

    Raises:
        UsageError: A role does not exist or has two players, or the file is of another game.
        BadRecord: The file is not a record, or replaying it gives a different decision.
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
        hints: bool = False,
    ) -> None:
        self.model, self.seed, self.practice = model, seed, practice
        self.hints = hints
        self._hinted = -1  # the turn at which the person last opened the options
        self.file = Path(file)
        self.seats = tuple(assign(model, dict.fromkeys(seats, CallerSeat))) or tuple(
            model.default_roles
        )
        self.others = _without(self.seats, assign(model, others or {}))
        check_roles(model, frozenset([*self.seats, *self.others]))
        labels = dict.fromkeys(self.seats, PERSON) | {r: label(p) for r, p in self.others.items()}
        known = knows_by_role(model, self.others)
        self.header = Header.of(model, seed, labels, knows=known)
        self._lock = threading.Lock()
        self._turn = 0
        self._watch = RecordWatch(self.file)
        self._play: CallerSession | None = None
        self._record_lock: RecordLock | None = None
        self._run: Run[Any]
        self._open()
        self.view = self._new_view()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> bool:
        """Whether policies of other roles are deciding, or the clock is moving."""
        return self._lock.locked()

    def role(self, name: str) -> Role:
        """Return a role of the model."""
        return self.model.roles[name]

    def time(self, role: str, tick: int) -> str:
        """Return a tick up to the present one as a role knows it; empty if it has no name."""
        return time_text(self.model, self._run.state, role, tick)

    def answer(self, turn: int, action: Any) -> None:
        """Answer the open decision and advance to the person's next one.

        Args:
            turn: The turn of the view that is answered.
            action: An action, or its tagged object as a mapping.

        Raises:
            Stale: The game has moved on since that view; nothing changes.
            WrongAction: The action does not fit the role; nothing changes.
        """
        with self._lock:
            self._check_turn(turn)
            decision = self._open_decision()
            if self._play is None or decision is None:
                raise Stale("the game has no open decision to answer")
            codec(decision.spec.action).take(action)  # or it is refused, and nothing changes
            if self._record_is_ours():
                self._advance(self._play, decision, action)
                self._changed()

    @property
    def shown_role(self) -> str:
        """The role whose tables are shown: the one that decides, or the last one that did."""
        return self.view.role or _last_role(self.view.steps, self.seats)

    @property
    def hint_open(self) -> bool:
        """Whether the person sees the options of the open decision."""
        view = self.view
        return self.hints or view.options_are_answers or view.turn == self._hinted

    def hint_opened(self, turn: int) -> None:
        """Show the options of the open decision.

        Raises:
            Stale: The game has moved on since that view.
        """
        with self._lock:
            self._check_turn(turn)
            self._hinted = turn

    def forms(self, role: str) -> tuple[Form, ...]:
        """Return the forms of a role, with the identifiers that its observations so far list."""
        view = self.view
        seen = [plain_observation(view.observation, view.spec.observation)] if view.spec else []
        seen += [step.observation for step in reversed(view.steps) if step.role == role]
        return forms(view.spec if view.spec and view.role == role else self.role(role), seen)

    def go_on(self, turn: int) -> None:
        """Ask the policy of another role again after its fault.

        Raises:
            Stale: The game has moved on since that view.
            UsageError: No policy of another role has failed.
        """
        with self._lock:
            self._check_turn(turn)
            if self._play is None or not (self._fault and self._fault.again):
                raise UsageError("the game has stopped; asking again would lead to the same fault")
            if self._record_is_ours():
                self._advance(self._play)
                self._changed()

    def undo(self, turn: int) -> None:
        """Take back the person's last decision and everything after it, also in the record.

        Raises:
            Stale: The game has moved on since that view.
            UsageError: Decisions are final (`practice` is false), none can be taken back, or the
                record cannot be written; nothing changes.
        """
        with self._lock:
            self._check_turn(turn)
            if not self.practice:
                raise UsageError("decisions are final; start with --practice to take them back")
            mine = [n for n, step in enumerate(self._present()[0]) if step.role in self.seats]
            if not mine:
                raise UsageError("nothing was decided yet, so nothing can be taken back")
            if self._record_is_ours():
                self._cut(mine[-1])

    def another(self, file: Path, seed: int) -> Self:
        """Begin another game with the same seats and settings.

        Raises:
            UsageError: The record cannot be written.
        """
        return type(self)(
            self.model,
            seed,
            file,
            seats=self.seats,
            others=self.others,
            practice=self.practice,
            hints=self.hints,
        )

    def close(self) -> None:
        """Close the record; it can be continued later."""
        if self._play is not None:
            self._play.close()
        if self._record_lock is not None:
            self._record_lock.__exit__()
        self._play = self._record_lock = None

    # -- under the lock ----------------------------------------------------------------------------

    def _open(self) -> None:
        """Start the session, or bring it to where its record ends."""
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        self._ended: Episode | None = None  # a record that was complete when the game was opened
        self._fault: Fault | None = None
        past = self._recorded()
        if past is not None and past.result is not None:
            self._ended, self._run = past, branch(past)
            self._watch.note()
            return
        self._play = play = CallerSession(
            self.model,
            self.seed,
            seats=dict.fromkeys(self.seats, PERSON),
            others=self.others,
            record=self.file,
            past=past,
            locked=True,
            keep_steps=True,
        )
        self._run = play.run
        self._advance(play)

    def _recorded(self) -> Episode | None:
        """Read the decisions that are already on record; None without a record."""
        self._lock_record()
        if not self.file.exists():
            return None
        past = Episode.read(self.file, whole=False)
        recorded, given = _identity(past.header), _identity(self.header)
        if recorded != given:
            difference = first_difference(recorded, given).removeprefix("$.")
            raise UsageError(
                f"{self.file} is the record of another game ({difference}); start as it was "
                "started, or choose another --record"
            )
        return past

    def _lock_record(self) -> None:
        """Lock the record, unless it is locked already."""
        if self._record_lock is None:
            self._record_lock = RecordLock(self.file)

    def _record_is_ours(self) -> bool:
        """Return whether the record is as this game wrote it; otherwise stop the game."""
        try:
            self._watch.check()
        except BadRecord as error:
            self._fault = Fault.of_record(error, self.file)
            self._changed()
            return False
        return True

    def _cut(self, decisions: int) -> None:
        """Shorten the record to its first decisions and play them again."""
        self.close()
        try:
            cut(self.file, decisions)
        finally:
            self._reopen()
            self._changed()

    def _reopen(self) -> None:
        try:
            self._open()
        except (DesimError, OSError) as error:
            self._fault = Fault.of_record(error, self.file)

    def _advance(self, play: CallerSession, *answer: Any) -> None:
        """Advance to the next decision or a fault; first answer a decision if one is given."""
        self._fault = None
        try:
            if answer:
                play.answer(*answer)
            play.advance()
        except PolicyFailed as error:
            self._fault = Fault.of_policy(error, self._date)
        except BadRecord as error:
            raise BadRecord(f"{self.file}: {error}") from None
        except (WriteFailed, OSError) as error:  # the run may have an answer that is not on record
            self._fault = Fault.of_record(error, self.file)
        except RAISED as error:
            made = range(play.session.before_tick + 1, len(play.session.steps) + 1)
            self._fault = Fault.of_model(error, made, self.file, self.seats, self._date)
        self._watch.note()

    @property
    def _date(self) -> str:
        return self.time(self.seats[0], self._run.world.now)

    def _check_turn(self, turn: int) -> None:
        if turn != self._turn:
            raise Stale("the game has moved on since this was shown; this is its present state")

    def _changed(self) -> None:
        self._turn += 1
        self.view = self._new_view()

    def _present(self) -> tuple[Sequence[Step], Episode | None, Fault | None]:
        """Return the decisions so far, the episode if it has ended, and the fault if it failed."""
        if self._play is None:
            return self._ended.steps if self._ended else (), self._ended, self._fault
        return self._play.session.steps, self._play.episode, self._fault

    def _open_decision(self) -> Decision | None:
        _, _, fault = self._present()
        return self._play.open[0] if self._play and self._play.open and not fault else None

    def _new_view(self) -> GameView:
        decision, (steps, episode, fault) = self._open_decision(), self._present()
        mine = tuple(step for step in steps if step.role in self.seats)
        role = decision.role if decision else ""
        spec = decision.spec if decision else None
        seen = decision.observation if decision else None
        options, options_error = offered_options(spec, seen) if spec else ((), "")
        shown_role = role or _last_role(mine, self.seats)
        tables, tables_error = offered_tables(self.model, self._run.state, shown_role)
        return GameView(
            turn=self._turn,
            date=self.time(shown_role, self._run.world.now),
            role=role,
            spec=spec,
            observation=seen,
            options=options,
            options_error=options_error,
            effect=self._effect(decision, mine),
            steps=mine,
            tables=tables,
            tables_error=tables_error,
            episode=episode,
            fault=fault,
        )

    def _effect(self, decision: Decision | None, mine: Sequence[Step]) -> AnswerEffect | None:
        """Return what the last answer of the role that decides now did."""
        given = [step for step in mine if decision is not None and step.role == decision.role]
        if decision is None or not given:
            return None
        role = self.role(decision.role)
        return effect_of(self.model, self._run.state, role, given[-1], decision.observation)


def _last_role(steps: Sequence[Step], seats: Sequence[str]) -> str:
    return steps[-1].role if steps else seats[0]


def _without(seats: Sequence[str], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policies of other roles."""
    for role in seats:
        if role in others:
            raise UsageError(f"{role!r} is the person's role; give policies to other roles only")
    return dict(others)


def _identity(header: Header) -> dict[str, Any]:
    """Return what makes a header that of one game."""
    return {name: getattr(header, name) for name in ("model", "seed", "params", "policies")}
