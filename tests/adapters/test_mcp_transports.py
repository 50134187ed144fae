"""`desim serve --mcp` as a process: over stdio and HTTP, killed and resumed, with a token."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp")

import mcp
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from support.adapters import CASES, Case, played
from support.command_line import interruptible
from support.mcp_agent import Agent, over_http, over_stdio
from support.paths import PYTHONPATH

import desim

#: The worlds that are played through processes.
BEER, YC = CASES[0], CASES[2]
OPTIONS: Mapping[Case, list[str]] = {
    BEER: ["beer_game", "--preset", "poisson", "--seat", "retailer", "--policy", "order_up_to"],
    YC: ["yc_bench", "--preset", "direct"],
}
TOKEN = "a-token-of-the-tests"  # noqa: S105 (no secret)

#: A user's policy that prints, and one that takes long.
MINE = """
import sys, time
from desim import Policy
from models.beer_game import Order, Stage

print("mine is imported")


class Prints(Policy):
    def decide(self, stage: Stage) -> Order:
        print("deciding")
        return Order(stage.incoming_order)


class Sleeps(Policy):
    def decide(self, stage: Stage) -> Order:
        time.sleep(60)
        return Order(4)
"""


class Server:
    """A process that serves over HTTP."""

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self.process, self.address = process, address

    def status(self, body: bytes, **headers: str) -> int:
        """Post a body with the token and further headers; return the status."""
        place = urlsplit(self.address)
        connection = HTTPConnection(str(place.hostname), place.port, timeout=30)
        sent = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        } | {key.replace("_", "-"): value for key, value in headers.items()}
        try:
            connection.request("POST", place.path, body, sent)
            return connection.getresponse().status
        finally:
            connection.close()


@contextmanager
def serving(
    case: Case, *options: str, folder: Path | None = None, port: int = 0
) -> Iterator[Server]:
    """Start a server over HTTP, and end it."""
    arguments = [*OPTIONS[case], *options, "--mcp", "--json", "--port", str(port)]
    process = interruptible(
        [sys.executable, "-m", "desim", "serve", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, "DESIM_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert told["token"] == TOKEN
        yield Server(process, told["url"])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def beer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A beer game that is served to all tests of this file."""
    with serving(BEER, "--records", str(tmp_path_factory.mktemp("records"))) as server:
        yield server


async def play(agent: Agent, case: Case, seed: int) -> Mapping[str, Any]:
    """Play the answers of a case from the beginning; return the last turn."""
    (answers,) = played(case, seed).answers.values()
    seen = await agent.call("begin_episode", seed=seed)
    return await go_on(agent, answers, seen)


async def go_on(
    agent: Agent, answers: list[dict[str, Any]], seen: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Play answers; return the last turn."""
    for answer in answers:
        arguments = dict(answer)
        seen = await agent.call(arguments.pop("do"), **arguments)
    return seen


def ended_as(seen: Mapping[str, Any], case: Case, seed: int) -> None:
    """Check that an episode ended as the direct one."""
    direct = played(case, seed)
    assert seen["ended"]["score"] == direct.score
    assert seen["ended"]["ledger_digest"] == direct.digest


# -- whole episodes --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [BEER, pytest.param(YC, marks=pytest.mark.slow)], ids=str)
def test_an_agent_plays_over_stdio(case: Case, tmp_path: Path) -> None:
    """Beer Game and a year of YC-Bench end as the direct episode does."""

    async def run() -> None:
        async with over_stdio(OPTIONS[case], errors=tmp_path / "errors", folder=tmp_path) as agent:
            ended_as(await play(agent, case, 5), case, 5)

    asyncio.run(run())
    assert (tmp_path / "errors").read_text() == ""


def test_two_agents_play_over_http_at_once(beer: Server) -> None:
    """Each plays its own episode."""

    async def one(seed: int) -> None:
        async with over_http(beer.address, TOKEN) as agent:
            ended_as(await play(agent, BEER, seed), BEER, seed)

    async def run() -> None:
        await asyncio.gather(one(5), one(6))

    asyncio.run(run())


def test_an_agent_plays_by_the_client_of_the_package(beer: Server) -> None:
    """In the protocol of 2026-07-28, which has no sessions."""
    (answers,) = played(BEER, 5).answers.values()

    async def run() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            mcp.Client(streamable_http_client(beer.address, http_client=http)) as client,
        ):
            begun = (await client.call_tool("begin_episode", {"seed": 5})).structured_content
            for answer in answers:
                arguments = {"quantity": answer["quantity"], "episode": begun["episode"]}
                seen = (await client.call_tool("order", arguments)).structured_content
            ended_as(seen, BEER, 5)

    asyncio.run(run())


# -- killed and resumed ----------------------------------------------------------------------------


def test_an_episode_outlives_its_client_and_its_server(tmp_path: Path) -> None:
    """The client is lost, then the server killed: each time the id goes on with the episode."""
    (answers,) = played(BEER, 5).answers.values()
    options = ["--records", str(tmp_path), "--max-sessions", "1"]

    async def begin(address: str) -> str:
        async with over_http(address, TOKEN) as agent:
            begun = await agent.call("begin_episode", seed=5)
            await go_on(agent, answers[:10], begun)
            return str(begun["episode"])

    async def resume(address: str, name: str, part: slice) -> Mapping[str, Any]:
        async with over_http(address, TOKEN) as agent:
            resumed = await agent.call("resume_episode", episode=name)
            assert resumed["observation"]["week"] == part.start + 1
            return await go_on(agent, answers[part], resumed)

    with serving(BEER, *options) as server:
        name = asyncio.run(begin(server.address))
        asyncio.run(resume(server.address, name, slice(10, 20)))
    with serving(BEER, *options) as server:
        ended_as(asyncio.run(resume(server.address, name, slice(20, None))), BEER, 5)
    replayed = desim.replay(tmp_path / f"{name}.jsonl")
    assert replayed.result is not None
    assert replayed.result.ledger_digest == played(BEER, 5).digest


@contextmanager
def started_on_stdio(arguments: list[str], folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a server on pipes, and end it."""
    process = interruptible(
        [sys.executable, "-m", "desim", "serve", *arguments, "--mcp", "--stdio"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def initialize(process: "subprocess.Popen[str]") -> None:
    """Begin the session of a server on pipes, and read until it has answered."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}}
    line = {"jsonrpc": "2.0", "id": 7, "method": "initialize"}
    line["params"] = params | {"clientInfo": {"name": "test", "version": "1"}}
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    replies = iter(process.stdout.readline, "")
    assert any(json.loads(reply).get("id") == 7 for reply in replies)


# -- streams and signals ---------------------------------------------------------------------------


def test_standard_output_carries_the_protocol_alone(tmp_path: Path) -> None:
    """What a user's module and policy print goes to standard error; a long line harms nothing."""
    (tmp_path / "mine.py").write_text(MINE)
    arguments = ["beer_game", "--preset", "poisson", "--seat", "retailer"]
    arguments += ["--policy", "wholesaler=mine:Prints"]

    async def run() -> None:
        async with over_stdio(arguments, errors=tmp_path / "errors", folder=tmp_path) as agent:
            await agent.call("begin_episode")
            for _ in range(3):
                await agent.call("order", quantity=4)

    asyncio.run(run())
    assert (tmp_path / "errors").read_text().split("\n") == [
        "mine is imported",
        *["deciding"] * 3,
        "",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_a_signal_ends_the_server(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """Also while the policy of another role decides for long; the record can be resumed."""
    (tmp_path / "mine.py").write_text(MINE)
    options = ["--policy", "wholesaler=mine:Sleeps", "--records", str(tmp_path / "records")]

    async def run(server: Server) -> None:
        async with over_http(server.address, TOKEN) as agent:
            await agent.call("begin_episode")
            order = asyncio.create_task(agent.call("order", quantity=4))
            (record,) = (tmp_path / "records").glob("*.jsonl")
            for _ in range(400):  # until the order is on record
                if '"retailer"' in record.read_text().partition("\n")[2]:
                    break
                await asyncio.sleep(0.05)
            server.process.send_signal(number)
            order.cancel()

    with serving(BEER, *options, folder=tmp_path) as server:
        asyncio.run(run(server))
        assert server.process.wait(30) in (code, 130)
    (record,) = (tmp_path / "records").glob("*.jsonl")
    cut = desim.Episode.read(record, whole=False)
    assert [step.role for step in cut.steps] == ["retailer"]


def test_a_client_that_reads_no_more_ends_the_server_quietly(tmp_path: Path) -> None:
    """It closed its end of the server's output, and then the other one."""
    with started_on_stdio(OPTIONS[BEER], tmp_path) as process:
        initialize(process)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 8, "method": "ping"}) + "\n")
        process.stdin.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == ""
        process.stdin = process.stdout = None  # `communicate` would use them


# -- who may enter ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": ""}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": "Bearer \u00e9"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"mcp_session_id": "no session"}, 404),
    ],
)
def test_a_stranger_is_refused(beer: Server, headers: dict[str, str], status: int) -> None:
    """Without the token, under another name of the machine, or from a page of another origin."""
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    assert beer.status(ping, **headers) == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * 5_000_000, 413),
        (b"[" * 200_000, 400),
        (b"[" * 900 + b"]" * 900, 400),
        (b"\xff", 400),
        (b'{"a": NaN}', 400),
    ],
)
def test_a_hostile_request_is_refused(beer: Server, body: bytes, status: int) -> None:
    """One that is too large, too deep, or no JSON."""
    assert beer.status(body) == status
    assert beer.status(b"{}") == 400
