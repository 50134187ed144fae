"""`desim serve`: a world behind a protocol, for agents that speak it."""

import contextlib
import importlib
import sys
from typing import Any

import click

from desim.cli.completion import complete_role
from desim.cli.options import (
    model_argument,
    policy_option,
    preset_option,
    read_parameters,
    set_option,
)
from desim.errors import UsageError


@click.command("serve")
@model_argument
@preset_option
@set_option
@click.option(
    "--seat",
    "seats",
    multiple=True,
    metavar="ROLE",
    help="A role that clients play; default: the model's default roles.",
    shell_complete=complete_role,
)
@policy_option
@click.option("--mcp", is_flag=True, help="Speak the Model Context Protocol.")
@click.option("--openenv", is_flag=True, help="Speak OpenEnv (HTTP and web sockets).")
@click.option("--stdio", is_flag=True, help="With --mcp: on standard input and output, one client.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where the server listens.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option(
    "--token",
    envvar="DESIM_TOKEN",
    default="",
    help="Clients must send it; $DESIM_TOKEN hides it from other users of the machine. Default: "
    "a new one, which is printed.",
)
@click.option(
    "--no-token",
    is_flag=True,
    help="With --openenv: clients need no token where none is given. Whoever reaches the port "
    "plays, but no web page of another origin.",
)
@click.option(
    "--records",
    type=click.Path(),
    help="A folder that receives the record of every episode; with it, one that was cut by a "
    "restart is resumed.",
)
@click.option(
    "--seeds",
    default="",
    metavar="A:B",
    help="With --mcp: the seeds of the episodes, A:B (without B) or A,B,..., in turn; clients then "
    "give none. Default: a client's, or a drawn one. Records hold the seed; no reply does.",
)
@click.option(
    "--max-sessions",
    type=click.IntRange(1, 10_000),
    default=64,
    show_default=True,
    help="Episodes at the same time.",
)
@click.option(
    "--max-decisions", type=click.IntRange(min=1), help="Decisions after which one is truncated."
)
@click.option(
    "--reward",
    default="score",
    show_default=True,
    help="What rewards are the change of: score, METRIC or -METRIC.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="With --mcp over HTTP: print address and token as one line of JSON.",
)
@click.option(
    "--package",
    type=click.Path(),
    help="With --openenv: write openenv.yaml and a container file to this folder, and stop.",
)
def command(
    *,
    model: str,
    preset: str,
    sets: tuple[str, ...],
    seats: tuple[str, ...],
    specs: tuple[str, ...],
    max_decisions: int | None,
    reward: str,
    mcp: bool,
    openenv: bool,
    stdio: bool,
    as_json: bool,
    package: str | None,
    no_token: bool,
    seeds: str,
    **served: Any,
) -> None:
    """Serve MODEL to agents: --mcp for the Model Context Protocol, --openenv for OpenEnv.

    An agent begins an episode, and answers its observations by actions. The server listens on the
    loopback interface unless --host names another; Ctrl-C stops it.
    """
    _check_protocol(mcp=mcp, openenv=openenv, stdio=stdio, as_json=as_json)
    if package and mcp:
        raise UsageError("--package goes with --openenv")
    if seeds and not mcp:
        raise UsageError("--seeds goes with --mcp; OpenEnv has tasks, whose seeds are known")
    if no_token and mcp:
        raise UsageError("--no-token goes with --openenv; clients of --mcp always send a token")
    adapter = _adapter("mcp" if mcp else "openenv.package" if package else "openenv.server")
    # Standard output belongs to the protocol from the start: a user's module may print.
    with contextlib.redirect_stdout(sys.stderr) if stdio else contextlib.nullcontext():
        setup = _setup(model, preset, sets, seats, specs, max_decisions, reward)
    if mcp:
        from desim.adapters.seat.episodes_of import chosen_seeds

        chosen = chosen_seeds(seeds) if seeds else ()
        adapter.serve(setup, stdio=stdio, as_json=as_json, seeds=chosen, **served)
    elif package:
        adapter.write(setup, package)
    else:
        adapter.serve(setup, no_token=no_token, **served)


def _check_protocol(*, mcp: bool, openenv: bool, stdio: bool, as_json: bool) -> None:
    if mcp == openenv:
        given = "both were given" if mcp else "neither was given"
        raise UsageError(f"give one of --mcp and --openenv; {given}")
    if stdio and not mcp:
        raise UsageError("--stdio goes with --mcp; OpenEnv is spoken over HTTP and web sockets")
    if as_json and (stdio or not mcp):
        raise UsageError("--json goes with --mcp over HTTP, which has an address to print")


def _setup(
    model: str,
    preset: str,
    sets: tuple[str, ...],
    seats: tuple[str, ...],
    specs: tuple[str, ...],
    max_decisions: int | None,
    reward: str,
) -> Any:
    from desim.adapters.seat.setup import Setup
    from desim.catalog.policy_spec import read_policies

    return Setup.of(
        model,
        preset,
        params=read_parameters(sets),
        seats=seats,
        others=read_policies(specs) or None,
        reward=reward,
        max_decisions=max_decisions,
    )


def _adapter(name: str) -> Any:
    """Import the adapter of a protocol, or a module of it; its extra has the protocol's name.

    Raises:
        UsageError: The package is not installed.
    """
    try:
        return importlib.import_module(f"desim.adapters.{name}")
    except ModuleNotFoundError as fault:
        missing = (fault.name or "desim").partition(".")[0]
        if missing == "desim":
            raise
        extra = name.partition(".")[0]
        raise UsageError(f"--{extra} needs {missing}: pip install 'desim[{extra}]'") from None
