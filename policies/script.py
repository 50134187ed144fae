"""Actions written down by hand: a file with one tagged object a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from attrs import define

from desim import Seat
from desim.errors import PolicyFailed, UsageError, WrongAction
from desim.schema import codec

__all__ = ["Script"]


@define
class Script:
    """Answer with the lines of a file, in order.

    A line is a tagged object such as `{"do": "order", "quantity": 12}`; empty lines and lines that
    start with `#` are passed over.

    Attributes:
        file: Where the lines come from, for error texts.
        actions: What is still to be answered.
    """

    file: str
    actions: Iterator[Any]

    @classmethod
    def seated(cls, seat: Seat, file: str) -> Self:
        """Read the whole file, so that a fault in its last line is found before the first decision.

        Raises:
            UsageError: The file cannot be read, or a line is no action of the role.
        """
        return cls(file, iter(list(_read(Path(file), seat))))

    def decide(self, _: Any) -> Any:
        """Answer with the next line."""
        try:
            return next(self.actions)
        except StopIteration:
            raise PolicyFailed(
                f"the script {self.file} has ended, but another action is needed"
            ) from None


def _read(path: Path, seat: Seat) -> Iterator[Any]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is no text"
        raise UsageError(f"cannot read the script {path}: {why}") from None
    read = codec(seat.does.does).read
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield read(line)
            except WrongAction as wrong:
                raise UsageError(f"{path}, line {number}: {wrong}") from None
