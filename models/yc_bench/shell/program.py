"""The console as a program: lines of commands in, one JSON document a line out.

    python -m models.yc_bench.shell.program --seed 1 < commands.txt

Each line of standard input gives one line: {command, exit_code, out, stderr, state}, `state` being
that of `snapshot.py` after the command, or null before a company is founded. With `--seed` it is
founded at the start, otherwise by `sim init`. A `sim init` that is the very first command founds a
company with its own options, even if a seed was given; later it is refused.

Exit codes: 0 at the end of the input, 1 for a fault, 2 for wrong usage, 130 stopped by Ctrl-C.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import attrs
import click

from desim import Run
from desim.catalog.changes import changed
from desim.catalog.presets import from_preset
from desim.core.world import Decision
from desim.episodes.prefix import open_decisions
from desim.errors import DesimError, UsageError
from models.yc_bench.actions import (
    CompanyStatus,
    MarketBrowse,
    RunCommand,
    ScratchpadAppend,
    ScratchpadClear,
    ScratchpadRead,
    ScratchpadWrite,
    SimInit,
    SimResume,
    TaskAccept,
    TaskAssignAll,
    TaskInspect,
)
from models.yc_bench.commands.commandline import parse
from models.yc_bench.commands.execute import execute
from models.yc_bench.company.lookup import CommandRefused
from models.yc_bench.model import YCBench
from models.yc_bench.observation import CommandReply
from models.yc_bench.shell.snapshot import snapshot
from models.yc_bench.state import CompanyState

#: The published console does not limit the commands at one instant.
_MAX_QUESTIONS = 10**9

_NO_SIMULATION = "No simulation found."
_HOW_TO_FOUND = f"{_NO_SIMULATION} Run `yc-bench sim init` first."

#: Commands whose refusal names `sim init`.
_NAMING_INIT = (
    CompanyStatus,
    ScratchpadAppend,
    ScratchpadClear,
    ScratchpadRead,
    ScratchpadWrite,
    SimResume,
    TaskAccept,
)


class Console:
    """Plays an episode from lines of text; it goes on after bankruptcy and horizon.

    Args:
        model: The parameters.
        seed: Seed of the company that exists from the start; with None, `sim init` founds it.

    Raises:
        UsageError: The seed is not a whole number of at least 0.
    """

    def __init__(self, model: YCBench, seed: int | None = None) -> None:
        self._model = attrs.evolve(model, plays_on=True, max_questions_per_tick=_MAX_QUESTIONS)
        self._run: Run[Any] | None = None
        self._decision: Decision | None = None
        self._decisions: Iterator[Decision] = iter(())
        self._untouched = True
        if seed is not None:
            self._start(self._model, seed)

    @property
    def company(self) -> CompanyState | None:
        """The company; None before it is founded."""
        return None if self._run is None else self._run.state

    def give(self, line: str) -> dict[str, Any]:
        """Carry out a line and return the answer as plain JSON values."""
        # An answer is UTF-8, which has no lone surrogates.
        reply = self._reply(line.encode("utf-8", "replace").decode())
        company = self.company
        return {
            "command": reply.command,
            "exit_code": reply.exit_code,
            "out": reply.out,
            "stderr": reply.stderr,
            "state": None if company is None else snapshot(company),
        }

    def _reply(self, line: str) -> CommandReply:
        command = parse(line)
        if isinstance(command, CommandReply):
            return command
        first, self._untouched = self._untouched, False
        if isinstance(command, SimInit) and (first or self._run is None):
            return self._found(line, command)
        if self._run is None:
            return _unfounded(line, command, self._model)
        return self._play(self._run, line)

    def _play(self, run: Run[Any], line: str) -> CommandReply:
        assert self._decision is not None
        run.answer(self._decision, RunCommand(line))
        self._decision = next(self._decisions)
        reply: CommandReply = self._decision.observation.reply
        return reply

    def _found(self, line: str, command: SimInit) -> CommandReply:
        try:
            self._start(_changed_model(self._model, command), command.seed)
        except (DesimError, ValueError) as fault:
            return CommandReply(
                line, 2, None, f"Invalid value: {fault.args[0] if fault.args else fault}"
            )
        return CommandReply(line, 0, _founded(self._run.state, command) if self._run else None)

    def _start(self, model: YCBench, seed: int) -> None:
        run = Run(model, seed)
        decisions = open_decisions(run)
        self._decision = next(decisions)
        self._run, self._decisions = run, decisions


def _changed_model(model: YCBench, command: SimInit) -> YCBench:
    """Return the parameters changed by the options of `sim init`."""
    start = datetime.strptime(command.start_date, "%m/%d/%Y")  # noqa: DTZ007 (no zones)
    counts: dict[str, Any] = {
        "num_employees": command.employee_count,
        "num_market_tasks": command.market_task_count,
    }
    return attrs.evolve(
        model,
        start_date=start.date().isoformat(),
        company_name=command.company_name,
        horizon_years=command.horizon_years,
        **{name: count for name, count in counts.items() if count is not None},
    )


def _founded(company: CompanyState, command: SimInit) -> dict[str, Any]:
    clock = company.clock
    return {
        "simulation_id": "<company>",
        "company_id": "<company>",
        "sim_time": f"{clock.text(company.world.now)}+00:00",
        "horizon_end": f"{clock.text(company.horizon)}+00:00",
        "company_name": company.params.company_name,
        "seed": command.seed,
    }


def _unfounded(line: str, command: Any, model: YCBench) -> CommandReply:
    """Return the reply to a command before a company is founded (SPEC section 13)."""
    if isinstance(command, MarketBrowse):
        limit = model.market_browse_default_limit if command.limit is None else command.limit
        empty = {"total": 0, "offset": command.offset, "limit": limit, "tasks": []}
        return CommandReply(line, 0, empty)
    if isinstance(command, TaskInspect):
        why = f"Task '{command.task_id}' not found."
    elif isinstance(command, TaskAssignAll):
        why = _refusal(command)
    else:
        why = _HOW_TO_FOUND if isinstance(command, _NAMING_INIT) else _NO_SIMULATION
    return CommandReply(line, 1, {"error": why})


def _refusal(command: TaskAssignAll) -> str:
    no_company: Any = None  # the command is refused without a look at the company
    try:
        return str(execute(no_company, command))
    except CommandRefused as refused:
        return str(refused)


# -- the program -----------------------------------------------------------------------------------


@click.command("python -m models.yc_bench.shell.program")
@click.option("--seed", type=int, help="Found a company at once, in the world of this seed.")
@click.option("--world", metavar="FILE", help="A world file in place of a world drawn.")
@click.option("--preset", default="", help="A preset of the parameters.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="A parameter.")
def _console(seed: int | None, world: str | None, preset: str, sets: Sequence[str]) -> Console:
    """Answer each line of standard input with one line of JSON."""
    model = from_preset(YCBench, preset, {} if world is None else {"world": world})
    return Console(changed(model, dict(map(_pair, sets))), seed)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError(f"--set {text!r} was given; it is KEY=VALUE")
    return key, value


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve standard input until it ends and return the exit code."""
    try:
        console = _console.main(arguments, standalone_mode=False)
        # After `--help`, which click has printed, it returns a number.
        return _serve(console) if isinstance(console, Console) else 0
    except click.ClickException as fault:
        return _complain(fault.format_message(), 2)
    except UsageError as fault:
        return _complain(str(fault), 2)
    except DesimError as fault:
        return _complain(str(fault), 1)
    except (KeyboardInterrupt, click.Abort):
        return _complain("stopped", 130)
    except BrokenPipeError:
        # The reader is gone; without this Python reports the error again when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _serve(console: Console) -> int:
    for raw in sys.stdin.buffer:
        answer = console.give(raw.decode("utf-8", "replace").rstrip("\r\n"))
        click.echo(json.dumps(answer))
        sys.stdout.flush()
    return 0


def _complain(sentence: str, code: int) -> int:
    click.echo(f"console: {sentence}", err=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
