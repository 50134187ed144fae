"""Notices when another program changes, replaces or removes a record that a game writes."""

from pathlib import Path

from attrs import define

from desim.errors import BadRecord

__all__ = ["RecordWatch"]


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
