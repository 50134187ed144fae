"""The episodes of a Model Context Protocol server: their clients, limits and records."""

import contextlib
import itertools
import math
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from desim.adapters.seat.setup import Setup, is_same_setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.core.reported import Rows
from desim.errors import (
    BadRecord,
    DesimError,
    ModelFailed,
    PolicyFailed,
    UsageError,
    WrongAction,
    possible,
)
from desim.faults import RAISED, fault_text
from desim.records.episode import Episode

#: The caller's name as a policy, in records.
LABEL = "mcp"

#: Seconds without a call after which an episode may be closed to make room for a new one.
IDLE = 1800.0

#: An episode's id: 128 random bits. Nothing else becomes part of a file's name.
_ID = re.compile(r"[0-9a-f]{32}")

_DRAWN_SEEDS = 2**31

_T = TypeVar("_T")


class OpenEpisode:
    """An episode, whose methods are called one after the other in a thread.

    In a thread, because a policy of another role may take long while other clients play.

    Attributes:
        used: The time of the last call, in seconds of `time.monotonic`; infinite during a call.
        turn: What its client sees after the last answer, as a tool returns it.
    """

    def __init__(self, name: str, threads: anyio.CapacityLimiter) -> None:
        self.used = math.inf
        self.turn: dict[str, Any] = {"episode": name, "done": False}
        self._lock, self._threads = anyio.Lock(), threads
        self._session: SteppedSession | None = None

    async def call(self, method: Callable[..., _T], *given: Any) -> _T:
        """Return what one of the methods below returns."""
        async with self._lock:
            self.used = math.inf
            try:
                done: _T = await to_thread.run_sync(method, self, *given, limiter=self._threads)
                return done
            finally:
                self.used = time.monotonic()

    def begin(self, start: Callable[[], SteppedSession]) -> dict[str, Any]:
        """Begin the episode, without the rewards of what came before its first question."""
        self._session = start()
        self._session.rewards()
        return self._turn_of(self._session)

    def answer(self, seat: str, action: Any) -> dict[str, Any]:
        """Answer the open decision of a seat and return the next turn."""
        session = self._at_play()
        by_seat = {decision.role: decision for decision in session.open}
        if seat not in by_seat:
            raise UsageError(f"{seat!r} has no open decision; {possible(seat, by_seat)}")
        with self._closed_by_failure():
            session.answer(by_seat[seat], action)
            return self._moved(session)

    def present(self) -> dict[str, Any]:
        """Return the last turn; ask the policies of other roles again if one has failed."""
        if self.turn["done"]:
            return self.turn
        session = self._at_play()
        with self._closed_by_failure():
            return self.turn if session.open else self._moved(session)

    def tables(self, seat: str) -> Mapping[str, Rows]:
        """Return the tables that a seat may look up."""
        return self._at_play().tables(seat)

    def close(self) -> None:
        """Close the record, which can be continued if the episode has not ended."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _at_play(self) -> SteppedSession:
        if self._session is None:
            raise UsageError("the episode is over or closed; begin_episode begins a new one")
        return self._session

    def _moved(self, session: SteppedSession) -> dict[str, Any]:
        try:
            session.advance()
        except PolicyFailed as fault:
            raise PolicyFailed(
                f"{fault}; your answer was taken, present_observation asks that policy again"
            ) from fault
        return self._turn_of(session)

    @contextlib.contextmanager
    def _closed_by_failure(self) -> Iterator[None]:
        """Close an episode that cannot go on, for instance because the disk is full."""
        try:
            yield
        except (WrongAction, PolicyFailed):
            raise
        except RAISED as fault:
            self.close()
            text = str(fault) if isinstance(fault, DesimError) else fault_text(fault)
            raise ModelFailed(text) from fault

    def _turn_of(self, session: SteppedSession) -> dict[str, Any]:
        """Make the turn of a session, and close one that is over."""
        turn: dict[str, Any] = {"episode": self.turn["episode"], "done": session.done}
        if named := {one.role: [*one.possible] for one in session.open if one.possible}:
            turn["possible"] = named
        shown = {one.role: session.seen(one) for one in session.open}
        rewards = session.rewards()
        if len(rewards) > 1:
            turn |= {"observations": shown, "rewards": rewards}
        else:
            turn["reward"] = sum(rewards.values())
        if len(rewards) == 1 and shown:  # none at the end
            (turn["observation"],) = shown.values()
        if session.done:
            turn["ended"] = session.end_facts()
            self.close()
        self.turn = turn
        return turn


class Episodes:
    """The episodes of a server by their ids. A client with a session plays one at a time.

    Args:
        setup: The world and its policies.
        records: The folder that receives a record of each episode, `ID.jsonl`; None records none.
        most: Episodes that may be open at the same time.
        seeds: The seeds of the episodes, one after the other and again from the first. If empty,
            clients may give seeds, and a seed is drawn if they do not.

    Raises:
        UsageError: The folder cannot be written.
    """

    def __init__(
        self,
        setup: Setup,
        records: str | Path | None = None,
        most: int = 64,
        seeds: Sequence[int] = (),
    ) -> None:
        self.setup, self.takes_seeds, self._seeds = setup, not seeds, itertools.cycle(seeds)
        self._folder = _writable(Path(records)) if records else None
        self._most, self._threads = most, anyio.CapacityLimiter(most)
        self._known: dict[str, OpenEpisode] = {}
        self._of_client: dict[str | None, str] = {}

    @property
    def open(self) -> int:
        """The number of known episodes that have not ended."""
        return sum(not one.turn["done"] for one in self._known.values())

    def at(self, client: str | None, name: str = "") -> OpenEpisode:
        """Return an episode by its id, or the one of a client; None has no session."""
        name = name or self._of_client.get(client, "")
        if name in self._known:
            return self._known[name]
        if name:
            why = "no open episode has this id; begin_episode begins one, or resumes one by its id"
        elif client is None:
            why = "this connection has no session, so give the id that begin_episode returned"
        else:
            why = "no episode is open in this session; call begin_episode"
        raise UsageError(why)

    async def begin(self, client: str | None, seed: int | None = None) -> dict[str, Any]:
        """Begin an episode; without a seed by the server's next one, or a drawn one."""
        await self.close_unused(IDLE)
        name = secrets.token_hex(16)
        if seed is None:
            seed = secrets.randbelow(_DRAWN_SEEDS) if self.takes_seeds else next(self._seeds)
        record = self._folder / f"{name}.jsonl" if self._folder else None
        start = partial(self.setup.begin, seed, record=record, label=LABEL)
        return await self._begun(client, name, start)

    async def resume(self, client: str | None, name: str) -> dict[str, Any]:
        """Return the turn of a known episode, now the client's, or continue a cut record."""
        if name in self._known:
            self._check_free(client, name)
            self._assign(client, name)
            return await self.call(self._known[name], OpenEpisode.present)
        await self.close_unused(IDLE)
        record = self._folder / f"{name}.jsonl" if self._folder and _ID.fullmatch(name) else None
        if record is None or not record.exists():
            why = "" if self._folder else "; the server keeps no records (--records FOLDER)"
            raise UsageError(f"no episode of this id can be resumed here{why}")
        return await self._begun(client, name, partial(_continued, self.setup, record))

    async def call(self, episode: OpenEpisode, method: Callable[..., _T], *given: Any) -> _T:
        """Return what a method of an episode returns; forget an episode that cannot go on."""
        try:
            return await episode.call(method, *given)
        except ModelFailed:
            self._forget(episode)
            raise

    async def close(self, episode: OpenEpisode) -> None:
        """Close an episode; it can be resumed if records are kept."""
        self._forget(episode)
        await episode.call(OpenEpisode.close)

    async def leave(self, client: str) -> None:
        """Close the episode of a client whose session is over."""
        if client in self._of_client:
            await self.close(self._known[self._of_client[client]])

    async def close_unused(self, seconds: float = -1.0) -> None:
        """Close the episodes without a call for some seconds; by default all, after their calls."""
        for one in [*self._known.values()]:
            if seconds < 0 or one.used < time.monotonic() - seconds:
                await self.close(one)

    async def _begun(
        self, client: str | None, name: str, start: Callable[[], SteppedSession]
    ) -> dict[str, Any]:
        self._check_free(client)
        if self.open >= self._most:
            raise UsageError(
                f"{self._most:,} episodes are open, which is the most (--max-sessions); "
                "try again later"
            )
        episode = OpenEpisode(name, self._threads)
        self._known[name] = episode  # before the first await, so that the limit holds
        self._assign(client, name)
        try:
            return await episode.call(OpenEpisode.begin, start)
        except BaseException:  # also of a call that is cancelled: its client has no id
            with anyio.CancelScope(shield=True):
                await self.close(episode)
            raise

    def _check_free(self, client: str | None, name: str = "") -> None:
        its = self._of_client.get(client, name)
        if its != name and not self._known[its].turn["done"]:
            raise UsageError(
                f"episode {its} is open in this session; play it to its end, or close_episode"
            )

    def _assign(self, client: str | None, name: str) -> None:
        """Assign an episode to one client alone, and forget the one before it."""
        self._of_client = {one: its for one, its in self._of_client.items() if its != name}
        if client is not None:
            self._known.pop(self._of_client.get(client, ""), None)
            self._of_client[client] = name

    def _forget(self, episode: OpenEpisode) -> None:
        name = episode.turn["episode"]
        self._known.pop(name, None)
        self._assign(None, name)


def _continued(setup: Setup, record: Path) -> SteppedSession:
    """Make the decisions of a cut record again; errors name the episode and not its file."""
    episode = f"episode {record.stem}"
    try:
        past = Episode.read(record, whole=False)
        if (
            past.failure is None
            and past.result is None
            and is_same_setup(setup, past.header, LABEL)
        ):
            return setup.begin(past.header.seed, record=record, past=past, label=LABEL)
    except (BadRecord, UsageError) as fault:
        raise type(fault)(str(fault).replace(str(record), episode)) from None
    if past.failure is not None:
        raise BadRecord(f"{episode} failed: {past.failure.error}")
    if past.result is not None:
        raise UsageError(f"{episode} has ended, with score {past.result.score:g}; begin a new one")
    raise UsageError(f"{episode} is of another world, other seats or other policies")


def _writable(folder: Path) -> Path:
    """Make a folder and check that files can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as fault:
        raise UsageError(f"cannot write records into {folder}: {fault.strerror}") from None
