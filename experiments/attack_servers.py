"""Do the servers of `desim serve` withstand hostile requests?

Each server is started here, on loopback, and gets requests of the kinds of `hostile_requests`,
several at a time, and connections that say nothing or half a request. A hole is a status of 500 or
more, a request that is let in and must not be, one without an answer in time, a good request that
is not answered meanwhile or afterwards, and memory or descriptors that are not given back.

    python experiments/attack_servers.py --requests 500

The packages of the servers exclude each other: those that are installed are attacked.
"""

import json
import os
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from urllib.parse import urlsplit

import click
from attrs import define, field

from desim.show.console import console
from desim.show.table import Table
from experiments.attacks import DESIM, exit_with, started
from experiments.hostile_requests import BODIES, KINDS, Place, Request

#: The packages that the servers need.
SERVERS = {"mcp": "mcp", "openenv": "openenv"}

#: Seconds in which a request has an answer, and a silent connection its end.
IN_TIME = 12.0

#: Requests at the same time.
_AT_ONCE = 16

#: Bytes of memory that a server may keep after an attack.
_KEPT = 100_000_000

_TOKEN = "the-token-of-the-attack"  # noqa: S105 (no secret)

_CLOSED = "closed"
_LATE = "late"


def installed() -> list[str]:
    """Return the servers whose packages are installed."""
    return [name for name, package in SERVERS.items() if find_spec(package) is not None]


@contextmanager
def serving(name: str) -> Iterator[tuple[Place, int]]:
    """Start a server; yields its address and its process."""
    command = [*DESIM, "serve", "beer_game", "--preset", "poisson", "--seat", "retailer"]
    command += [f"--{name}", *(["--json"] if name == "mcp" else [])]
    process = started(*command, env={"DESIM_TOKEN": _TOKEN}, stderr=DEVNULL)
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield _place(name, json.loads(line)["url"] if name == "mcp" else line), process.pid
        finally:
            process.kill()


def _place(name: str, address: str) -> Place:
    host = urlsplit(address.strip()).netloc
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    if name == "openenv":
        return Place(host, "/reset", headers, {"seed": 1})
    accept = {"Accept": "application/json, text/event-stream"}
    client = {"name": "attack", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return Place(host, "/mcp", {**headers, **accept}, body)


@define
class Attack:
    """Attacks one server and counts.

    Attributes:
        place: Its address.
        pid: Its process.
        chance: Draws the requests.
        outcomes: By kind and outcome: a status, "closed", or "late".
        slowest: Seconds of the slowest request.
        holes: A sentence each.
    """

    place: Place
    pid: int
    chance: random.Random
    outcomes: Counter[tuple[str, str]] = field(factory=Counter)
    slowest: float = 0.0
    holes: list[str] = field(factory=list)

    def run(self, requests: int, silent: int) -> "Attack":
        """Send so many requests, and open so many silent connections."""
        self._good("before the attack")
        self._sent(100)  # memory of the first requests is kept without a leak
        self.outcomes.clear()
        before = _held(self.pid)
        self._sent(requests)
        self._silent(silent)
        self._good("after the attack")
        self._compare(before)
        return self

    def _sent(self, requests: int) -> None:
        kinds = list(KINDS.values())
        drawn = [kinds[n % len(kinds)](self.place, self.chance) for n in range(requests)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for request, (outcome, seconds) in zip(
                drawn, pool.map(lambda one: answer(self.place, one.data), drawn), strict=True
            ):
                self.outcomes[request.kind, outcome] += 1
                self.slowest = max(self.slowest, seconds)
                if not _is_right(request, outcome):
                    self.holes.append(f"{request.kind}: {outcome} of ...{request.data[-80:]!r}")

    def messages(self, count: int) -> "Attack":
        """Send so many messages over web sockets; each gets a message back, or the end."""
        drawn = [KINDS[BODIES[n % len(BODIES)]](self.place, self.chance) for n in range(count)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            outcomes = list(pool.map(lambda one: _message(self.place, one), drawn))
        for request, outcome in zip(drawn, outcomes, strict=True):
            self.outcomes[f"{request.kind} (socket)", outcome] += 1
            if outcome == _LATE:
                self.holes.append(f"{request.kind}: no answer to a message over a web socket")
        self._good("after the messages")
        return self

    def _silent(self, connections: int) -> None:
        """Open connections that send nothing, half a head, or half a body; all must be closed."""
        whole = self.place.good()
        beginnings = [b"", whole[:20], whole[:-5]]
        with ExitStack() as stack:
            opened = []
            for number in range(connections):
                one = stack.enter_context(closing(_connected(self.place)))
                opened.append(one)
                _send(one, beginnings[number % 3])
            begun = time.monotonic()
            self._good(f"beside {connections:,} silent connections")
            for one in opened:
                outcome = _outcome(one, begun + IN_TIME)
                self.outcomes["silent", outcome] += 1
                if outcome == _LATE:
                    self.holes.append(f"a silent connection is open after {IN_TIME:g} s")

    def _good(self, when: str) -> None:
        outcome, _ = answer(self.place, self.place.good())
        if outcome != "200":
            self.holes.append(f"a good request {when}: {outcome}")

    def _compare(self, before: tuple[int, int]) -> None:
        """Check that memory and descriptors are as before; both may take some seconds."""
        until = time.monotonic() + IN_TIME
        while (found := _held(self.pid))[1] > before[1] and time.monotonic() < until:
            time.sleep(0.2)
        if found[0] > before[0] + _KEPT:
            self.holes.append(f"memory: {before[0]:,} bytes before, {found[0]:,} after")
        if found[1] > before[1]:
            self.holes.append(f"descriptors: {before[1]} before, {found[1]} after")


def answer(place: Place, data: bytes) -> tuple[str, float]:
    """Send a request; return its status, "closed" or "late", and the seconds it took."""
    begun = time.monotonic()
    with closing(_connected(place)) as connection:
        _send(connection, data)
        return _outcome(connection, begun + IN_TIME), time.monotonic() - begun


def _message(place: Place, request: Request) -> str:
    """Send the body of a request as a message, half of them as the data of a step."""
    from websockets.exceptions import ConnectionClosed, InvalidHandshake
    from websockets.sync.client import connect

    body = request.data.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
    text = body if len(body) % 2 else f'{{"type": "step", "data": {body}}}'
    try:
        with connect(
            f"ws://{place.host}/ws", additional_headers=place.headers, max_size=None
        ) as client:
            client.send(text)
            return "error" if '"error"' in str(client.recv(IN_TIME)) else "answered"
    except TimeoutError:
        return _LATE
    except (ConnectionClosed, InvalidHandshake, OSError):
        return _CLOSED


def _connected(place: Place) -> socket.socket:
    host, _, port = place.host.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=IN_TIME)


def _send(connection: socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
    except OSError:  # refused before all was sent; the status may be there
        return


def _outcome(connection: socket.socket, until: float) -> str:
    connection.settimeout(max(0.1, until - time.monotonic()))
    try:
        line = connection.recv(64)
    except TimeoutError:
        return _LATE
    except OSError:
        return _CLOSED
    return line.split(b" ", 2)[1].decode() if line.startswith(b"HTTP/") else _CLOSED


def _is_right(request: Request, outcome: str) -> bool:
    if outcome in (_CLOSED, _LATE):
        return outcome == _CLOSED
    return 400 <= int(outcome) < 500 or (not request.refused and int(outcome) < 500)


def _held(pid: int) -> tuple[int, int]:
    """Return the bytes of memory and the number of descriptors of a process."""
    place = Path("/proc", str(pid))
    pages = int((place / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list((place / "fd").iterdir()))


@click.command()
@click.option("--server", "servers", multiple=True, type=click.Choice([*SERVERS]))
@click.option("--requests", default=500, show_default=True, type=click.IntRange(1, 100_000))
@click.option("--silent", default=1_500, show_default=True, type=click.IntRange(0, 10_000))
@click.option("--seed", default=0, show_default=True, help="Draws the requests.")
def main(servers: Sequence[str], requests: int, silent: int, seed: int) -> None:
    """Print a table of the outcomes of the requests, and every hole."""
    chosen = servers or installed()
    if not chosen:
        raise click.UsageError("no server's package is installed: pip install 'desim[mcp]'")
    holes: list[str] = []
    for name in chosen:
        with serving(name) as (place, pid):
            chance = random.Random(seed)  # noqa: S311 (no secret depends on it)
            attack = Attack(place, pid, chance).run(requests, silent)
            if name == "openenv":
                attack.messages(requests // 5)
        console().print(Table((name, "requests", "outcomes"), _kinds(attack.outcomes), (0, 2)))
        print(f"{name}: slowest answer {attack.slowest:.1f} s, holes {len(attack.holes)}\n")
        holes += [f"{name}: {each}" for each in attack.holes]
    exit_with([f"{times:,} x {each}" for each, times in Counter(holes).most_common()], most=50)


def _kinds(outcomes: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, int, str]]:
    """Yield a line for each kind of request, with how often each outcome came."""
    for kind in dict.fromkeys(kind for kind, _ in outcomes):
        found = {outcome: n for (one, outcome), n in sorted(outcomes.items()) if one == kind}
        texts = (f"{outcome} x {n:,}" for outcome, n in found.items())
        yield kind, sum(found.values()), "  ".join(texts)


if __name__ == "__main__":
    main()
