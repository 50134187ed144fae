"""The episodes of a server: their clients, the limit of open ones, and their records."""

import itertools
import re
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from desim.adapters.mcp.open_episode import LABEL, EpisodeFailed, OpenEpisode, Turn
from desim.adapters.seat.seat_environment import SeatEnvironment
from desim.adapters.seat.setup import Setup, is_same_setup
from desim.adapters.seat.starts import Start
from desim.adapters.seat.stepped_session import SteppedSession
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock

#: An episode's id: 128 random bits. Nothing else becomes part of a file's name.
_ID = re.compile(r"[0-9a-f]{32}")


#: The number of seeds from which one is drawn.
_DRAWN_SEEDS = 2**31


class Episodes:
    """The episodes of a server.

    A client is named by the session of its connection. One without a session, None, names the
    episode in every call; an id is enough to play an episode, as it cannot be guessed.

    Args:
        setup: The world and its policies.
        records: The folder that receives a record of each episode, `ID.jsonl`; None records none.
        most: Episodes that may be open at the same time.
        idle_seconds: Seconds without a call after which `close_idle` closes an episode.
        seeds: The seeds of the episodes, one after the other and again from the first. If empty,
            clients may give seeds, and a seed is drawn if they do not.

    Attributes:
        most: Episodes that may be open at the same time.

    Raises:
        UsageError: The folder cannot be written.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        records: str | Path | None = None,
        most: int = 64,
        idle_seconds: float = 1800.0,
        seeds: Sequence[int] = (),
    ) -> None:
        self.setup = setup
        self._seeds = itertools.cycle(seeds) if seeds else None
        self._folder = _writable(Path(records)) if records else None
        self.most, self._idle = most, idle_seconds
        self._threads = anyio.CapacityLimiter(most)
        self._open: dict[str, OpenEpisode] = {}
        self._over: dict[str, OpenEpisode] = {}  # kept, for a client that lost the last reply
        self._of_client: dict[str, str] = {}

    @property
    def takes_seeds(self) -> bool:
        """Whether clients may give seeds."""
        return self._seeds is None

    @property
    def open(self) -> int:
        """The number of open episodes."""
        return len(self._open)

    def at(self, client: str | None, name: str = "") -> OpenEpisode:
        """Return an episode by its id, or the one of a client."""
        if not name:
            name = self._of_client.get(client, "") if client is not None else ""
            if not name:
                raise UsageError(_none_begun(client))
        found = self._open.get(name) or self._over.get(name)
        if found is None:
            raise UsageError(
                "no open episode has this id; begin_episode begins one, or resumes one by its id"
            )
        return found

    async def begin(
        self, client: str | None, given: int | None = None, start: Start | None = None
    ) -> OpenEpisode:
        """Begin an episode.

        Args:
            client: The session of the connection.
            given: The seed; None draws one, or plays on in the world of the record.
            start: The decision on record from which it begins.

        Raises:
            UsageError: The client already plays an episode, too many are open, the seed is wrong,
                or the server chooses the seeds.
            DesimError: The world or the policy of another role failed.
        """
        self._check_room(client)
        seed = None if start is not None and given is None else self._seed(given)
        name = secrets.token_hex(16)
        record = self._record(name)
        lock = RecordLock(record) if record else None
        return await self._begun(
            client, name, lambda world: world.begin(seed, record, locked=True, start=start), lock
        )

    async def resume(self, client: str | None, name: str) -> OpenEpisode:
        """Return an open episode, now assigned to the client, or continue a cut record.

        Raises:
            UsageError: The id has no episode, the episode is another server's or of another world,
                the client plays another one, or too many are open.
            BadRecord: Its record cannot be continued.
        """
        if name in self._open or name in self._over:
            self._check_free(client, name)
            self._assign(client, name)
            return self.at(None, name)
        self._check_room(client)
        record = self._record(name) if _ID.fullmatch(name) else None
        if record is None or not record.exists():
            raise UsageError(f"no episode of this id can be resumed here{self._why_none()}")
        start = partial(self._continued, record, name)
        return await self._begun(client, name, start, _locked(record, name))

    async def answer(self, episode: OpenEpisode, seat: str, action: Any) -> Turn:
        """Answer a decision of an episode; see `OpenEpisode.answer`."""
        return await self._kept(episode, episode.answer(seat, action))

    async def present(self, episode: OpenEpisode) -> Turn:
        """Return the last turn of an episode; see `OpenEpisode.present`."""
        return await self._kept(episode, episode.present())

    async def close(self, episode: OpenEpisode) -> None:
        """Close an episode; it can be resumed if records are kept."""
        self._forget(episode.name)
        await episode.close()

    async def leave(self, client: str) -> None:
        """Close the open episode of a client whose session is over."""
        name = self._of_client.pop(client, "")
        if name in self._open:
            await self.close(self._open[name])

    async def close_idle(self) -> None:
        """Close the episodes that no client has used for long."""
        latest = time.monotonic() - self._idle
        for episode in [one for one in self._open.values() if one.used < latest and not one.busy]:
            await self.close(episode)
        for episode in [one for one in self._over.values() if one.used < latest]:
            self._forget(episode.name)

    async def close_all(self) -> None:
        """Close every episode."""
        for episode in list(self._open.values()):
            await self.close(episode)

    async def _kept(self, episode: OpenEpisode, playing: Awaitable[Turn]) -> Turn:
        """Await a turn, and update the tables of episodes if its episode ends or fails."""
        try:
            turn = await playing
        except EpisodeFailed:
            await self.close(episode)
            raise
        if turn.ended is not None and self._open.pop(episode.name, None) is not None:
            self._keep_over(episode)
        return turn

    async def _begun(
        self,
        client: str | None,
        name: str,
        start: Callable[[SeatEnvironment], SteppedSession],
        lock: RecordLock | None,
    ) -> OpenEpisode:
        episode = OpenEpisode(self.setup, name, self._threads)
        self._open[name] = episode  # before the first await, so that the limit holds
        self._assign(client, name)
        try:
            await self._kept(episode, episode.begin(start, lock))
        except BaseException:  # also of a call that is cancelled: its client has no id
            with anyio.CancelScope(shield=True):
                await self.close(episode)
            raise
        return episode

    def _keep_over(self, episode: OpenEpisode) -> None:
        self._over[episode.name] = episode
        while len(self._over) > self.most:
            self._forget(next(iter(self._over)))

    def _assign(self, client: str | None, name: str) -> None:
        """Assign an episode to one client only."""
        for other in [one for one, its in self._of_client.items() if its == name]:
            del self._of_client[other]
        if client is not None:
            self._of_client[client] = name

    def _forget(self, name: str) -> None:
        self._open.pop(name, None)
        self._over.pop(name, None)
        self._assign(None, name)

    def _seed(self, given: int | None) -> int:
        if self._seeds is None:
            return secrets.randbelow(_DRAWN_SEEDS) if given is None else given
        if given is not None:
            raise UsageError("the server chooses the seeds of its episodes (--seeds); give none")
        return next(self._seeds)

    def _check_free(self, client: str | None, name: str = "") -> None:
        """Check that a client plays no other episode."""
        its = self._of_client.get(client, "") if client is not None else ""
        if its in self._open and its != name:
            raise UsageError(
                f"episode {its} is open in this session; play it to its end, or close_episode"
            )

    def _check_room(self, client: str | None) -> None:
        self._check_free(client)
        if len(self._open) >= self.most:
            raise UsageError(
                f"{self.most:,} episodes are open, which is the most (--max-sessions); "
                "try again later"
            )

    def _record(self, name: str) -> Path | None:
        return self._folder / f"{name}.jsonl" if self._folder else None

    def _why_none(self) -> str:
        return "" if self._folder else "; the server keeps no records (--records FOLDER)"

    def _continued(self, record: Path, name: str, world: SeatEnvironment) -> SteppedSession:
        """Make the decisions of a cut record again."""
        try:
            past = self._past(record, name)
            return world.begin(past.header.seed, record, past, locked=True)
        except BadRecord as fault:
            raise BadRecord(str(fault).replace(str(record), f"episode {name}")) from None

    def _past(self, record: Path, name: str) -> Episode:
        past = Episode.read(record, whole=False)
        if past.failure is not None:
            raise BadRecord(f"episode {name} failed: {past.failure.error}")
        if past.result is not None:
            raise UsageError(
                f"episode {name} has ended, with score {past.result.score:g}; begin a new one"
            )
        if not is_same_setup(self.setup, past.header, LABEL):
            raise UsageError(f"episode {name} is of another world, other seats or other policies")
        return past


def _none_begun(client: str | None) -> str:
    if client is None:
        return "this connection has no session, so give the id that begin_episode returned"
    return "no episode is open in this session; call begin_episode"


def _writable(folder: Path) -> Path:
    """Make a folder and check that files can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as fault:
        raise UsageError(f"cannot write records into {folder}: {fault.strerror}") from None


def _locked(record: Path, name: str) -> RecordLock:
    try:
        return RecordLock(record)
    except UsageError:  # whose text names the file
        raise UsageError(f"episode {name} is being played by another server") from None
