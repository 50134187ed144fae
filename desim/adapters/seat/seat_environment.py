"""The base of the environments of all ecosystems."""

from pathlib import Path

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.starts import Start
from desim.adapters.seat.stepped_session import SteppedSession
from desim.errors import DesimError, UsageError


class SeatEnvironment:
    """The episodes of a setup, one after the other.

    Attributes:
        setup: The world and its policies; the next episode is one of it.
        session: The present episode; None before the first, and after `close`.
        fault: The error that has ended the present episode; None if none has.
    """

    def __init__(self, setup: Setup, label: str) -> None:
        self.setup, self._label = setup, label
        self.session: SteppedSession | None = None
        self.fault: DesimError | None = None

    def begin(
        self,
        seed: int | None,
        record: str | Path | None = None,
        start: Start | None = None,
    ) -> SteppedSession:
        """Begin an episode and close the one before it, which stays open if this one is refused.

        Args:
            seed: See `Setup.begin`, also for the other arguments and the errors.
            record: The file that receives the episode.
            start: The decision on record from which the episode begins.
        """
        session = self.setup.begin(seed, record=record, label=self._label, start=start)
        self.close()
        self.session = session
        return session

    def running(self) -> SteppedSession:
        """Return the present episode, which has an open decision.

        Raises:
            UsageError: No episode has begun, or it is over, or it has failed.
        """
        session = self.session
        if session is None:
            raise UsageError("no episode has begun; call reset first")
        if session.open and not session.truncated and self.fault is None:
            return session
        state = "is over" if session.done else "has failed"
        raise UsageError(f"the episode {state}; call reset first")

    def move(self, session: SteppedSession) -> dict[str, float]:
        """Move to the seats' next decisions and return the rewards by seat.

        At the episode's end its record is closed.

        Raises:
            DesimError: The model or the policy of another role has failed; see `fault`.
        """
        try:
            session.advance()
            rewards = session.rewards()
        except DesimError as fault:
            self.fail(fault)
            raise
        if session.done:
            session.close()
        return rewards

    def fail(self, fault: DesimError) -> None:
        """Keep the error that has ended the episode, and close its record."""
        self.fault = fault
        if self.session is not None:
            self.session.close()

    def close(self) -> None:
        """Close the present episode and its record."""
        session, self.session, self.fault = self.session, None, None
        if session is not None:
            session.close()
