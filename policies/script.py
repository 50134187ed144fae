"""Actions that are known before the episode begins: of a file, or of a recorded episode."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field

from desim import Episode, Policy, Seat
from desim.errors import PolicyFailed, UsageError, WrongAction
from desim.schema import codec
from desim.show.files import read_text


@define
class Script(Policy):
    """Answer with the lines of a file, in order.

    A line is a tagged object such as `{"do": "order", "quantity": 12}`; empty lines and lines that
    start with `#` are skipped.

    Attributes:
        file: The file.
    """

    reaches = ("file",)

    file: str
    _left: Iterator[Any] = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Read the whole file: an error in its last line is found before the first decision.

        Raises:
            UsageError: The file cannot be read, or has no action of the role.
            BadRecord: The record cannot be read.
        """
        self._left = iter(list(self._actions(seat)))

    def decide(self, _: Any) -> Any:
        """Return the next action.

        Raises:
            PolicyFailed: No action is left.
        """
        try:
            return next(self._left)
        except StopIteration:
            raise PolicyFailed(
                f"the {type(self).__name__.lower()} {self.file} has ended, but another action is "
                "needed"
            ) from None

    def _actions(self, seat: Seat) -> Iterable[Any]:
        read = codec(seat.spec.action).read
        for number, line in enumerate(_lines(Path(self.file)), 1):
            if line.strip() and not line.lstrip().startswith("#"):
                try:
                    yield read(line)
                except WrongAction as wrong:
                    raise UsageError(f"{self.file}, line {number}: {wrong}") from None


@define
class Replay(Script):
    """Give one role's recorded answers again, in order.

    Unlike `desim replay` it compares nothing: in another world or with another seed the same
    actions lead to another episode.

    Attributes:
        file: The record, whole or cut.
        role: The role whose actions are taken; empty stands for the seat's own, or for the one of
            that name in a part of the recorded model.
    """

    role: str = ""

    def _actions(self, seat: Seat) -> Iterable[Any]:
        steps = Episode.read(self.file, whole=False).steps
        recorded = dict.fromkeys(step.role for step in steps)
        wanted = self.role or _recorded_role(seat, recorded, self.file)
        actions = [step.action for step in steps if step.role == wanted]
        if not actions:
            raise UsageError(f"{self.file} holds no action of {wanted!r}")
        return actions


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).splitlines()
    except OSError as fault:
        raise UsageError(f"cannot read the script {path}: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"cannot read the script {path}: it is not UTF-8 text") from None


def _recorded_role(seat: Seat, recorded: Collection[str], file: str) -> str:
    """Return the recorded role that a seat is: in the same model, or in a part played alone."""
    role = seat.role
    if seat.name in recorded or role in recorded:
        return seat.name if seat.name in recorded else role
    same = [each for each in recorded if each.endswith(f".{role}")]
    if len(same) > 1:
        raise UsageError(
            f"{file} holds actions of {' and '.join(map(repr, same))}; say which with role=ROLE"
        )
    return same[0] if same else role
