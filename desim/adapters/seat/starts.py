"""A decision on record from which episodes begin."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from attrs import frozen

from desim.catalog.policy_spec import label as label_of
from desim.core.model import Model
from desim.engine.parameters import from_numpy
from desim.episodes.lineup import knows_by_role
from desim.episodes.replay import first_difference, with_futures
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.writer import Recorder
from desim.short_repr import short_repr


@frozen
class Start:
    """A decision of a record from which an episode begins.

    Attributes:
        record: The record: whole, cut, or of a run that failed. It is not changed.
        at: The decision with which the episode begins, from 1; those before it are repeated.
    """

    record: Path
    at: int

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the start that `{"record": PATH, "at": N}` names.

        Raises:
            UsageError: It has another form, `record` is not the path of a file, or `at` not a whole
                number of at least 1.
        """
        if not isinstance(given, Mapping) or given.keys() != {"record", "at"}:
            raise UsageError(
                f"starts {short_repr(given)} was given; it is {{'record': PATH, 'at': N}}"
            )
        record, at = given["record"], from_numpy(given["at"])
        if type(at) is not int or at < 1:
            raise UsageError(f"at {short_repr(at)} was given; it is a whole number of at least 1")
        if not isinstance(record, str | Path):
            raise UsageError(f"record {short_repr(record)} was given; it is the path of a record")
        return cls(Path(record), at)

    @property
    def repeated(self) -> int:
        """The number of decisions of the record, of all roles, that are repeated."""
        return self.at - 1

    def past(
        self,
        model: Model[Any],
        seats: Mapping[str, str],
        others: Mapping[str, Any],
        future: int | None,
    ) -> Episode:
        """Return the repeated decisions as a cut record of the caller's line-up.

        Another role whose policy has the same label on record decides again, with what it
        remembers; every other policy begins after the repeated decisions.

        Args:
            model: The world, which the record must have.
            seats: The caller's name by role.
            others: The policies of the other roles.
            future: See `Setup.begin`, "seed".
        """
        recorded = Episode.read(self.record, whole=False, decisions=self.repeated)
        if len(recorded.steps) < self.repeated or recorded.result is not None:
            count, is_whole = len(recorded.steps), recorded.result is not None
            raise UsageError(
                f"at {self.at} was given; {self.record} has {count} decisions, so at most "
                f"{count + 1 - is_whole} is possible"
            )
        labels = {**seats, **{role: label_of(one) for role, one in others.items()}}
        head = with_futures(recorded.header, self.repeated, future)
        self._check_world(head, model, labels)
        begun = {role: self._begun(head, role, label) for role, label in labels.items()}
        begun |= dict.fromkeys(seats, self.repeated)
        starts = {role: at for role, at in begun.items() if at}
        knows = knows_by_role(model, others)
        header = Header.of(model, head.seed, labels, starts, head.futures, knows)
        return Episode(header, recorded.steps, None)

    def _begun(self, head: Header, role: str, label: str) -> int:
        """Return after how many decisions a policy begins."""
        again = head.policies[role] == label
        return min(head.starts.get(role, 0), self.repeated) if again else self.repeated

    def _check_world(self, recorded: Header, model: Model[Any], roles: Iterable[str]) -> None:
        own = Header.of(model, recorded.seed, dict.fromkeys(roles, ""))
        there, here = (
            {"model": each.model, "params": each.params, "roles": sorted(each.policies)}
            for each in (recorded, own)
        )
        if there != here:
            differs = first_difference(there, here, "setup")
            raise UsageError(f"{self.record} is of another setup (recorded, given): {differs}")


def write_past(past: Episode, record: str | Path) -> None:
    """Write repeated decisions to a new record, which the episode continues.

    Raises:
        UsageError: The file exists or cannot be made.
    """
    with Recorder(record) as recorder:
        recorder.write(past.header)
        for step in past.steps:
            recorder.write(step.line)
