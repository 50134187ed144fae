"""Actions written by hand: a file with one tagged object a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from attrs import define

from desim import Seat
from desim.errors import UsageError, WrongAction
from desim.schema import codec
from desim.show.files import read_text
from policies.fixed_actions import FixedActions

__all__ = ["Script"]


@define
class Script(FixedActions):
    """Answer with the lines of a file, in order.

    A line is a tagged object such as `{"do": "order", "quantity": 12}`; empty lines and lines that
    start with `#` are skipped.
    """

    reaches = ("file",)

    @classmethod
    def seated(cls, seat: Seat, file: str) -> Self:
        """Read the whole file: an error in its last line is found before the first decision.

        Raises:
            UsageError: The file cannot be read, or a line is not an action of the role.
        """
        return cls(f"the script {file}", iter(list(_actions(Path(file), seat))))


def _actions(path: Path, seat: Seat) -> Iterator[Any]:
    read = codec(seat.spec.action).read
    for number, line in enumerate(_lines(path), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield read(line)
            except WrongAction as wrong:
                raise UsageError(f"{path}, line {number}: {wrong}") from None


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).splitlines()
    except OSError as fault:
        raise UsageError(f"cannot read the script {path}: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"cannot read the script {path}: it is not UTF-8 text") from None
