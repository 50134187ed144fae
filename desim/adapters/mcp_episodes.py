"""The episodes of a Model Context Protocol server, their records, and the tools that play them.

The actions of the seat are tools of the same names, and so is the one that looks up its tables;
further tools begin, resume and close an episode. Every call names its episode by the id that
`begin_episode` returned, so that a client may play several, and needs no session of the protocol.
An id is enough to play an episode, as it cannot be guessed.
"""

import itertools
import json
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from desim.adapters.seat.setup import Setup, is_same_setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.adapters.seat.tool_session import (
    Tool,
    ToolSession,
    object_schema,
    only_seat,
    tools_of,
)
from desim.core.model import rules_of
from desim.core.run import Run
from desim.errors import (
    BadRecord,
    DesimError,
    ModelFailed,
    UsageError,
    WrongAction,
    possible,
)
from desim.faults import RAISED, fault_text
from desim.records.episode import Episode
from desim.short_repr import short_repr

#: The caller's name as a policy, in records.
LABEL = "mcp"

#: The tools that are not actions, and the argument of all others.
BEGIN, RESUME, CLOSE, EPISODE = "begin_episode", "resume_episode", "close_episode", "episode"

#: Seconds without a call after which an episode may be closed to make room for a new one.
IDLE = 1800.0

#: An episode's id: 128 random bits. Nothing else becomes part of a file's name.
_ID = re.compile(r"[0-9a-f]{32}")

_DRAWN_SEEDS = 2**31

_HOW = (
    f"You play {{seat}}. {BEGIN} begins an episode and returns its id and the first observation. "
    "Answer every observation by one tool that is named for an action; it returns the next "
    "observation and the reward. The episode is over when `done` is true. A call that is refused "
    "changes nothing. `possible` names the actions that may be answered now, where not all may. "
    f"After a lost connection {RESUME} goes on with the episode."
)

_TEXTS = {
    BEGIN: "Begin an episode, and return its first open observation.",
    RESUME: "Return the observation that waits for an answer again, also after a restart.",
    CLOSE: "Leave an episode before its end. It can be resumed if records are kept.",
}
_SEED = {
    "type": "integer",
    "minimum": 0,
    "description": "Two episodes of one seed differ by their actions alone; drawn where left out.",
}
_EPISODE = {EPISODE: {"type": "string", "description": f"The id that {BEGIN} returned."}}

_T = TypeVar("_T")


class OpenEpisode:
    """An episode, whose methods are called one after the other in a thread.

    In a thread, because a policy of another role may take long while other clients play.

    Attributes:
        turn: What its client sees after the last answer, as a tool returns it.
        used: The time of the last call, in seconds of `time.monotonic`.
        lock: Is held during a call.
    """

    def __init__(self, name: str) -> None:
        self.turn: dict[str, Any] = {EPISODE: name, "done": False}
        self.used, self.lock = time.monotonic(), anyio.Lock()
        self._play: ToolSession | None = None

    def begin(self, setup: Setup, start: Callable[[], SteppedSession]) -> dict[str, Any]:
        """Begin the episode; rewards from before its first question do not count."""
        self._play = ToolSession(setup, start())
        self._play.session.rewards()
        return self._moved()

    def call(self, tool: str, arguments: Any) -> dict[str, Any]:
        """Answer the open decision and return the next turn, or look up a table.

        Raises:
            WrongAction: The call does not fit; nothing has changed.
            ModelFailed: The episode cannot go on and is closed, as the model or the policy of
                another role has failed.
        """
        play = self._at_play()
        answered = len(play.answers)
        try:
            shown = play.call(tool, arguments)
            if len(play.answers) > answered:
                return self._moved()
        except WrongAction:
            raise
        except RAISED as fault:  # for instance because the disk is full
            self.close()
            text = str(fault) if isinstance(fault, DesimError) else fault_text(fault)
            raise ModelFailed(text) from fault
        table: dict[str, Any] = json.loads(shown)
        return table

    def present(self) -> dict[str, Any]:
        """Return the last turn."""
        return self.turn

    def close(self) -> None:
        """Close the record, which can be continued if the episode has not ended."""
        play, self._play = self._play, None
        if play is not None:
            play.session.close()

    def _at_play(self) -> ToolSession:
        if self._play is None:
            raise UsageError(f"the episode is over or closed; {BEGIN} begins a new one")
        return self._play

    def _moved(self) -> dict[str, Any]:
        """Make the turn of the present decision, and close an episode that is over."""
        session = self._at_play().session
        (reward,) = session.rewards().values()
        turn = {EPISODE: self.turn[EPISODE], "done": session.done, "reward": reward}
        if session.done:
            turn["ended"] = session.end_facts()
            self.close()
        else:
            turn["observation"] = session.seen(session.open[0])
            if named := session.open[0].possible:
                turn["possible"] = [*named]
        self.turn = turn
        return turn


class Episodes:
    """The episodes of a server by their ids, and the tools that play them.

    Args:
        setup: The world and its policies, with one seat.
        records: The folder that receives a record of each episode, `ID.jsonl`; None records none.
        most: Episodes that may be open at the same time.
        seeds: The seeds of the episodes, one after the other and again from the first. If empty,
            clients may give seeds, and a seed is drawn if they do not.

    Attributes:
        tools: All tools by name, as clients read them.
        instructions: How to play, and the rules of the seat.

    Raises:
        UsageError: The folder cannot be written, the setup has several seats, or an action or a
            field of one has a name that the server needs.
    """

    def __init__(
        self,
        setup: Setup,
        records: str | Path | None = None,
        most: int = 64,
        seeds: Sequence[int] = (),
    ) -> None:
        self.setup, self._takes_seeds, self._seeds = setup, not seeds, itertools.cycle(seeds)
        self._folder = _writable(Path(records)) if records else None
        self._most, self._threads = most, anyio.CapacityLimiter(most)
        self._known: dict[str, OpenEpisode] = {}
        self.tools = _tools(setup, {"seed": _SEED} if self._takes_seeds else {})
        how = _HOW.format(seat=only_seat(setup))
        self.instructions = f"{how}\n\n{rules_of(setup.model, only_seat(setup))}"

    @property
    def open(self) -> int:
        """The number of known episodes that have not ended."""
        return sum(not one.turn["done"] for one in self._known.values())

    async def call(self, tool: str, arguments: Any = None) -> dict[str, Any]:
        """Return the result of a call.

        Raises:
            DesimError: The call is refused or has failed; the text says why.
        """
        given = dict(arguments or {})
        if tool not in self.tools:
            raise UsageError(f"there is no tool {short_repr(tool)}; {possible(tool, self.tools)}")
        if tool in _TEXTS:
            for name in given.keys() - self.tools[tool].fields.keys():
                hint = possible(name, self.tools[tool].fields)
                raise UsageError(f"argument {short_repr(name)} was given; {hint}")
        if tool == BEGIN:
            return await self._begin(given.get("seed"))
        name = given.pop(EPISODE, None)
        if tool == RESUME:
            return await self._resume(name)
        episode = self._at(name)
        if tool == CLOSE:
            await self._close(episode)
            return {key: episode.turn[key] for key in (EPISODE, "done")}
        return await self._in_thread(episode, partial(episode.call, tool, given))

    async def close_unused(self, seconds: float = -1.0) -> None:
        """Close the episodes without a call for some seconds; by default all, after their calls."""
        for one in [*self._known.values()]:
            idle = not one.lock.locked() and one.used < time.monotonic() - seconds
            if idle or seconds < 0:
                await self._close(one)

    def _at(self, name: Any) -> OpenEpisode:
        if name is None:
            raise UsageError(f"give the {EPISODE}, the id that {BEGIN} returned")
        if not isinstance(name, str) or name not in self._known:
            raise UsageError(
                f"no open episode has this id; {BEGIN} begins one, {RESUME} goes on with one"
            )
        return self._known[name]

    async def _begin(self, seed: Any) -> dict[str, Any]:
        """Begin an episode; without a seed by the server's next one, or a drawn one."""
        name = secrets.token_hex(16)
        if seed is None:
            seed = secrets.randbelow(_DRAWN_SEEDS) if self._takes_seeds else next(self._seeds)
        record = self._folder / f"{name}.jsonl" if self._folder else None
        return await self._begun(name, partial(self.setup.begin, seed, record=record, label=LABEL))

    async def _resume(self, name: Any) -> dict[str, Any]:
        """Return the turn of a known episode, or continue a cut record."""
        if isinstance(name, str) and name in self._known:
            episode = self._known[name]
            return await self._in_thread(episode, episode.present)
        is_id = isinstance(name, str) and _ID.fullmatch(name)
        record = self._folder / f"{name}.jsonl" if self._folder and is_id else None
        if record is None or not record.exists():
            why = "" if self._folder else "; the server keeps no records (--records FOLDER)"
            raise UsageError(f"no episode of this id can be resumed here{why}")
        return await self._begun(name, partial(_continued, self.setup, record))

    async def _begun(self, name: str, start: Callable[[], SteppedSession]) -> dict[str, Any]:
        await self.close_unused(IDLE)
        if self.open >= self._most:
            raise UsageError(
                f"{self._most:,} episodes are open, which is the most (--max-sessions); "
                "try again later"
            )
        episode = self._known[name] = OpenEpisode(name)  # before an await, so that the limit holds
        try:
            return await self._in_thread(episode, partial(episode.begin, self.setup, start))
        except BaseException:  # also of a call that is cancelled: its client has no id
            with anyio.CancelScope(shield=True):
                await self._close(episode)
            raise

    async def _in_thread(self, episode: OpenEpisode, method: Callable[[], _T]) -> _T:
        """Return what a method of an episode returns; forget an episode that cannot go on."""
        async with episode.lock:
            try:
                return await to_thread.run_sync(method, limiter=self._threads)
            except ModelFailed:
                self._known.pop(episode.turn[EPISODE], None)
                raise
            finally:
                episode.used = time.monotonic()

    async def _close(self, episode: OpenEpisode) -> None:
        self._known.pop(episode.turn[EPISODE], None)
        await self._in_thread(episode, episode.close)


def _tools(setup: Setup, begun: dict[str, Any]) -> dict[str, Tool]:
    """Return the tools of a seat, each with the episode, and those of the server."""
    run = Run(setup.model, 0, frozenset([*setup.seats, *setup.others]))
    found: dict[str, Tool] = {}
    for name, tool in tools_of(setup, run).items():
        if name in _TEXTS or EPISODE in tool.fields:
            raise UsageError(
                f"action {name!r} cannot be served: {', '.join(_TEXTS)} are tools of the server, "
                f"and {EPISODE!r} is an argument of each tool"
            )
        required = [*tool.parameters.get("required", ()), EPISODE]
        parameters = {"properties": {**tool.fields, **_EPISODE}, "required": required}
        found[name] = Tool(name, tool.description, {**tool.parameters, **parameters})
    for name, text in _TEXTS.items():
        takes = object_schema(begun) if name == BEGIN else object_schema(_EPISODE, [EPISODE])
        found[name] = Tool(name, text, takes)
    return found


def _continued(setup: Setup, record: Path) -> SteppedSession:
    """Make the decisions of a cut record again; errors name the episode and not its file."""
    episode = f"episode {record.stem}"
    try:
        past = Episode.read(record, whole=False)
        _check_past(setup, past, episode)
        return setup.begin(past.header.seed, record=record, past=past, label=LABEL)
    except (BadRecord, UsageError) as fault:
        raise type(fault)(str(fault).replace(str(record), episode)) from None


def _check_past(setup: Setup, past: Episode, episode: str) -> None:
    if past.failure is not None:
        raise BadRecord(f"{episode} failed: {past.failure.error}")
    if past.result is not None:
        raise UsageError(f"{episode} has ended, with score {past.result.score:g}")
    if not is_same_setup(setup, past.header, LABEL):
        raise UsageError(f"{episode} is of another world, other seats or other policies")


def _writable(folder: Path) -> Path:
    """Make a folder and check that files can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as fault:
        raise UsageError(f"cannot write records into {folder}: {fault.strerror}") from None
