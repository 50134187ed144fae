"""The command line: data on standard output, people's progress and errors on standard error.

Exit codes: 0 done, 1 a run failed or a replay differs, 2 wrong usage, 130 stopped by Ctrl-C.
"""

import sys
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from desim import __version__, catalog
from desim.errors import DesimError, UsageError
from desim.log import LEVELS, configure
from desim.seating import read_seats

__all__ = ["main"]


class _Command(click.Group):
    """Turns our errors into one sentence and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DesimError as fault:
            if ctx.params.get("debug"):
                raise
            _fail(str(fault), 2 if isinstance(fault, UsageError) else 1)


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
    from desim.play import play

    world = catalog.model(model, preset, _pairs(sets))
    episode = play(world, read_seats(specs or ("greedy",)), seed, record=record)
    if as_json:
        click.echo(msgspec.json.encode(episode.summary()))
    else:
        from desim import show

        show.episode(episode)
        if record:
            click.echo(f"recorded in {record}", err=True)


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
