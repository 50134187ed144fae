"""The command line: data on standard output, people's progress and errors on standard error.

Exit codes: 0 done, 1 a run failed or a replay differs, 2 wrong usage, 130 stopped by Ctrl-C.
"""

import itertools
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from desim import Episode, __version__, catalog
from desim.errors import DesimError, UsageError
from desim.log import LEVELS, configure
from desim.seating import read_seats

__all__ = ["main"]


class _Command(click.Group):
    """Turns our errors into one sentence and an exit code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `--debug` and `--log-level` wherever they stand."""
        return super().parse_args(ctx, _hoisted(args))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except KeyboardInterrupt as stop:
            _fail(str(stop) or "stopped", 130)
        except Exception as fault:
            if ctx.params.get("debug"):
                raise
            _fail(_sentence(fault), 2 if isinstance(fault, UsageError) else 1)


def _hoisted(args: list[str]) -> list[str]:
    """Move the options that every command has to the front, where click looks for them."""
    front, rest, left = [], [], iter(args)
    for arg in left:
        if arg == "--debug" or arg.startswith("--log-level="):
            front.append(arg)
        elif arg == "--log-level":
            front += [arg, *itertools.islice(left, 1)]
        else:
            rest.append(arg)
    return front + rest


def _sentence(fault: Exception) -> str:
    """Say what went wrong; what we did not foresee is told with its type and where to look."""
    if isinstance(fault, DesimError):
        return str(fault)
    return f"{type(fault).__name__}: {fault} (desim --debug ... shows where)"


def _fail(sentence: str, code: int) -> NoReturn:
    click.echo(f"desim: {sentence}", err=True)
    sys.exit(code)


@click.group(cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="desim")
@click.option("--log-level", type=click.Choice(LEVELS), help="Write log lines to standard error.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(log_level: str | None, debug: bool) -> None:  # noqa: FBT001, ARG001 (click passes flags so)
    """Simulate business worlds in which somebody has to decide."""
    # A user's own models and policies lie in the current folder, as with `python -m`.
    sys.path.insert(0, str(Path.cwd()))
    if log_level:
        configure(log_level)


_preset = click.option("--preset", default="", help="A preset of the model; see `desim list`.")
_set = click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="A parameter.")
_policy = click.option(
    "--policy",
    "specs",
    multiple=True,
    metavar="[ROLE=]SPEC",
    help="NAME or module:Class[,KEY=VALUE]...",
)
_jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    help="Worker processes; default: one a core.",
)


@main.command("list")
def list_() -> None:
    """Show models with their presets and roles, and the policies that play them."""
    from desim import show

    show.catalog(catalog.models(), catalog.policies())


@main.command()
@click.argument("model")
@_preset
@_set
@_policy
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--record", type=click.Path(dir_okay=False), help="Write the episode to a new file.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON and nothing else.")
def run(
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    seed: int,
    record: str | None,
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play one episode of MODEL; without a policy, greedy takes the lead seats."""
    import asyncio

    from desim.play import play_async

    world = catalog.model(model, preset, _pairs(sets))
    episode = asyncio.run(play_async(world, read_seats(specs or ("greedy",)), seed, record=record))
    _show(episode, as_json=as_json)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL[/PRESET]]...")
@click.option("--seeds", default="0:20", show_default=True, help="A:B without B, or A,B,...")
@_jobs
def baselines(models: tuple[str, ...], seeds: str, jobs: int) -> None:
    """Play every baseline on every world and preset there is, and rank them."""
    from desim import show
    from desim.sweeps.asked import read_seeds
    from desim.sweeps.leaderboard import boards, everything

    names = everything(models)
    failed = 0
    with show.progress("baselines") as progress:
        for board in boards(names, read_seeds(seeds), jobs, progress):
            show.board(board)
            failed += len(board.rows.failed)
    if failed:
        _fail(f"{failed} episodes failed; `desim run` shows why", 1)


@main.command()
@click.argument("model", metavar="MODEL|FILE.toml")
@_preset
@_set
@_policy
@click.option("--seeds", default="", help="A:B without B, or A,B,...; default 0:20.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder that keeps every row.")
@_jobs
@click.option("--executor", help="dask=ADDRESS of a scheduler, instead of processes here.")
@click.option("--show", "figures", multiple=True, help="A figure of the table; default: score.")
@click.option("--against", help="The policy with which the others are compared.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows, one line of JSON each.")
def sweep(
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    seeds: str,
    out: str | None,
    jobs: int,
    executor: str | None,
    figures: tuple[str, ...],
    against: str | None,
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play MODEL with every policy, parameter and seed; `--set KEY=V1,V2` varies a parameter.

    Each `--policy` is one way to play; roles of one way are joined with +, as in
    `retailer=base_stock,target=24+factory=benchmark`. `--set policy.KEY=V1,V2` varies an argument
    of the policies. With `--out` a sweep that was stopped goes on where it was.
    """
    from desim import show
    from desim.sweeps.asked import asked

    plan = asked(model, preset, _pairs(sets), specs, seeds)
    with show.progress("sweep") as progress:
        rows = plan.play(jobs=jobs, out=out, executor=executor, progress=progress)
    if as_json:
        for row in rows:
            click.echo(msgspec.json.encode(row))
    else:
        show.rows(rows, figures or ("score",), against)
        if out:
            click.echo(f"rows are in {Path(out) / 'rows.csv'} and rows.jsonl", err=True)
    if rows.failed:
        _fail(f"{len(rows.failed)} of {len(rows)} episodes failed: {rows.failed[0]['error']}", 1)


@main.command()
@click.argument("file", type=click.Path())
def replay(file: str) -> None:
    """Play the answers of a record again and compare every step."""
    from desim.replay import replay as again

    episode = again(file)
    click.echo(
        f"{file}: {len(episode.steps)} decisions replayed, all the same; "
        f"score {episode.score:,.10g}, ended {episode.ended}"
    )


@main.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON and nothing else.")
def resume(file: str, as_json: bool) -> None:  # noqa: FBT001 (click passes flags so)
    """Play a record that was cut on to its end, in the same file.

    Nothing on record is asked of anybody again: no paid call is made twice.
    """
    import asyncio

    from desim.resume import resume_async

    _show(asyncio.run(resume_async(file)), as_json=as_json)


@main.command()
@click.argument("model")
@_preset
@_set
@click.option("--seat", "seats", multiple=True, metavar="ROLE", help="Yours; default: the lead's.")
@_policy
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--record", type=click.Path(dir_okay=False), help="Your game; gone on with if there.")
@click.option("--practice", is_flag=True, help="Let decisions be taken back.")
@click.option("--terminal", is_flag=True, help="Play here in plain text instead of on a page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where the page listens.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def play(
    model: str,
    preset: str,
    sets: tuple[str, ...],
    seats: tuple[str, ...],
    specs: tuple[str, ...],
    seed: int,
    record: str | None,
    practice: bool,  # noqa: FBT001 (click passes flags so)
    terminal: bool,  # noqa: FBT001 (as above)
    host: str,
    port: int,
    show: bool,  # noqa: FBT001 (as above)
) -> None:
    """Play MODEL yourself, on a page in the browser or with --terminal.

    Your answers are on record at once. The same command goes on where you stopped.
    """
    from desim.doors.game import Game

    world = catalog.model(model, preset, _pairs(sets))
    file = record or _own_record(model, preset, seed)
    with Game(world, seed, file, seats=seats, others=_others(specs), practice=practice) as game:
        if terminal:
            from desim.doors.terminal import converse

            converse(game)
        else:
            _page()(game, host, port, show=show)


def _own_record(model: str, preset: str, seed: int) -> str:
    """Name the file of a game that was given none, in the current folder."""
    name = "-".join(part for part in (model, preset, f"seed{seed}") if part)
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name) + ".play.jsonl"


def _others(specs: tuple[str, ...]) -> dict[str, Any]:
    """Read who plays the other seats.

    Raises:
        UsageError: A spec names no role: the seats that it would take are a person's.
    """
    policies = read_seats(specs)
    if isinstance(policies, str):
        raise UsageError(f"policy {policies!r} names no role; write ROLE={policies}")
    return dict(policies)


def _page() -> Any:
    """Load the page.

    Raises:
        UsageError: NiceGUI is not installed.
    """
    try:
        from desim.doors.page import serve
    except ModuleNotFoundError as fault:
        if fault.name != "nicegui":
            raise
        raise UsageError(
            "the page needs NiceGUI: pip install 'desim[play]', or play with --terminal"
        ) from None
    return serve


@main.command()
@click.argument("model")
@_preset
def schema(model: str, preset: str) -> None:
    """Print the JSON Schema of what each role of MODEL sees and does, and of its parameters."""
    from desim.schema import codec, json_schema

    world = catalog.model(model, preset)
    told = {
        "model": catalog.model_name(type(world)),
        "roles": {
            name: {"sees": json_schema(role.sees), "does": codec(role.does).json_schema()}
            for name, role in world.roles.items()
        },
        "params": json_schema(type(world)),
    }
    click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))


def _show(episode: Episode, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(episode.summary()))
    else:
        from desim import show

        show.episode(episode)


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """Split KEY=VALUE texts.

    Raises:
        UsageError: One has no key or no equals sign, or a key comes twice.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(f"--set {text!r} is not KEY=VALUE")
        if key in pairs:
            raise UsageError(f"--set {key} was given twice: {pairs[key]!r} and {value!r}")
        pairs[key] = value
    return pairs
