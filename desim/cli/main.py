"""The command `desim`: data on standard output, progress and errors on standard error.

Exit codes: 0 done, 1 a run failed or a replay differs, 2 wrong usage, 130 stopped by Ctrl-C.
"""

import importlib
import io
import itertools
import sys
from pathlib import Path
from typing import Any

import click

from desim.cli.exit_codes import CheckedCommand, errors_reported
from desim.core.log import LEVELS, configure
from desim.errors import possible
from desim.version import __version__

#: By group and command of `desim --help` its module and the first sentence of its help. The click
#: command is the module's `NAME_command`. A module is imported when its command or its help is
#: shown; it imports packages of extras, and what is slow and rare, inside a function.
GROUPS = {
    "Look": {
        "list": ("look", "Show all worlds in a line each, or what MODEL consists of."),
        "baselines": ("baselines", "Print every world in a line, or the boards of MODEL."),
        "report": ("look", "Write one HTML file that opens offline: tables and figures."),
    },
    "Play an episode": {
        "run": ("run", "Play one episode of MODEL, or a series."),
        "play": ("play", "Play MODEL yourself."),
        "serve": ("serve", "Serve MODEL to agents: --mcp for the Model Context Protocol."),
    },
    "Study many episodes": {
        "sweep": ("sweep", "Play MODEL with every policy, parameter and seed."),
        "tune": ("sweep", "Search the parameters with the highest mean score."),
        "regret": ("decisions", "Print which decisions of a record cost most, with intervals."),
        "branch": ("decisions", "Repeat a record up to its decision N, then play on."),
        "check": ("look", "Play MODEL in all the ways in which desim does, and name its faults."),
    },
    "Measure": {
        "bench": ("bench", "Play every world of SUITE.toml with every entry, or print results."),
        "verify": ("bench", "Play the episodes of a suite's folder again, and compare."),
    },
    "Records": {
        "replay": ("records", "Play the answers of a record again and compare every step."),
        "resume": ("records", "Play an interrupted record to its end, in the same file."),
        "export": ("records", "Write the ledgers, series, decisions or messages of a record."),
        "diff": ("records", "Print where two records first differ: header, decision, end."),
        "memory": ("records", "Print what a policy has learned and keeps in a file."),
    },
}

#: All commands of `GROUPS`.
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class CommandGroup(CheckedCommand, click.Group):
    """The commands of `COMMANDS`; turns every error into one sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the names of the commands in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; return None if the name is unknown."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command = getattr(importlib.import_module(f"desim.cli.{module}"), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the lines of all commands in their groups without importing one."""
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in group.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name.

        Raises:
            click.UsageError: The command is unknown; the nearest one is suggested.
        """
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}; {possible(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept the options of all commands also after the command."""
        _import_from_current_folder()
        with errors_reported(debug="--debug" in args):
            return super().parse_args(ctx, _common_options_first(args))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with errors_reported(debug=ctx.params.get("debug", False)):
            return super().invoke(ctx)


def _import_from_current_folder() -> None:
    """Let `module:Name` find a user's own models and policies.

    The current folder is searched last, also under `python -m desim`: it may be another user's, and
    a file there that is named like a library must not be imported instead of the library.
    """
    here = str(Path.cwd())
    if sys.path[:1] in ([""], [here]):
        del sys.path[0]
    if here not in sys.path:
        sys.path.append(here)


def _common_options_first(args: list[str]) -> list[str]:
    """Move the options that every command has to the front, where click looks for them."""
    front, rest, left = [], [], iter(args)
    for arg in left:
        if arg in ("--debug", "--log-json") or arg.startswith("--log-level="):
            front.append(arg)
        elif arg == "--log-level":
            front += [arg, *itertools.islice(left, 1)]
        else:
            rest.append(arg)
    return front + rest


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="desim")
@click.option("--log-level", type=click.Choice(LEVELS), help="Write log lines to standard error.")
@click.option("--log-json", is_flag=True, help="Write them as JSON, one object a line.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(log_level: str | None, **flags: bool) -> None:
    """Simulate business worlds in which somebody has to decide."""
    # A table has characters that an encoding such as ASCII lacks; they are written as `?`.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if log_level or flags["log_json"]:
        configure(log_level or "info", as_json=flags["log_json"])
