"""`desim run`: one episode, or a series of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from desim.cli.exit_codes import warnings_as_sentences
from desim.cli.options import (
    json_option,
    key_option,
    limit_options,
    model_argument,
    policy_option,
    preset_option,
    read_key_option,
    read_parameters,
    seed_option,
    set_option,
    spending_options,
    trace_option,
)
from desim.core.limits import Limits
from desim.core.observer import MAX_EVENTS
from desim.errors import PolicyWarning, UsageError

if TYPE_CHECKING:  # `desim --help` imports no more than it prints
    from desim.records.episode import Episode


#: Episodes of a series; their files are numbered with three digits.
MAX_EPISODES = 999


@click.command("run")
@model_argument
@preset_option
@set_option
@policy_option
@seed_option
@click.option(
    "--episodes",
    type=click.IntRange(min=1, max=MAX_EPISODES),
    help="Play a series of so many episodes with the same policies, which may learn in between; "
    "the seeds are SEED, SEED + 1 and so on.",
)
@click.option(
    "--record",
    type=click.Path(),
    help="Write the episode to a new file. Of a series, a folder with a file an episode: the same "
    "command goes on with it, and pays for no reply twice.",
)
@spending_options
@key_option
@limit_options
@trace_option
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    help="Draw the series of the episode with its decisions; a new .png, .svg or .pdf file.",
)
@click.option(
    "--trace-events",
    "last_events",
    type=click.IntRange(1, MAX_EVENTS),
    default=None,
    metavar="N",
    help="Print the last N events if the episode fails.",
)
@json_option
def command(
    *,
    model: str,
    preset: str,
    sets: tuple[str, ...],
    specs: tuple[str, ...],
    seed: int,
    episodes: int | None,
    record: str | None,
    key_file: str | None,
    limits: Limits | None,
    trace: str | None,
    plot: str | None,
    last_events: int | None,
    as_json: bool,
) -> None:
    """Play one episode of MODEL, or a series. Without a policy, greedy plays its default roles.

    A series prints a line for each episode as soon as it has ended and a last line for all; with
    --json each is an object, and the last one has the mean score, its spread and the usage.
    """
    from desim import catalog
    from desim.catalog.policy_spec import read_policies
    from desim.cli.tables import print_episode, print_traced
    from desim.episodes.driver import play

    _check_options(record=record, episodes=episodes, key_file=key_file, trace=trace, plot=plot)
    key = read_key_option(key_file)
    world = catalog.model(model, preset, read_parameters(sets))
    policies = read_policies(specs or ("greedy",))
    if plot:
        from desim.reports.record.episode_plot import check_episode_plot

        check_episode_plot(world, plot)
    if episodes is not None:
        from desim.cli.episode.run_series import run_series

        seeds = range(seed, seed + episodes)
        with warnings_as_sentences(PolicyWarning):
            run_series(
                world,
                policies,
                seeds,
                record=record,
                limits=limits,
                key=key,
                last_events=last_events or 0,
                as_json=as_json,
            )
        return
    try:
        with warnings_as_sentences(PolicyWarning):
            episode = play(
                world,
                policies,
                seed,
                record=record,
                limits=limits,
                keep_steps=plot is not None,
                series=plot is not None,
                key=key,
                trace=trace,
                last_events=last_events or 0,
            )
    except KeyboardInterrupt:
        if record:
            raise KeyboardInterrupt(f"stopped; desim resume {record} goes on") from None
        raise
    print_episode(episode, as_json=as_json)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)
    print_traced(trace, as_json=as_json)
    if plot:
        _draw(episode, plot, as_json=as_json)


def _check_options(
    *,
    record: str | None,
    episodes: int | None,
    key_file: str | None,
    trace: str | None,
    plot: str | None,
) -> None:
    """Check options that exclude each other.

    Raises:
        UsageError: Two such options are given together.
    """
    if key_file and not record:
        raise UsageError("--key signs a record; give --record FILE, too")
    if record and episodes is None and Path(record).is_dir():
        text = f"--record: {record!r} is a directory; --episodes N records a series there"
        raise click.UsageError(text, click.get_current_context())
    for option, file in {"--trace": trace, "--plot": plot}.items():
        if file and episodes is not None:
            raise UsageError(f"{option} shows one episode; leave out --episodes")


def _draw(episode: "Episode", plot: str, *, as_json: bool) -> None:
    """Draw the series of an episode; called last, because it may fail."""
    from desim.reports.record.episode_plot import plot_episode

    plot_episode(episode, plot)
    if not as_json:
        click.echo(f"drawn in {plot}", err=True)
