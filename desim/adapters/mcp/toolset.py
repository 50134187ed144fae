"""The tools of a server as plain values: their descriptions, and the results of calls."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import evolve

from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.open_episode import OpenEpisode, Turn
from desim.adapters.seat.setup import Setup, named_start
from desim.adapters.seat.stepped_session import as_json
from desim.adapters.seat.tools import (
    Tool,
    checked_arguments,
    object_schema,
    tagged_call,
    tools_of_seats,
)
from desim.core.reported import Rows
from desim.errors import DesimError, UsageError, possible
from desim.schema import to_plain
from desim.short_repr import short_repr

#: Rows of a table in one reply, at most.
MOST_ROWS = 200

_SEED = {
    "type": "integer",
    "minimum": 0,
    "description": "Two episodes of one seed differ by their actions alone; drawn where left out.",
}

_RECORD = {
    "type": "string",
    "description": "The name of a record of the server's, in which the episode begins; with `at`. "
    "Left out: drawn.",
}
_AT = {
    "type": "integer",
    "minimum": 1,
    "description": "The decision to begin with, counted from 1; those before it are repeated.",
}

#: The descriptions of the tools that are not actions.
_BEGIN = (
    "Begin an episode, or resume one by its id, and return its first open observation. One session "
    "plays one episode at a time."
)
_PRESENT = "Return the observation that waits for an answer, and the last reward, again."
_POSSIBLE = "By seat the actions that may be answered now; without seats that may give every one."
_CLOSE = "Leave an episode before its end. It can be resumed."
_LOOK_UP = f"Return up to {MOST_ROWS} rows of a table of what you know."

_PAGE = {
    "table": {"type": "string", "description": "Without one: the names of the tables."},
    "first_row": {"type": "integer", "minimum": 0, "default": 0},
}

#: Characters that not every client accepts in a tool's name, and the most that it may have.
_REFUSED, _LONGEST = re.compile(r"[^A-Za-z0-9_-]"), 64


def table_page(tables: Mapping[str, Rows], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of a table that a client asks for, or how many rows each table has.

    Args:
        tables: The tables of its seat by name.
        given: The arguments of its call: "table", and "first_row", which is 0 by default.

    Raises:
        UsageError: None of its tables has the given name.
    """
    if "table" not in given:
        return {"tables": {name: len(rows) for name, rows in tables.items()}}
    name, first = given["table"], given.get("first_row", 0)
    if name not in tables:
        raise UsageError(f"there is no table {short_repr(name)}; {possible(name, tables)}")
    rows = tables[name]
    shown = [to_plain(dict(row)) for row in rows[first : first + MOST_ROWS]]
    return {"table": name, "rows": shown, "first_row": first, "all_rows": len(rows)}


class ToolSet:
    """The tools of a server.

    Actions come first, under their tags. The names of the further tools, and of the arguments
    `episode` and `seat`, get an underscore if an action or one of its fields has that name. With
    several seats a tool takes the `seat` that it is called for: one client plays them all.

    Attributes:
        actions: The tools of actions, by name, with the seats that have them.
    """

    def __init__(self, episodes: Episodes) -> None:
        self._episodes, self._setup = episodes, episodes.setup
        self._several = len(self._setup.seats) > 1
        self.actions = _named_actions(self._setup)
        fields = {key for tool, _ in self.actions.values() for key in tool.fields}
        self._episode, self._seat = free_name("episode", fields), free_name("seat", fields)
        self.begin, self.present, self.look_up, self.close = (
            free_name(name, self.actions)
            for name in ("begin_episode", "present_observation", "look_up", "close_episode")
        )
        self._calls = {
            self.begin: self._begin,
            self.present: self._present,
            self.close: self._close,
        }
        if self._setup.model.tables:
            self._calls[self.look_up] = self._look_up
        # The arguments of a call that are not an action's fields, by tool.
        self._own = {name: self._taking(seats) for name, (_, seats) in self.actions.items()}
        self._further = {tool.name: tool for tool in self._further_tools()}
        self._listed = {tool["name"]: tool for tool in self._described()}

    @property
    def takes_seeds(self) -> bool:
        """Whether clients may give seeds."""
        return self._episodes.takes_seeds

    def listed(self) -> list[dict[str, Any]]:
        """Return every tool with its description and the JSON Schemas of its input and output."""
        return list(self._listed.values())

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the JSON Schema of a tool's arguments; None for an unknown tool."""
        return self._listed[name]["inputSchema"] if name in self._listed else None

    async def call(self, client: str | None, name: str, arguments: Any) -> dict[str, Any]:
        """Return the result of a call; an error gives a result with its sentence."""
        try:
            if name in self.actions:
                facts = await self._act(client, name, arguments)
            elif name in self._calls:
                given = checked_arguments(self._further[name], arguments)
                facts = await self._calls[name](client, given)
            else:
                names = [*self.actions, *self._calls]
                raise UsageError(f"there is no tool {short_repr(name)}; {possible(name, names)}")
        except DesimError as fault:
            return {"content": [_text_content(str(fault))], "isError": True}
        return {"content": [_text_content(as_json(facts))], "structuredContent": facts}

    # -- calls -------------------------------------------------------------------------------------

    async def _act(self, client: str | None, name: str, arguments: Any) -> dict[str, Any]:
        tool, _ = self.actions[name]
        action = tagged_call({tool.name: tool}, tool.name, arguments or {})
        own = {key: action.pop(key) for key in self._own[name].fields if key in action}
        given = checked_arguments(self._own[name], own)
        episode = self._found(client, given)
        turn = await self._episodes.answer(episode, self._played(given), action)
        return self._facts(episode, turn)

    async def _begin(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        start = named_start(self._setup, given.get("record"), given.get("at"))
        if "resume" in given and ("seed" in given or start is not None):
            raise UsageError(
                "give a seed, a record, or resume; the resumed episode has its own seed and start"
            )
        if "resume" in given:
            episode = await self._episodes.resume(client, given["resume"])
            turn = await self._episodes.present(episode)
        else:
            episode = await self._episodes.begin(client, given.get("seed"), start)
            turn = episode.turn
        return self._facts(episode, turn)

    async def _present(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        episode = self._found(client, given)
        return self._facts(episode, await self._episodes.present(episode))

    async def _close(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        episode = self._found(client, given)
        await self._episodes.close(episode)
        return {"episode": episode.name, "done": episode.turn.ended is not None}

    async def _look_up(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        return table_page(await self._found(client, given).tables(self._played(given)), given)

    def _found(self, client: str | None, given: Mapping[str, Any]) -> OpenEpisode:
        """Return the episode that a call is for."""
        return self._episodes.at(client, given.get(self._episode, ""))

    def _played(self, given: Mapping[str, Any]) -> str:
        """Return the seat that a call is for."""
        return str(given[self._seat]) if self._several else self._setup.seats[0]

    def _facts(self, episode: OpenEpisode, turn: Turn) -> dict[str, Any]:
        """Return a turn as a tool returns it."""
        facts: dict[str, Any] = {"episode": episode.name, "done": turn.ended is not None}
        if turn.possible:
            facts["possible"] = {seat: list(tags) for seat, tags in turn.possible.items()}
        if self._several:
            facts |= {"observations": dict(turn.observations), "rewards": dict(turn.rewards)}
        else:
            facts["reward"] = sum(turn.rewards.values())
            if turn.observations:  # none at the end
                (facts["observation"],) = turn.observations.values()
        return facts | ({"ended": dict(turn.ended)} if turn.ended is not None else {})

    # -- descriptions ------------------------------------------------------------------------------

    def _described(self) -> Iterator[dict[str, Any]]:
        for name, (tool, _) in self.actions.items():
            yield _listed(_joined(name, tool, self._own[name]), self._turn_schema())
        for name, tool in self._further.items():
            of_turn = name in (self.begin, self.present)
            yield _listed(tool, self._turn_schema() if of_turn else {"type": "object"})

    def _taking(self, seats: tuple[str, ...] = ()) -> Tool:
        """Return the arguments that name the episode and, of several seats, the one that plays."""
        by_id = "The id that begin_episode returned; optional in the session that began or resumed"
        episode = {self._episode: {"type": "string", "description": f"{by_id} it."}}
        if not (self._several and seats):
            return Tool("", "", object_schema(episode))
        its = {self._seat: {"type": "string", "enum": [*seats]}}
        return Tool("", "", object_schema(its | episode, [self._seat]))

    def _further_tools(self) -> Iterator[Tool]:
        """Yield the tools other than actions."""
        resume = {"type": "string", "description": "The id of an episode to go on with."}
        begun: dict[str, Any] = {"seed": _SEED} if self.takes_seeds else {}
        if self._setup.starts is not None:
            begun |= {"record": _RECORD, "at": _AT}
        begun["resume"] = resume
        yield Tool(self.begin, _BEGIN, object_schema(begun))
        yield _joined(self.present, Tool("", _PRESENT, object_schema({})), self._taking())
        yield _joined(self.close, Tool("", _CLOSE, object_schema({})), self._taking())
        if self.look_up in self._calls:
            own = self._taking(self._setup.seats)
            yield _joined(self.look_up, Tool("", _LOOK_UP, object_schema(_PAGE)), own)

    def _turn_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a turn."""
        number, thing = {"type": "number"}, {"type": "object"}
        seen = (
            {"observations": thing, "rewards": thing}
            if self._several
            else {"observation": thing, "reward": number}
        )
        properties = {
            "episode": {"type": "string"},
            "done": {"type": "boolean"},
            "ended": {"type": "object", "description": "At the end: score, reason, metrics."},
            "possible": {"type": "object", "description": _POSSIBLE},
            **seen,
        }
        return {"type": "object", "properties": properties, "required": ["episode", "done"]}


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name, with underscores appended until it is free."""
    names = set(taken)
    while name in names:
        name += "_"
    return name


def _named_actions(setup: Setup) -> dict[str, tuple[Tool, tuple[str, ...]]]:
    """Return the different actions by a name that every client accepts."""
    actions = tools_of_seats(setup)
    tags = [tool.name for tool, _ in actions]
    found: dict[str, tuple[Tool, tuple[str, ...]]] = {}
    for tool, seats in actions:
        name = tool.name if tags.count(tool.name) == 1 else f"{tool.name}_{seats[0]}"
        found[free_name(_REFUSED.sub("_", name)[:_LONGEST], found)] = tool, seats
    return found


def _joined(name: str, tool: Tool, own: Tool) -> Tool:
    """Return a tool under a name, with further arguments."""
    properties = {**tool.fields, **own.fields}
    required = [*tool.required, *own.required]
    parameters = {**tool.parameters, "properties": properties, "required": required}
    return evolve(tool, name=name, parameters=parameters)


def _listed(tool: Tool, output: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": output,
    }


def _text_content(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
