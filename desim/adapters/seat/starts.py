"""Decisions on record from which episodes begin: a named one, or one of several by a seed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from attrs import frozen

from desim.catalog.policy_spec import label as label_of
from desim.core.model import Model
from desim.core.streams import generator
from desim.engine.parameters import from_numpy
from desim.episodes.lineup import knows_by_role
from desim.episodes.replay import first_difference, with_futures
from desim.errors import BadRecord, UsageError, possible
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.writer import Recorder
from desim.short_repr import short_repr, shortened

#: Records, and decisions of the caller in them, among which the start of an episode is drawn.
_MOST_RECORDS, _MOST_DECISIONS = 10_000, 1_000_000


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
    def of(cls, record: Any, at: Any) -> Self:
        """Return a start whose numbers and texts come from outside.

        Raises:
            UsageError: *record* is not the path of a file, or *at* not a whole number of at least
                1.
        """
        at = from_numpy(at)
        if type(at) is not int or at < 1:
            raise UsageError(f"at {short_repr(at)} was given; it is a whole number of at least 1")
        if not isinstance(record, str | Path) or not str(record) or "\0" in str(record):
            raise UsageError(
                f"record {short_repr(record)} was given with at={short_repr(at)}; it is the path "
                "of a record"
            )
        return cls(Path(record), at)

    @property
    def repeated(self) -> int:
        """The number of decisions of the record, of all roles, that are repeated."""
        return self.at - 1

    @classmethod
    def within(cls, options: Mapping[str, Any]) -> Self | None:
        """Return the start that the options `record` and `at` name; None without `at`."""
        if options.get("at") is None:
            return None
        return cls.of(options.get("record"), options["at"])

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
            future: The seed with which everything is drawn that no role can have observed when the
                next decision is open; None plays on in the world of the record.

        Raises:
            BadRecord: The record cannot be read.
            UsageError: It has fewer decisions, or is of another world or of other roles.
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
        check_world(self.record, head, model, labels)
        begun = {role: self._begun(head, role, label) for role, label in labels.items()}
        begun |= dict.fromkeys(seats, self.repeated)
        starts = {role: at for role, at in begun.items() if at}
        knows = knows_by_role(model, others)
        header = Header.of(model, head.seed, labels, starts, head.futures, knows)
        return Episode(header, recorded.steps, None)

    def refused(self, fault: BadRecord, model: Model[Any]) -> BadRecord:
        """Return the error of a record that does not replay, with what has changed since."""
        header = Episode.read(self.record, whole=False, keep_steps=False, decisions=0).header
        return BadRecord(f"{self.record}: {fault}{header.changes(model)}")

    def _begun(self, head: Header, role: str, label: str) -> int:
        """Return after how many decisions a policy begins."""
        again = head.policies[role] == label
        return min(head.starts.get(role, 0), self.repeated) if again else self.repeated


def check_world(record: Path, recorded: Header, model: Model[Any], roles: Iterable[str]) -> None:
    """Check that a record is of a world, and of the roles that are played.

    Raises:
        UsageError: The model, a parameter, or the roles differ.
    """
    mine = Header.of(model, recorded.seed, {})
    if recorded.model != mine.model:
        other = shortened(recorded.model)
        raise UsageError(f"{record} is a record of {other}, and not of {mine.model}")
    if recorded.params != mine.params:
        differs = first_difference(recorded.params, mine.params, "params")
        raise UsageError(f"{record} is of other parameters (recorded, given): {differs}")
    if set(recorded.policies) != set(roles):
        played, given = ", ".join(sorted(recorded.policies)), ", ".join(sorted(roles))
        raise UsageError(f"in {record} policies play {shortened(played)}; here they play {given}")


def started_at(past: Episode) -> int:
    """Return how many decisions of a cut record were repeated from another one."""
    return max(past.header.starts.values(), default=0)


def write_past(past: Episode, record: str | Path) -> None:
    """Write repeated decisions to a new record, which the episode continues.

    Raises:
        UsageError: The file exists or cannot be made.
    """
    with Recorder(record) as recorder:
        recorder.write(past.header)
        for step in past.steps:
            recorder.write(step.line)


@frozen
class Starts:
    """Decisions of the caller on record; each episode begins at one that its seed draws.

    Attributes:
        choices: The records, each with the numbers of the decisions that may be drawn.
    """

    choices: tuple[tuple[Path, Sequence[int]], ...]

    @classmethod
    def read(
        cls, given: Any, model: Model[Any], roles: Iterable[str], seats: Sequence[str]
    ) -> Self:
        """Read the records of a curriculum.

        Args:
            given: A record, a folder of records (`*.jsonl`, `*.jsonl.gz`), one decision as
                `{"record": path, "at": n}`, or a list of these.
            model: The world, which all records must have.
            roles: The roles that are played.
            seats: The caller's roles, whose decisions are drawn.

        Raises:
            BadRecord: A record cannot be read.
            UsageError: A record is of another world, has no decision of the caller, or there are
                too many or none.
        """
        listed = given if isinstance(given, list | tuple) else [given]
        starts = [one for each in listed for one in _listed(each)]
        if not starts or len(starts) > _MOST_RECORDS:
            raise UsageError(
                f"{len(starts):,} records to begin from were given; 1 to {_MOST_RECORDS:,} are "
                "possible"
            )
        roles, left, choices = list(roles), _MOST_DECISIONS, []
        for record, at in starts:
            numbers = _decisions(record, at, model, roles, seats)
            left -= len(numbers)
            if left < 0:
                raise UsageError(
                    f"the records to begin from have more than {_MOST_DECISIONS:,} decisions of "
                    f"{' and '.join(seats)}; give fewer"
                )
            choices.append((record, numbers))
        return cls(tuple(choices))

    def drawn(self, seed: int) -> Start:
        """Return the start of an episode: a record, and then one of its decisions."""
        draws = generator(seed, "start")
        record, numbers = self.choices[int(draws.integers(len(self.choices)))]
        return Start(record, numbers[int(draws.integers(len(numbers)))])

    def named(self, name: Any, at: Any) -> Start:
        """Return a start by the name of a record's file, for clients that may name no path.

        Raises:
            UsageError: No record has this name, or *at* is not a whole number of at least 1.
        """
        by_name = {record.name: record for record, _ in self.choices}
        if not isinstance(name, str) or name not in by_name:
            hint = possible(str(name), by_name)
            raise UsageError(f"record {short_repr(name)} was given; {hint}")
        return Start.of(by_name[name], at)


def _listed(given: Any) -> Iterator[tuple[Path, int | None]]:
    """Yield the records of one entry of a curriculum, each with its decision or None."""
    if isinstance(given, Mapping):
        start = Start.of(given.get("record"), given.get("at"))
        yield start.record, start.at
        return
    path = Start.of(given, 1).record
    if not path.is_dir():
        yield path, None
        return
    for each in sorted(path.iterdir()):
        if each.name.endswith((".jsonl", ".jsonl.gz")):
            yield each, None


def _decisions(
    record: Path, at: int | None, model: Model[Any], roles: list[str], seats: Sequence[str]
) -> Sequence[int]:
    """Return the numbers of the caller's decisions in a record, or the one that is given."""
    episode = Episode.read(record, whole=False, keep_steps=False)
    check_world(record, episode.header, model, roles)
    count = len(episode.steps)
    if at is not None:
        if at > count:
            raise UsageError(f"at {at} was given; {record} has {count} decisions, from 1")
        return (at,)
    found = tuple(n for n, step in enumerate(episode.steps, 1) if step.role in seats)
    if not found:
        raise UsageError(f"{record} has no decision of {' or '.join(map(repr, seats))}")
    return found
