"""Sealed sessions over MCP: played, killed on either side, and telling nothing of the seed."""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
from click.testing import CliRunner
from support.mcp_agent import Agent, Refused, over_http
from support.paths import PYTHONPATH
from support.sealed import NUMBER, SUITE, host_of, key_of

from desim.adapters.mcp.sealed import SealedTools
from desim.cli.main import main
from desim.schema import tag, to_plain
from desim.verification.hosting.hosted_session import HostedSession
from desim.verification.hosting.sealed_host import SealedHost
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.sealed.sealed_suite import SealedSuite
from desim.verification.verify import verify

#: Words that no reply of a session holds before its end.
FORBIDDEN = re.compile(r'"(seed|seeds|score|reward|rewards|metrics|ended|ledger_digest|secret)":')

#: Presets whose first observations are often the same, with a short horizon.
WORLDS = ("beer_game/poisson", "yc_bench", "enterprise_arena", "edt/paper")


async def opened(agent: Agent, name: str) -> str:
    """Open a session, and return its ticket."""
    offer = (await agent.call("offer_session"))["offer"]["says"]
    return str(
        (await agent.call("open_session", session=offer["session"], number=NUMBER, name=name))[
            "ticket"
        ]
    )


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[dict[str, str]]:
    """Run a server over HTTP, which is killed at the end; yield its address and token."""
    options = ["suite.toml", "--sealed", "--mcp", "--key", "server.pem", "--out", "out", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "desim", "serve", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


def test_a_session_outlives_a_kill_of_both_sides(tmp_path: Path) -> None:
    """Server and client are killed in the middle of an episode; the entry is accepted."""
    (tmp_path / "suite.toml").write_bytes(SUITE)
    key_of(tmp_path)
    how: dict[str, Any] = {"action": "order", "arguments": {"quantity": 4}}

    async def first(at: dict[str, str]) -> Any:
        async with over_http(at["url"], at["token"], leaves=False) as agent:
            how["ticket"] = await opened(agent, "me")
            seen = await agent.call("begin_episode", ticket=how["ticket"])
            assert seen["actions"]["retailer"][0]["name"] == "order"
            return await agent.call("act", decision=0, **how)

    async def second(at: dict[str, str], before: Any) -> None:
        async with over_http(at["url"], at["token"]) as agent:
            again = await agent.call("begin_episode", ticket=how["ticket"])
            assert again["observations"] == before["observations"]
            with pytest.raises(Refused, match="answered already"):
                await agent.call("act", decision=0, **how)
            for _ in range(2):
                seen = await agent.call("begin_episode", ticket=how["ticket"])
                while not seen["done"]:
                    seen = await agent.call("act", decision=seen["decision"], **how)
            ended = await agent.call("close_session", ticket=how["ticket"])
            assert ended["state"] == "closed"

    with serving(tmp_path) as at:
        before = anyio.run(first, at)
    with serving(tmp_path) as at:
        anyio.run(second, at, before)
    public = tmp_path / "out" / "public"
    (entry,) = (one for one in public.iterdir() if one.is_dir())
    assert verify(entry, server=ListedServer.read(public)).decision == "accepted"
    end = json.loads((entry / "session.json").read_bytes())["close"]["says"]
    assert (end["resumes"], end["abandoned"]) == (1, {})


class Client:
    """A client of a server in this process, which keeps the text of each reply.

    Args:
        tools: The tools of the server.
    """

    def __init__(self, tools: SealedTools, host: SealedHost) -> None:
        self.tools = tools
        offer = self.call("offer_session", {})["structuredContent"]["offer"]["says"]["session"]
        given = {"session": offer, "number": NUMBER}
        self.ticket = self.call("open_session", given)["structuredContent"]["ticket"]
        self.session: HostedSession = host.at(self.ticket)

    def call(self, name: str, arguments: Any) -> Any:
        """Return the result of a call."""
        return anyio.run(self.tools.call, None, name, arguments)

    def sent(self, name: str, arguments: dict[str, Any]) -> str:
        """Return the text of a reply without its receipt, after a call with the ticket."""
        result = self.call(name, {"ticket": self.ticket, **arguments})
        text = json.dumps(result["content"])
        assert FORBIDDEN.search(text) is None
        return re.sub(r'receipt\\": \\"[0-9a-f]{32}', "", text).replace(self.ticket, "")


def false_calls(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls that no server accepts."""
    draw = random.Random(4)  # noqa: S311 (nothing to hide)
    values = [
        "",
        "x",
        0,
        -1,
        10**40,
        1.5,
        None,
        True,
        [],
        {},
        {"a": {"b": []}},
        "9" * 500,
        "\ud800",
    ]
    names = ["begin_episode", "act", "look_up", "open_session", "reset", "state", "../private"]
    keys = ["decision", "action", "arguments", "seat", "episode", "table", "first_row", "seed"]
    for _ in range(count):
        given = {key: draw.choice(values) for key in draw.sample(keys, 3)}
        given |= {"wrong": 1} if draw.random() < 0.5 else {"decision": 10**6, "episode": 99}
        yield draw.choice(names), given


def default_call(client: Client) -> dict[str, Any]:
    """Return the arguments of `act` for the default action of the first open decision."""
    playing = client.session._play()
    decision = playing.open[0]
    action = playing.run.role_of(decision).default_for(decision.observation)
    told = {"action": tag(type(action)), "arguments": to_plain(action), "seat": decision.role}
    return {"decision": playing.answered, **told}


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_sent_follows_from_observations_and_calls(world: str, tmp_path: Path) -> None:
    """Two sessions of different seeds get the same bytes as long as they observe the same."""
    content = f'[worlds.w]\nmodel = "{world}"\n[entries.x]\npolicy = "random"\n'.encode()
    tools = SealedTools(host := host_of(tmp_path, content), SealedSuite.read(content), grid=0)
    firsts: dict[str, Client] = {}
    for _ in range(40):
        client = Client(tools, host)
        first = client.sent("begin_episode", {})
        if first in firsts:
            break
        firsts[first] = client
    else:
        pytest.fail("no two seeds have the same first observation")
    pair = (firsts[first], client)
    assert len({one.session._seeds[0] for one in pair}) == 2
    for calls in range(100):
        for name, given in false_calls(200 if calls == 0 else 3):
            one, other = (each.sent(name, given) for each in pair)
            assert one == other
        answers = [default_call(each) for each in pair]
        assert answers[0] == answers[1]
        sent = {each.sent("act", answers[0]) for each in pair}
        if len(sent) > 1 or '\\"done\\": true' in sent.pop():
            break
    host.stop()


def test_options_that_exclude_each_other_are_refused(tmp_path: Path) -> None:
    """With a sentence each."""
    (tmp_path / "suite.toml").write_bytes(SUITE)
    key_of(tmp_path)
    suite, key = str(tmp_path / "suite.toml"), ["--key", str(tmp_path / "server.pem")]
    out = ["--out", str(tmp_path / "out")]
    for options, why in (
        (["--mcp", "--sealed"], "--sealed needs --key"),
        (["--openenv", "--sealed", *key, *out], "--sealed goes with --mcp"),
        (["--mcp", "--sealed", "--seeds", "0:2", *key, *out], "--sealed goes with --mcp"),
    ):
        done = CliRunner().invoke(main, ["serve", suite, *options])
        assert done.exit_code == 2
        assert why in done.stderr
