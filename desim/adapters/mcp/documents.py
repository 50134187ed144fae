"""What a client can read of a world before it plays: instructions, resources, a prompt."""

import json
from typing import Any

from desim.adapters.mcp.toolset import ToolSet
from desim.adapters.setup import Setup
from desim.adapters.texts import rules_of
from desim.errors import UsageError, possible
from desim.schema import json_schema

__all__ = ["Documents"]

_PLAY = "play"


class Documents:
    """The texts of a server.

    Args:
        setup: What is played.
        tools: The tools that the texts name.

    Attributes:
        instructions: How to play, and the rules of every seat.
    """

    def __init__(self, setup: Setup, tools: ToolSet) -> None:
        self._setup = setup
        self._takes_seeds = tools.takes_seeds
        self._how = _how_to_play(setup, tools)
        rules = {seat: rules_of(setup.model, seat) for seat in setup.seats}
        self.instructions = "\n\n".join([self._how, *_headed(rules)])
        self._resources: dict[str, tuple[dict[str, str], str]] = {}
        for seat in setup.seats:
            self._add("rules", seat, "Rules", "text/plain", rules[seat])
            schema = json.dumps(json_schema(setup.model.roles[seat].observation), indent=1)
            about = "JSON Schema of the observations"
            self._add("observation-schema", seat, about, "application/json", schema)

    def resources(self) -> list[dict[str, str]]:
        """Return every resource without its text."""
        return [about for about, _ in self._resources.values()]

    def read(self, uri: str) -> dict[str, Any]:
        """Return a resource.

        Raises:
            UsageError: There is none of this address.
        """
        if uri not in self._resources:
            raise UsageError(
                f"there is no resource {uri[:200]!r}; {possible(uri, self._resources)}"
            )
        about, text = self._resources[uri]
        return {"contents": [{"uri": uri, "mimeType": about["mimeType"], "text": text}]}

    def prompts(self) -> list[dict[str, Any]]:
        """Return every prompt without its text."""
        about = {"name": "seed", "description": "The seed of the episode.", "required": False}
        known = [about] if self._takes_seeds else []
        return [{"name": _PLAY, "description": "Play one episode.", "arguments": known}]

    def prompt(self, name: str, seed: str) -> dict[str, Any]:
        """Return a prompt.

        Raises:
            UsageError: There is none of this name, or the seed is no whole number.
        """
        if name != _PLAY:
            raise UsageError(f"there is no prompt {name[:200]!r}; {possible(name, [_PLAY])}")
        if seed and not (seed.isascii() and seed.isdigit()):
            raise UsageError(f"seed {seed[:40]!r} was given; it is a whole number of at least 0")
        if seed and not self._takes_seeds:
            raise UsageError("the server chooses the seeds of its episodes (--seeds); give none")
        begin = f"Begin with seed {seed}" if seed else "Begin"
        text = f"{self._how} {begin}, and play to the end."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    def _add(self, kind: str, seat: str, title: str, mime: str, text: str) -> None:
        one = len(self._setup.seats) == 1
        uri = f"desim://{kind}" if one else f"desim://{kind}/{seat}"
        named = title if one else f"{title}: {seat}"
        self._resources[uri] = ({"uri": uri, "name": named, "mimeType": mime}, text)


def _how_to_play(setup: Setup, tools: ToolSet) -> str:
    seats = " and ".join(setup.seats)
    each = " for each seat that has one" if len(setup.seats) > 1 else ""
    return (
        f"You play {seats}. {tools.begin} begins an episode and returns the first observation"
        f"{each}. Answer every observation by one tool that is named for an action; it returns the "
        "next observation and the reward. The episode is over when `done` is true. A call that is "
        f"refused changes nothing. After a lost connection {tools.begin} with `resume`, the id of "
        "the episode, goes on with it."
    )


def _headed(rules: dict[str, str]) -> list[str]:
    if len(rules) == 1:
        return list(rules.values())
    return [f"Rules for {seat}:\n{text}" for seat, text in rules.items()]
