"""Do two processes that write one file at once lose anything?

Pairs of the same command are started at once: on a record, on the memory of a method that learns,
and on the folder of a sweep. Each process must end as if it were alone, or be refused with the name
of the file. Afterwards the record must replay, the memory must hold every episode of those that
were not refused, and the rows must be those of a sweep that nothing disturbed.

    python experiments/attack_pairs.py --rounds 10
"""

import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import PIPE, Popen

import click
from attrs import define, field

from desim import replay
from desim.errors import DesimError

_EPISODES = 3
_SWEEP = ("sweep", "beer_game", "--set", "horizon=1,2,3", "--seeds", "0:60", "--jobs", "1")


@define
class PairTally:
    """Counts of one kind of file.

    Attributes:
        kind: Its name in `KINDS`.
        ended: Processes by how they ended: "whole" or "refused".
        holes: Losses and errors.
    """

    kind: str
    ended: Counter[str] = field(factory=Counter)
    holes: list[str] = field(factory=list)

    def pair(self, arguments: Sequence[str], file: Path) -> int:
        """Start a command twice at once; return how many of the two were not refused."""
        started = [_started(arguments) for _ in range(2)]
        whole = 0
        for process in started:
            error = process.communicate()[1].decode()
            refused = process.returncode == 2 and file.name in error and error.count("\n") == 1
            whole += process.returncode == 0
            self.ended["whole" if process.returncode == 0 else "refused"] += 1
            if process.returncode and not refused:
                self.holes.append(f"{self.kind}: exit code {process.returncode}: {error[-300:]}")
        if not whole:
            self.holes.append(f"{self.kind}: both were refused")
        return whole

    def expect(self, *, holds: bool, what: str) -> None:
        """Note a hole where something does not hold."""
        if not holds:
            self.holes.append(f"{self.kind}: {what}")


def _records(tally: PairTally, folder: Path) -> None:
    file = folder / "run.jsonl"
    policy = "rollout,base=typical"
    tally.pair(("run", "beer_game", "--policy", policy, "--record", str(file)), file)
    _replay(tally, file)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:5]))
    tally.pair(("resume", str(file)), file)
    _replay(tally, file)


def _replay(tally: PairTally, file: Path) -> None:
    try:
        replay(file)
    except DesimError as fault:
        tally.holes.append(f"{tally.kind}: {fault}")


def _memories(tally: PairTally, folder: Path) -> None:
    file = folder / "memory.json"
    with _server() as address:
        policy = f"llm,model=m,base_url={address},method=reflexion,memory={file}"
        world = ("beer_game", "--set", "horizon=2", "--episodes", str(_EPISODES))
        whole = tally.pair(("run", *world, "--policy", policy), file)
    [role] = json.loads(file.read_bytes())["roles"].values()
    learned = f"{role['episodes']} of {_EPISODES * whole} episodes are on file"
    tally.expect(holds=role["episodes"] == _EPISODES * whole, what=learned)


def _sweeps(tally: PairTally, folder: Path) -> None:
    alone, both = folder / "alone", folder / "both"
    undisturbed = _started((*_SWEEP, "--out", str(alone)))
    error = undisturbed.communicate()[1].decode()
    tally.expect(holds=undisturbed.returncode == 0, what=f"the sweep alone failed: {error[-300:]}")
    tally.pair((*_SWEEP, "--out", str(both)), both)
    same = (both / "rows.jsonl").read_bytes() == (alone / "rows.jsonl").read_bytes()
    tally.expect(holds=same, what="the rows are not those of an undisturbed sweep")


#: The attacks by the kind of file that two processes write at once.
KINDS: dict[str, Callable[[PairTally, Path], None]] = {
    "record": _records,
    "memory": _memories,
    "sweep folder": _sweeps,
}


def attacked(kind: str, rounds: int) -> PairTally:
    """Start pairs of processes on files of a kind, and return the counts."""
    tally = PairTally(kind)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            KINDS[kind](tally, Path(folder))
    return tally


def _started(arguments: Sequence[str]) -> "Popen[bytes]":
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "desim", *arguments]
    return Popen(command, stdout=PIPE, stderr=PIPE, env=os.environ | {"PYTHONPATH": path})  # noqa: S603 (our own command)


class _Replies(BaseHTTPRequestHandler):
    """A language model that orders four and takes its time, so that both processes overlap."""

    def do_POST(self) -> None:
        """Answer a chat completion."""
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.1)
        message = {"role": "assistant", "content": '{"order_qty": 4, "note": "steady"}'}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def _server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Replies) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@click.command()
@click.option("--rounds", default=10, show_default=True, help="Pairs of each kind.")
def main(rounds: int) -> None:
    """Start pairs of processes on one file, and print a table."""
    click.echo(f"{'file':<14}{'whole':>7}{'refused':>9}{'holes':>7}")
    holes = []
    for kind in KINDS:
        tally = attacked(kind, rounds)
        ended = tally.ended
        click.echo(f"{kind:<14}{ended['whole']:>7}{ended['refused']:>9}{len(tally.holes):>7}")
        holes += tally.holes
    for hole in holes:
        click.echo(hole, err=True)
    sys.exit(1 if holes else 0)


if __name__ == "__main__":
    main()
