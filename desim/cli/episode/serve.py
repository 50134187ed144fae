"""`desim serve`: a world behind a protocol, for agents that speak it."""

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from desim.cli.options import SeatOptions
from desim.cli.options import command as command_of
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
        openenv: Speak OpenEnv (HTTP and web sockets).
        stdio: With --mcp: on standard input and output, one client.
        no_token: With --openenv: clients need no token where none is given. Whoever reaches the
            port plays, but no web page of another origin.
        seeds: With --mcp: the seeds of the episodes, A:B (without B) or A,B,..., in turn; clients
            then give none. Default: a client's, or a drawn one. Records hold the seed; no reply
            does.
        starts: A record, or a folder of records, from whose decisions the episodes begin; each
            seed draws one, or a client names it by record and at.
        max_decisions: Decisions after which one is truncated.
        reward: What rewards are the change of: score, METRIC or -METRIC.
        as_json: With --mcp over HTTP: print address and token as one line of JSON.
        sealed: With --mcp: MODEL is the file of a suite, whose episodes are played in sealed
            sessions; seeds are secret until the end.
        key: With --sealed: the server's private key, as desim key new makes it.
        password: The environment variable that holds the password of the key.
        out: With --sealed: the server's folder. All that others may have is in its folder public.
        hours: With --sealed: hours after its opening at which a session is closed.
        package: With --openenv: write openenv.yaml and a container file to this folder, and stop.
    """

    mcp: bool = False
    openenv: bool = False
    stdio: bool = False
    no_token: bool = False
    seeds: str = ""
    starts: str | None = None
    max_decisions: int | None = None
    reward: str = "score"
    as_json: bool = False
    sealed: bool = False
    key: Path | None = None
    password: str = ""
    out: Path | None = None
    hours: int = 24
    package: str | None = None


@command_of(
    "serve",
    port={"type": click.IntRange(0, 65535)},
    token={"envvar": "DESIM_TOKEN"},
    records={"type": click.Path()},
    seeds={"callback": None},
    starts={"type": click.Path()},
    max_sessions={"type": click.IntRange(1, 10_000)},
    max_decisions={"type": click.IntRange(min=1)},
    package={"type": click.Path()},
    key={"type": click.Path(path_type=Path), "callback": None},
    password={"option": "--password-env", "metavar": "VARIABLE"},
    out={"type": click.Path(path_type=Path)},
    hours={"type": click.IntRange(1, 8760)},
)
def command(options: ServeOptions, served: ServedModel) -> None:
    """Serve MODEL to agents: --mcp for the Model Context Protocol, --openenv for OpenEnv.

    An agent begins an episode, and answers its observations by actions. The server listens on the
    loopback interface unless --host names another; Ctrl-C stops it.
    """
    _check_protocol(options)
    mcp, package = options.mcp, options.package
    adapter = _adapter("mcp" if mcp else "openenv.package" if package else "openenv.server")
    if options.sealed:
        _serve_sealed(options, served)
        return
    # Standard output belongs to the protocol from the start: a user's module may print.
    with contextlib.redirect_stdout(sys.stderr) if options.stdio else contextlib.nullcontext():
        setup = _setup(options)
    where = given(served)
    if mcp:
        from desim.adapters.seat.episodes_of import chosen_seeds

        seeds = chosen_seeds(options.seeds) if options.seeds else ()
        as_json = options.as_json
        adapter.serve(setup, stdio=options.stdio, as_json=as_json, seeds=seeds, **where)
    elif package:
        adapter.write(setup, package)
    else:
        adapter.serve(setup, no_token=options.no_token, **where)


def _check_protocol(options: ServeOptions) -> None:
    """Check options that exclude each other.

    Raises:
        UsageError: Two such options are given together, or no protocol is given.
    """
    mcp = options.mcp
    if mcp == options.openenv:
        both = "both were given" if mcp else "neither was given"
        raise UsageError(f"give one of --mcp and --openenv; {both}")
    if options.stdio and not mcp:
        raise UsageError("--stdio goes with --mcp; OpenEnv is spoken over HTTP and web sockets")
    if options.as_json and (options.stdio or not mcp):
        raise UsageError("--json goes with --mcp over HTTP, which has an address to print")
    if options.sealed and (not mcp or options.seeds or options.starts or options.seats):
        raise UsageError("--sealed goes with --mcp, and without --seeds, --starts and --seats")
    if options.package and mcp:
        raise UsageError("--package goes with --openenv")
    if options.seeds and not mcp:
        raise UsageError("--seeds goes with --mcp; OpenEnv has tasks, whose seeds are known")
    if options.no_token and mcp:
        raise UsageError("--no-token goes with --openenv; clients of --mcp always send a token")


def _serve_sealed(options: ServeOptions, served: ServedModel) -> None:
    """Serve sealed sessions of a suite.

    Raises:
        UsageError: The key, the folder or the suite is missing or wrong.
    """
    from desim.suites.suite_file import suite_content
    from desim.verification.hosting.sealed_host import SealedHost
    from desim.verification.sealed.sealed_suite import SealedSuite
    from desim.verification.signed.keys import password_of, read_private

    if options.key is None or options.out is None:
        raise UsageError("--sealed needs --key K.pem (desim key new) and --out FOLDER")
    path = Path(str(options.model))
    sealed, serving = _adapter("mcp.sealed"), _adapter("mcp.serving")
    with contextlib.redirect_stdout(sys.stderr) if options.stdio else contextlib.nullcontext():
        key = read_private(options.key, password_of(options.password))
        suite = SealedSuite.read(suite_content(path), path)
        host = SealedHost(options.out, suite, key, options.hours * 3600)
    at = {"host": served.host, "port": served.port, "token": served.token}
    where = serving.Where(stdio=options.stdio, as_json=options.as_json, **at)
    sealed.serve_sealed(host, suite, where)


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
