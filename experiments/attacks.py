"""The parts of several attacks: tallies, commands in processes, and a scripted endpoint."""

import itertools
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, NoReturn

from attrs import define, field

from desim import catalog
from desim.show.console import console
from desim.show.table import Table

ROOT = Path(__file__).resolve().parents[1]

#: Arguments of Python for the command line.
DESIM = ("-m", "desim")


@define
class Tally:
    """Counts of one kind of attack.

    Attributes:
        kind: Its name.
        ended: Attacks by how they ended.
        holes: A sentence for each hole.
    """

    kind: str
    ended: Counter[str] = field(factory=Counter)
    holes: list[str] = field(factory=list)

    def expect(self, what: str, *, holds: bool) -> None:
        """Note a hole where something does not hold."""
        if not holds:
            self.holes.append(f"{self.kind}: {what}")


def print_tallies(head: str, ends: Sequence[str], tallies: Iterable[Tally]) -> NoReturn:
    """Print a table with a line for each tally, and exit; the exit code is 1 if there is a hole.

    Args:
        head: The head of the kinds.
        ends: The keys of `Tally.ended`, a column each.
        tallies: In the order of the lines.
    """
    each = list(tallies)
    lines = ([one.kind, *(one.ended[end] for end in ends), len(one.holes)] for one in each)
    console().print(Table([head, *ends, "holes"], lines))
    exit_with([hole for one in each for hole in one.holes])


def exit_with(holes: Sequence[str], most: int = 100) -> NoReturn:
    """Print holes on standard error, and exit with 1 if there is one, else with 0."""
    for hole in holes[:most]:
        print(hole, file=sys.stderr)
    sys.exit(1 if holes else 0)


def started(*arguments: str, folder: str | Path = ROOT, **options: Any) -> "Popen[str]":
    """Start Python with our packages, in a folder; `options` are those of `Popen`."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, **options.pop("env", {})}
    return Popen(  # noqa: S603 (our own command)
        [sys.executable, *arguments],
        cwd=folder,
        env=env,
        text=True,
        **{"stdout": PIPE, "stderr": PIPE, **options},
    )


@contextmanager
def endpoint(answer: int | Callable[[int], str], seconds: float = 0.0) -> Iterator[str]:
    """Serve a scripted language model, and yield its address.

    Args:
        answer: The order of every reply, in the words of the Beer Game; or the text of a reply by
            its number from 0.
        seconds: The time before each reply.
    """
    # Not above: `attack_records` counts the modules that its process has imported.
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    numbers = itertools.count()

    class Replies(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            time.sleep(seconds)
            number = next(numbers)
            text = json.dumps({"order_qty": answer}) if isinstance(answer, int) else answer(number)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 10, "completion_tokens": 5}
            reply = {"id": f"reply-{number}", "choices": [choice], "usage": usage}
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Replies) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()


@contextmanager
def models_checked() -> Iterator[None]:
    """Switch on `checked()` of every `models/<name>/articulation.py` there is."""
    with ExitStack() as stack:
        for name in catalog.models():
            module = f"models.{name}.articulation"
            if find_spec(module):
                stack.enter_context(import_module(module).checked())
        yield
