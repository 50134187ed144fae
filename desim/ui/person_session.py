"""A session that stops where a person has to decide, and keeps a fault instead of raising it.

Notices when another program changes, replaces or removes a record that a game writes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import define

from desim.core.world import Decision
from desim.episodes.session import Session
from desim.errors import BadRecord, DesimError, WrongAction
from desim.records.episode import Episode
from desim.schema import codec
from desim.ui.game_faults import RAISED, Answer, Fault
from desim.ui.part_texts import time_text


class PersonSession:
    """Advances a session to the person's next decision, to the end, or to a fault.

    Args:
        session: An entered session.
        seats: The person's roles.
        file: The record.

    Attributes:
        session: The session.
        episode: The whole episode once it has ended.
        fault: Why it has stopped before its end; None if it has not.
    """

    def __init__(self, session: Session, seats: Sequence[str], file: Path) -> None:
        self.session = session
        self.episode: Episode | None = None
        self.fault: Fault | None = None
        self._seats, self._file = seats, file
        self._handed_out = 0  # how many decisions were answered when the clock last stopped
        self._loop: Any = None

    def close(self) -> None:
        """Close the record."""
        self.session.__exit__()
        # It runs where a stopped server leaves a policy that still decides in its thread.
        if self._loop is not None and not self._loop.get_loop().is_running():
            self._loop.close()

    def advance(self) -> None:
        """Advance to a decision of the person's that is not on record, to the end, or a fault.

        Raises:
            BadRecord: The record has another decision than the run.
        """
        session, run = self.session, self.session.run
        while self.fault is None and (run.open or self._move()):
            decision, number = run.open[0], len(session.steps)
            if decision.role not in self._seats:
                self._ask_policy(decision)
            elif number < len(session.past):
                self._repeat(decision, session.past[number].action)
            else:
                return

    def take(self, decision: Decision, action: Any) -> None:
        """Give an answer to the run and record it.

        Raises:
            BadRecord: The record has another decision at this place.
        """
        try:
            self.session.take(decision, action)
        except BadRecord as error:
            raise BadRecord(f"{self._file}: {error}") from None
        except WrongAction as error:  # the decision is still open
            self.fault = Fault.of_policy(error, self._date)
        except RAISED as error:  # the run has the answer and the record may not
            self.fault = Fault.of_record(error, self._file)

    def _move(self) -> bool:
        """Move the clock to the next decisions; return False at the end and at a fault."""
        steps = self.session.steps
        answers = [Answer(n, step) for n, step in enumerate(steps, 1)][self._handed_out :]
        try:
            if self.session.advance():
                self._handed_out = len(steps)
                return True
            # Made here as well, so that its error is the model's and not one of the record.
            self.session.result()
        except RAISED as error:
            self.fault = Fault.of_model(error, answers, self._file, self._seats, self._date)
        else:
            self._finish()
        return False

    @property
    def _date(self) -> str:
        run = self.session.run
        return time_text(self.session.model, run.state, self._seats[0], run.world.now)

    def _finish(self) -> None:
        try:
            self.episode = self.session.episode()
        except (DesimError, OSError) as error:
            self.fault = Fault.of_record(error, self._file)

    def _ask_policy(self, decision: Decision) -> None:
        try:
            action = self._policy_answer(decision)
        except RAISED as error:
            self.fault = Fault.of_policy(error, self._date)
        else:
            self.take(decision, action)

    def _repeat(self, decision: Decision, action: Any) -> None:
        """Give an answer on record.

        Raises:
            BadRecord: The role has no such action, or the record has another decision here.
        """
        try:
            codec(self.session.model.roles[decision.role].action).take(action)
        except WrongAction as error:
            number = len(self.session.steps) + 1
            raise BadRecord(f"{self._file}: decision {number}: {error}") from None
        self.take(decision, action)

    def _policy_answer(self, decision: Decision) -> Any:
        """Return the answer of a policy, which may be a coroutine."""
        import asyncio

        # One event loop for the whole game: a coroutine's client is bound to its first loop.
        self._loop = self._loop or asyncio.Runner()
        # Not `Runner.run`, which keeps Ctrl-C from a policy that computes.
        return self._loop.get_loop().run_until_complete(self.session.decide_async(decision))


@define
class RecordWatch:
    """The identity and size of a file after the game's last write.

    A change that keeps both is found when the record is read.

    Attributes:
        path: The record.
    """

    path: Path
    _seen: tuple[int, ...] = ()

    def note(self) -> None:
        """Remember the file as it is now."""
        self._seen = self._state()

    def check(self) -> None:
        """Compare the file with what was remembered.

        Raises:
            BadRecord: It was changed, replaced or removed since.
        """
        if self._state() != self._seen:
            raise BadRecord(
                f"{self.path} was changed or removed by another program since the last answer; "
                "nothing more is written to it"
            )

    def _state(self) -> tuple[int, ...]:
        try:
            stat = self.path.stat()
        except OSError:
            return ()
        return stat.st_dev, stat.st_ino, stat.st_size
