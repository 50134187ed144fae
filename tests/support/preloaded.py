"""A process that has imported what a run with a language model needs, and forks for each command.

A new Python spends a second of a processor on these imports. A fork of the tests' own process would
have its memory, which is more than what tests measure, so this process lies between.
"""

import atexit
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from attrs import frozen
from support.forked import forked
from support.paths import PYTHONPATH
from support.peak import peak

#: Imported beside the commands themselves.
MODULES = (
    "aiohttp",
    "greenlet",
    "models.beer_game",
    "policies.heuristics.beer_game",
    "policies.llm.wires.suspension",
    "policies.llm.worlds.beer_game",
)


@frozen
class Measured:
    """How a command ended.

    Attributes:
        code: Exit code.
        out: What it printed.
        err: What it printed on standard error.
        mib: Its peak memory, of which a run with a good endpoint has about 80.
    """

    code: int
    out: str
    err: str
    mib: float


class Preloaded(AbstractContextManager["Preloaded"]):
    """Runs `desim` commands, one after the other, each in a fork of a process without tests."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.preloaded"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": PYTHONPATH},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # ends at the end of its input

    def run(
        self, arguments: Sequence[str], folder: Path, env: Mapping[str, str], seconds: float
    ) -> Measured:
        """Run a command in a folder to its end; fails where that takes longer than *seconds*."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([arguments, str(folder), dict(env), seconds]) + "\n")
        self._process.stdin.flush()
        return Measured(**json.loads(self._process.stdout.readline()))


def _serve() -> None:
    for module in MODULES:
        import_module(module)
    for line in sys.stdin:
        print(json.dumps(_ended(*json.loads(line))), flush=True)  # noqa: T201 (the answer)


def _ended(arguments: list[str], folder: str, env: dict[str, str], seconds: float) -> Any:
    left = Path(folder) / "peak"

    def measured() -> None:
        from desim.cli.main import main

        atexit.register(lambda: left.write_text(str(peak())))
        main(arguments, "desim")

    process = forked(measured, cwd=Path(folder), env=env, module="desim")
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return {"code": process.returncode, "out": out, "err": err, "mib": float(left.read_text())}


if __name__ == "__main__":
    _serve()
