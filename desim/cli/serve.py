"""`desim serve`: a world behind the Model Context Protocol, for agents that speak it."""

import contextlib
import sys

import click
from attrs import frozen

from desim.adapters.seat.setup import Setup
from desim.cli.options import SeatOptions, command
from desim.engine.grid import checked_seeds
from desim.errors import UsageError
from desim.studies.sweep import read_seeds


@frozen(kw_only=True, slots=False)
class ServeOptions(SeatOptions):
    """The protocol, the episodes behind it, and where and how the server answers.

    Attributes:
        mcp: Speak the Model Context Protocol.
        stdio: On standard input and output, one client.
        seeds: The seeds of the episodes, A:B (without B) or A,B,..., in turn; clients then give
            none. Default: a client's, or a drawn one. Records hold the seed; no reply does.
        starts: A record, at a decision of which every episode begins; the seed draws what no seat
            can have observed by then.
        at: The number of that decision, from 1.
        max_decisions: Decisions after which one is truncated.
        reward: What rewards are the change of: score, METRIC or -METRIC.
        as_json: Over HTTP: print address and token as one line of JSON.
        host: Where the server listens.
        port: Default: a free one.
        token: Clients must send it; $DESIM_TOKEN hides it from other users of the machine. Default:
            a new one, which is printed.
        records: A folder that receives the record of every episode; with it, one that was cut by a
            restart is resumed.
        max_sessions: Episodes at the same time.
    """

    mcp: bool = False
    stdio: bool = False
    seeds: str = ""
    starts: str | None = None
    at: int | None = None
    max_decisions: int | None = None
    reward: str = "score"
    as_json: bool = False
    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    records: str | None = None
    max_sessions: int = 64


@command(
    "serve",
    port={"type": click.IntRange(0, 65535)},
    token={"envvar": "DESIM_TOKEN"},
    records={"type": click.Path()},
    seeds={"metavar": "A:B"},
    starts={"type": click.Path()},
    at={"metavar": "N", "type": click.IntRange(min=1)},
    max_sessions={"type": click.IntRange(1, 10_000)},
    max_decisions={"type": click.IntRange(min=1)},
)
def serve_command(options: ServeOptions) -> None:
    """Serve MODEL to agents: --mcp for the Model Context Protocol.

    An agent begins an episode, and answers the observations of one seat by actions. The server
    listens on the loopback interface unless --host names another; Ctrl-C stops it.
    """
    if not options.mcp:
        raise UsageError("give --mcp, the protocol that is served")
    if options.as_json and options.stdio:
        raise UsageError("--json goes with --mcp over HTTP, which has an address to print")
    if (options.starts is None) != (options.at is None):
        raise UsageError("give --starts and --at together, or neither")
    starts = {"record": options.starts, "at": options.at} if options.starts else None

    # Standard output belongs to the protocol from the start: a user's module may print.
    with contextlib.redirect_stdout(sys.stderr) if options.stdio else contextlib.nullcontext():
        setup = Setup.of(
            options.model,
            options.preset,
            params=options.set,
            seats=options.seats,
            others=options.policies,
            reward=options.reward,
            max_decisions=options.max_decisions,
            starts=starts,
        )
    from desim.adapters.mcp import serve  # after the setup: an unknown model needs no package

    serve(
        setup,
        stdio=options.stdio,
        as_json=options.as_json,
        seeds=checked_seeds(read_seeds(options.seeds)) if options.seeds else (),
        host=options.host,
        port=options.port,
        token=options.token,
        records=options.records,
        max_sessions=options.max_sessions,
    )
