"""The tools of a server as plain values: their descriptions, and the results of calls."""

from collections.abc import Mapping
from typing import Any

from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.open_episode import OpenEpisode, Turn
from desim.adapters.mcp.tool_arguments import (
    action_tools,
    checked,
    fields_of,
    free_name,
    only,
    row_number,
    string,
)
from desim.adapters.seat.action_tools import tagged_call
from desim.adapters.seat.stepped_session import as_json
from desim.core.model_protocols import offers
from desim.core.reported import HasTables
from desim.errors import DesimError, UsageError, possible
from desim.schema import to_plain
from desim.short_repr import short_repr

#: Rows of a table in one reply, at most.
_MOST_ROWS = 200


_SEED = {
    "type": "integer",
    "minimum": 0,
    "description": "Two episodes of one seed differ by their actions alone; drawn where left out.",
}


class ToolSet:
    """The tools of a server.

    Actions come first, under their tags. The names of the further tools, and of the arguments
    `episode` and `seat`, get an underscore if an action or one of its fields has that name. With
    several seats a tool takes the `seat` that it is called for: one client plays them all.

    Args:
        episodes: The episodes on which they are called.

    Attributes:
        actions: The tools of actions, by name.
    """

    def __init__(self, episodes: Episodes) -> None:
        self._episodes, self._setup = episodes, episodes.setup
        self.actions = action_tools(self._setup)
        fields = {key for each in self.actions.values() for key in fields_of(each.tool)}
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
        if offers(self._setup.model, HasTables):
            self._calls[self.look_up] = self._look_up
        self._several = len(self._setup.seats) > 1
        acting = [
            self._described(name, each.tool.description, each.tool.parameters, each.seats)
            for name, each in self.actions.items()
        ]
        self._listed = {one["name"]: one for one in [*acting, *self._further()]}

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
        """Return the result of a call; an error gives a result with its sentence.

        Args:
            client: The session of the connection; None for one without.
            name: The tool.
            arguments: Its arguments, from outside.
        """
        try:
            given = checked(name, arguments)
            if name in self.actions:
                facts = await self._act(client, name, given)
            elif name in self._calls:
                facts = await self._calls[name](client, given)
            else:
                names = [*self.actions, *self._calls]
                raise UsageError(f"there is no tool {short_repr(name)}; {possible(name, names)}")
        except DesimError as fault:
            return {"content": [_text(str(fault))], "isError": True}
        return {"content": [_text(as_json(facts))], "structuredContent": facts}

    # -- calls -------------------------------------------------------------------------------------

    async def _act(self, client: str | None, name: str, given: dict[str, Any]) -> dict[str, Any]:
        tool, seats = self.actions[name].tool, self.actions[name].seats
        episode = self._found(client, given)
        seat = self._played(given, seats)
        action = tagged_call({tool.name: tool}, tool.name, given)
        return self._facts(episode, await self._episodes.answer(episode, seat, action))

    async def _begin(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        only(given, tuple(self._listed[self.begin]["inputSchema"]["properties"]))
        if "resume" in given and "seed" in given:
            raise UsageError("give a seed or resume; the resumed episode has its own seed")
        if "resume" in given:
            episode = await self._episodes.resume(client, string(given, "resume"))
            turn = await self._episodes.present(episode)
        else:
            episode = await self._episodes.begin(client, given.get("seed"))
            turn = episode.turn
        return self._facts(episode, turn)

    async def _present(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        episode = self._found(client, given)
        only(given, ())
        return self._facts(episode, await self._episodes.present(episode))

    async def _close(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        episode = self._found(client, given)
        only(given, ())
        await self._episodes.close(episode)
        return {"episode": episode.name, "done": episode.turn.ended is not None}

    async def _look_up(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        episode = self._found(client, given)
        seat = self._played(given, self._setup.seats)
        only(given, ("table", "first_row"))
        tables = await episode.tables(seat)
        if "table" not in given:
            return {"tables": {name: len(rows) for name, rows in tables.items()}}
        name, first = string(given, "table"), row_number(given)
        if name not in tables:
            raise UsageError(f"there is no table {short_repr(name)}; {possible(name, tables)}")
        rows = tables[name]
        shown = [to_plain(dict(row)) for row in rows[first : first + _MOST_ROWS]]
        return {"table": name, "rows": shown, "first_row": first, "all_rows": len(rows)}

    def _found(self, client: str | None, given: dict[str, Any]) -> OpenEpisode:
        """Return the episode that a call is for, and remove its id from the arguments."""
        name = string(given, self._episode) if self._episode in given else ""
        given.pop(self._episode, None)
        return self._episodes.at(client, name)

    def _played(self, given: dict[str, Any], seats: tuple[str, ...]) -> str:
        """Return the seat that a call is for, and remove it from the arguments."""
        if not self._several:
            return self._setup.seats[0]
        if self._seat not in given:
            raise UsageError(f"give the {self._seat} that plays: {', '.join(seats)}")
        seat = string(given, self._seat)
        if seat not in seats:
            raise UsageError(f"{self._seat} {short_repr(seat)} was given; {possible(seat, seats)}")
        del given[self._seat]
        return seat

    def _facts(self, episode: OpenEpisode, turn: Turn) -> dict[str, Any]:
        """Return a turn as a tool returns it."""
        facts: dict[str, Any] = {"episode": episode.name, "done": turn.ended is not None}
        if self._several:
            facts |= {"observations": dict(turn.observations), "rewards": dict(turn.rewards)}
        else:
            facts["reward"] = sum(turn.rewards.values())
            if turn.observations:  # none at the end
                (facts["observation"],) = turn.observations.values()
        return facts | ({"ended": dict(turn.ended)} if turn.ended is not None else {})

    # -- descriptions ------------------------------------------------------------------------------

    def _described(
        self, name: str, about: str, parameters: Mapping[str, Any], seats: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return a tool that plays a turn; with seats one that takes a seat."""
        properties, needed = dict(parameters["properties"]), list(parameters.get("required", ()))
        if self._several and seats:
            properties[self._seat] = {"type": "string", "enum": [*seats]}
            needed.append(self._seat)
        properties[self._episode] = {
            "type": "string",
            "description": "The id that begin_episode returned; optional in the session that "
            "began or resumed it.",
        }
        schema = {**parameters, "properties": properties, "required": needed}
        return _listed(name, about, schema, self._output())

    def _further(self) -> list[dict[str, Any]]:
        """Return the tools other than actions."""
        tools = [
            _listed(
                self.begin,
                "Begin an episode, or resume one by its id, and return its first open "
                "observation. One session plays one episode at a time.",
                _object(
                    **({"seed": _SEED} if self._episodes.takes_seeds else {}),
                    resume={"type": "string", "description": "The id of an episode to go on with."},
                ),
                self._output(),
            ),
            self._described(
                self.present,
                "Return the observation that waits for an answer, and the last reward, again.",
                _object(),
            ),
            {
                **self._described(
                    self.close, "Leave an episode before its end. It can be resumed.", _object()
                ),
                "outputSchema": {"type": "object"},
            },
        ]
        if self.look_up in self._calls:
            parameters = _object(
                table={"type": "string", "description": "Without one: the names of the tables."},
                first_row={"type": "integer", "minimum": 0, "default": 0},
            )
            about = f"Return up to {_MOST_ROWS} rows of a table of what you know."
            described = self._described(self.look_up, about, parameters, self._setup.seats)
            tools.append({**described, "outputSchema": {"type": "object"}})
        return tools

    def _output(self) -> dict[str, Any]:
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
            **seen,
        }
        return {"type": "object", "properties": properties, "required": ["episode", "done"]}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _listed(
    name: str, about: str, schema: Mapping[str, Any], output: Mapping[str, Any]
) -> dict[str, Any]:
    return {"name": name, "description": about, "inputSchema": schema, "outputSchema": output}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
