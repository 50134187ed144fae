"""`desim serve`: a world behind the Model Context Protocol, for agents that speak it."""

import contextlib
import sys
from typing import Any

import click
from attrs import frozen

from desim.cli.options import SeatOptions, command
from desim.errors import UsageError
from desim.schema.signatures import given


@frozen
class ServedModel:
    """Where and how the server of a protocol answers.

    Attributes:
        host: Where the server listens.
        port: Default: a free one.
        token: Clients must send it; $DESIM_TOKEN hides it from other users of the machine. Default:
            a new one, which is printed.
        records: A folder that receives the record of every episode; with it, one that was cut by a
            restart is resumed.
        max_sessions: Episodes at the same time.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    records: str | None = None
    max_sessions: int = 64


@frozen(kw_only=True, slots=False)
class ServeOptions(SeatOptions):
    """The protocol, and the episodes behind it.

    Attributes:
        mcp: Speak the Model Context Protocol.
        stdio: On standard input and output, one client.
        seeds: The seeds of the episodes, A:B (without B) or A,B,..., in turn; clients then give
            none. Default: a client's, or a drawn one. Records hold the seed; no reply does.
        starts: A record, or a folder of records, from whose decisions the episodes begin; each
            seed draws one, or a client names it by record and at.
        max_decisions: Decisions after which one is truncated.
        reward: What rewards are the change of: score, METRIC or -METRIC.
        as_json: Over HTTP: print address and token as one line of JSON.
    """

    mcp: bool = False
    stdio: bool = False
    seeds: str = ""
    starts: str | None = None
    max_decisions: int | None = None
    reward: str = "score"
    as_json: bool = False


@command(
    "serve",
    port={"type": click.IntRange(0, 65535)},
    token={"envvar": "DESIM_TOKEN"},
    records={"type": click.Path()},
    seeds={"callback": None},
    starts={"type": click.Path()},
    max_sessions={"type": click.IntRange(1, 10_000)},
    max_decisions={"type": click.IntRange(min=1)},
)
def serve_command(options: ServeOptions, served: ServedModel) -> None:
    """Serve MODEL to agents: --mcp for the Model Context Protocol.

    An agent begins an episode, and answers its observations by actions. The server listens on the
    loopback interface unless --host names another; Ctrl-C stops it.
    """
    if not options.mcp:
        raise UsageError("give --mcp, the protocol that is served")
    if options.as_json and options.stdio:
        raise UsageError("--json goes with --mcp over HTTP, which has an address to print")
    serve = _serve()
    # Standard output belongs to the protocol from the start: a user's module may print.
    with contextlib.redirect_stdout(sys.stderr) if options.stdio else contextlib.nullcontext():
        setup = _setup(options)
    from desim.adapters.seat.episodes_of import chosen_seeds

    seeds = chosen_seeds(options.seeds) if options.seeds else ()
    stdio, as_json = options.stdio, options.as_json
    serve(setup, stdio=stdio, as_json=as_json, seeds=seeds, **given(served))


def _setup(options: ServeOptions) -> Any:
    from desim.adapters.seat.setup import Setup
    from desim.catalog.policy_spec import read_policies

    return Setup.of(
        options.model,
        options.preset,
        params=options.set,
        seats=options.seats,
        others=read_policies(options.specs) or None,
        reward=options.reward,
        max_decisions=options.max_decisions,
        starts=options.starts,
    )


def _serve() -> Any:
    """Import the server.

    Raises:
        UsageError: The package is not installed.
    """
    try:
        from desim.adapters.mcp import serve
    except ModuleNotFoundError as fault:
        missing = (fault.name or "desim").partition(".")[0]
        if missing == "desim":
            raise
        raise UsageError(f"--mcp needs {missing}: pip install 'desim[mcp]'") from None
    return serve
