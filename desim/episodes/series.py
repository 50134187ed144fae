"""Several episodes in a row with the same policies, which may learn in between.

A series that is recorded can be continued: what its records hold is not played anew, but repeated
with the replies on record, so that every policy is in the state in which it was.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim.core.limits import Limits
from desim.core.protocols import Learner, Model, offers
from desim.episodes.branch import first_difference
from desim.episodes.episode import Episode
from desim.episodes.lineup import Lineup, Policies, resolve
from desim.episodes.part_episode import part_episode
from desim.episodes.record import Header
from desim.episodes.record_file import lines_of
from desim.episodes.record_lock import RecordLock
from desim.episodes.replay import same_result
from desim.episodes.session import Session, built
from desim.errors import BadRecord, UsageError

__all__ = ["InSeries", "play_series", "series"]

#: How every record begins, as far as a killed process has written it.
_BEGINNING = b'{"line":"header"'

#: The fields of a header that every command of one series has in common, the seed apart.
_COMPARED = ("model", "params", "seed", "policies", "starts")


@frozen
class InSeries:
    """An episode of a series.

    Attributes:
        number: Its place, from 1.
        episode: The episode.
        file: Its record; None without one.
        was_recorded: Whether it was on record already and nothing was played.
    """

    number: int
    episode: Episode
    file: Path | None
    was_recorded: bool


def play_series(
    model: Model[Any] | str,
    policies: Policies,
    seeds: Iterable[int],
    *,
    record: str | Path | None = None,
    limits: Limits | None = None,
    key: bytes | None = None,
    resume: bool = False,
) -> list[Episode]:
    """Play several episodes with the same policy instances, which may learn in between.

    After every episode `after(episode)` of each policy that has this method is called.

    Args:
        model: As in `play`.
        policies: As in `play`; specs and classes are built once, for the first seed.
        seeds: One episode each, in this order; they may repeat.
        record: A folder that receives one file an episode, `episode-001.jsonl` and so on. It is
            made where it is missing.
        limits: Of each episode.
        key: As in `play`, of each record.
        resume: Whether the series goes on that the folder holds. Episodes on record are repeated
            with the recorded replies, so that policies learn from them and no paid call is made
            twice; one that was cut is played to its end, and the rest is played.

    Raises:
        UsageError: As in `play`; or the folder holds another series, or one with a gap, or another
            process writes it.
        BadRecord: A record cannot be read, or a policy decides otherwise than on record.
    """
    each = series(model, policies, seeds, record=record, limits=limits, key=key, resume=resume)
    return [one.episode for one in each]


def series(
    model: Model[Any] | str,
    policies: Policies,
    seeds: Iterable[int],
    *,
    record: str | Path | None = None,
    limits: Limits | None = None,
    key: bytes | None = None,
    resume: bool = False,
) -> Iterator[InSeries]:
    """Yield the episodes of a series, each as soon as policies have learned from it.

    Arguments and errors are those of `play_series`.
    """
    seeds = list(seeds)
    model = built(model)
    lineup = resolve(model, policies, seeds[0]) if seeds else Lineup({}, {})
    with contextlib.ExitStack() as stack:
        folder = None
        if record is not None:
            folder = _made(Path(record))
            stack.enter_context(RecordLock(folder / "series"))
        playing = _Series(model, lineup, seeds, folder, limits, key)
        yield from playing.episodes(playing.past() if resume else [])


@frozen
class _Series:
    """A series, and the folder of its records; None where nothing is recorded."""

    model: Model[Any]
    lineup: Lineup
    seeds: Sequence[int]
    folder: Path | None
    limits: Limits | None
    key: bytes | None

    def episodes(self, past: Sequence[Episode]) -> Iterator[InSeries]:
        """Yield the episodes, each after the policies have learned from it.

        Args:
            past: Those on record, of which the last one may be cut.
        """
        # Where no episode is left to play, the records are only read: no policy is called.
        ended = len(past) == len(self.seeds) and past[-1].result is not None if past else False
        for number, seed in enumerate(self.seeds, 1):
            known = past[number - 1] if number <= len(past) else None
            file = self._file(number)
            if known is not None and known.result is not None:
                episode = known if ended else self._repeated(known, file)
            elif known is not None and file is not None:
                episode = self._continued(file)
            else:
                episode = self._played(seed, file)
            if not ended:
                self._learn(episode)
            yield InSeries(number, episode, file, bool(known and known.result))

    def past(self) -> list[Episode]:
        """Return the episodes on record, which are checked to be of this series.

        Raises:
            UsageError: One is of another series, or one behind a missing or cut one is there.
            BadRecord: One cannot be read.
        """
        found: list[Episode] = []
        open_file: Path | None = None
        for number, seed in enumerate(self.seeds, 1):
            file = self._file(number)
            known = file and self._read(file, seed)
            if known and open_file:
                raise UsageError(
                    f"{open_file} is missing or was cut, but {file} is there; a series goes on in "
                    "order, so remove the later records or choose another folder"
                )
            if known:
                found.append(known)
            if not (known and known.result):
                open_file = open_file or file
        return found

    def _read(self, file: Path, seed: int) -> Episode | None:
        """Return what a record holds; None where it was not begun."""
        if not file.exists() or _is_empty(file):
            return None
        episode = Episode.read(file, whole=False, keep_steps=False)
        self._check(file, episode.header, seed)
        if episode.result is not None and self.key is not None:
            # Only a whole record can prove that it has the key.
            episode = Episode.read(file, keep_steps=False, key=self.key)
        return episode

    def _check(self, file: Path, recorded: Header, seed: int) -> None:
        wanted = Header.of(self.model, seed, self.lineup.labels)
        before, now = ({n: getattr(h, n) for n in _COMPARED} for h in (recorded, wanted))
        # As JSON, because what was recorded has lists where a header that starts now has tuples.
        now = msgspec.json.decode(msgspec.json.encode(now))
        if before != now:
            raise UsageError(
                f"{file} is of another series: {first_difference(before, now)}; give the same "
                "arguments again or choose another folder"
            )

    def _repeated(self, known: Episode, file: Path | None) -> Episode:
        """Let the policies make the decisions of a whole record again, and play nothing."""
        try:
            with self._session(known.header.seed, None, known) as session:
                episode = session.play()
            assert known.result is not None
            assert episode.result is not None
            same_result(known.result, episode.result)
        except BadRecord as fault:
            raise BadRecord(f"{file}: {fault}") from None
        return episode

    def _continued(self, file: Path) -> Episode:
        """Play a cut record to its end."""
        with RecordLock(file):
            # Read again, now that no other process writes it.
            past = Episode.read(file, whole=False, keep_steps=False)
            if past.result is not None:
                raise UsageError(f"{file} has been ended by another process; give it again")
            try:
                with self._session(past.header.seed, file, past) as session:
                    return session.play()
            except BadRecord as fault:
                raise BadRecord(f"{file}: {fault}") from None

    def _played(self, seed: int, file: Path | None) -> Episode:
        """Play an episode from its start."""
        with contextlib.ExitStack() as stack:
            if file:
                stack.enter_context(RecordLock(file))
                if file.exists() and _is_empty(file):
                    file.unlink()
            return stack.enter_context(self._session(seed, file)).play()

    def _session(self, seed: int, file: Path | None, past: Episode | None = None) -> Session:
        return Session(self.model, self.lineup, seed, file, past, limits=self.limits, key=self.key)

    def _learn(self, episode: Episode) -> None:
        for role, policy in self.lineup.policies.items():
            if offers(policy, Learner):
                policy.after(part_episode(episode, self.model, role))

    def _file(self, number: int) -> Path | None:
        return self.folder / f"episode-{number:03d}.jsonl" if self.folder else None


def _made(folder: Path) -> Path:
    """Make a folder where it is missing.

    Raises:
        UsageError: There is a file of that name, or it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder} is a file; a series writes one record an episode into a folder"
        ) from None
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None
    return folder


def _is_empty(file: Path) -> bool:
    """Return whether a process was killed while it wrote the first line of a record."""
    first = next(lines_of(file), b"")
    begun = first.startswith(_BEGINNING) or _BEGINNING.startswith(first)
    return begun and not first.endswith(b"\n")
