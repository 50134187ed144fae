"""Faults that stop a person's game: the error, the answers that led to it, and how to go on.

`RecordWatch` detects that another program has changed, replaced or removed a game's record.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import define, frozen

from desim.errors import BadRecord, DesimError
from desim.faults import fault_text, function_name, place
from desim.short_repr import shortened

_NO_ANSWERS = "No answer came before it: start a game with another seed or other parameters."


@frozen
class Fault:
    """The reason why a game has stopped before its end.

    Attributes:
        heading: The part that failed, as a heading.
        text: The error.
        way: What is kept and how to go on, in sentences.
        again: Whether the policy that failed may be asked again. Otherwise the game has stopped.
    """

    heading: str
    text: str
    way: str = ""
    again: bool = False

    @classmethod
    def of_policy(cls, error: BaseException, date: str = "") -> "Fault":
        """Describe the fault of another role's policy, whose decision is still open."""
        heading = f"A policy of another role failed{date and f' on {date}'}"
        return cls(heading, error_text(error), again=True)

    @classmethod
    def of_model(
        cls, error: BaseException, steps: range, file: Path, seats: Sequence[str], date: str = ""
    ) -> "Fault":
        """Describe a fault of the model: the same answers lead to it again.

        Args:
            error: The exception.
            steps: The places on record, from 1, of the answers since the clock last stopped.
            file: The record.
            seats: The person's roles.
            date: The time of the fault as the person's role knows it; may be empty.
        """
        way = _NO_ANSWERS
        if steps:
            rules = [each for role in seats for each in ("--policy", f"{role}=greedy")]
            command = shlex.join(["desim", "branch", str(file), "--at", str(steps[0]), *rules])
            made = f"decisions {steps[0]} to {steps[-1]}" if steps[1:] else f"decision {steps[0]}"
            way = (
                f"The fault came after {made} on record. To take back your last one, start the "
                f"same command with --practice and undo; to let greedy play on: {command}"
            )
        heading = f"The model failed{date and f' on {date}'}, so the game has no result"
        return cls(heading, error_text(error), f"{file} keeps every decision. {way}")

    @classmethod
    def of_record(cls, error: BaseException, file: Path) -> "Fault":
        """Describe a record that cannot be written or was changed by another program."""
        return cls(
            "The game cannot be recorded any further",
            f"{file}: {error_text(error)}" if isinstance(error, OSError) else error_text(error),
            "Once that is mended, the same command continues from what is on record.",
        )


@define
class RecordWatch:
    """The identity and size of a file after the game's last write.

    A change that keeps both is detected when the record is read.

    Attributes:
        path: The record.
    """

    path: Path
    _seen: tuple[int, ...] = ()

    def note(self) -> None:
        """Store the present identity and size."""
        self._seen = self._state()

    def check(self) -> None:
        """Compare the file with the stored identity and size.

        Raises:
            BadRecord: The file was changed, replaced or removed since.
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


def error_text(error: BaseException) -> str:
    """Return the text of an error in one line, with its type if it is not one of desim's own."""
    text = shortened(str(error)) if isinstance(error, DesimError) else fault_text(error)
    return " ".join(text.removesuffix(": ").split())


def call_failed(function: Any, error: BaseException) -> str:
    """Return a text with the function of a model that failed, the place, and the error."""
    # With only one frame the call itself failed, and its place would be that of the caller.
    inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    where = f" in {place(error)}" if inside else ""
    return f"{function_name(function)} failed{where}: {error_text(error)}"
