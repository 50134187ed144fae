"""`desim run`: one episode, or a series of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve, frozen

from desim.cli.exit_codes import warnings_as_sentences
from desim.cli.options import PrintOptions, Spending
from desim.cli.options import command as command_of
from desim.episodes.driver import PlayOptions, play
from desim.errors import PolicyWarning, UsageError
from desim.schema.signatures import given

if TYPE_CHECKING:  # `desim --help` imports no more than it prints
    from desim.records.episode import Episode


#: Episodes of a series; their files are numbered with three digits.
MAX_EPISODES = 999


@frozen
class RunPrintOptions(PrintOptions):
    """The number of episodes, and the picture of one.

    Attributes:
        episodes: Play a series of so many episodes with the same policies, which may learn in
            between; the seeds are SEED, SEED + 1 and so on. --record is then a folder with a file
            an episode: the same command goes on with it, and pays for no reply twice.
        plot: Draw the series of the episode with its decisions; a new .png, .svg or .pdf file.
    """

    episodes: int | None = None
    plot: str | None = None


@command_of(
    "run",
    without=["keep_steps", "keep_state", "series"],
    episodes={"type": click.IntRange(min=1, max=MAX_EPISODES)},
)
def command(options: PlayOptions, spending: Spending, shown: RunPrintOptions) -> None:
    """Play one episode of MODEL, or a series. Without a policy, greedy plays its default roles.

    A series prints a line for each episode as soon as it has ended and a last line for all; with
    --json each is an object, and the last one has the mean score, its spread and the usage.
    """
    _check_options(options, shown)
    options = evolve(
        options,
        model=options.build(),
        preset="",
        set=None,
        policies="greedy" if options.policies is None else options.policies,
    )
    if shown.plot:
        from desim.reports.record.episode_plot import check_episode_plot

        check_episode_plot(options.build(), shown.plot)
    with spending.limited(), warnings_as_sentences(PolicyWarning):
        if shown.episodes is None:
            _run_episode(options, shown)
            return
        from desim.cli.episode.run_series import run_series

        seeds = range(options.seed, options.seed + shown.episodes)
        run_series(options, seeds, as_json=shown.as_json)


def _run_episode(options: PlayOptions, shown: RunPrintOptions) -> None:
    """Play one episode and print how it ended."""
    from desim.cli.tables import print_episode, print_traced

    drawn, record, as_json = shown.plot is not None, options.record, shown.as_json
    try:
        episode = play(**given(evolve(options, keep_steps=drawn, series=drawn)))
    except KeyboardInterrupt:
        if record:
            raise KeyboardInterrupt(f"stopped; desim resume {record} goes on") from None
        raise
    print_episode(episode, as_json=as_json)
    if episode.result and (sentence := episode.result.dead_end):
        click.echo(f"desim: {sentence}", err=True)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)
    print_traced(options.trace, as_json=as_json)
    if shown.plot:
        _draw(episode, shown.plot, as_json=as_json)


def _check_options(options: PlayOptions, shown: RunPrintOptions) -> None:
    """Check options that exclude each other.

    Raises:
        UsageError: Two such options are given together.
    """
    record = options.record
    if record and shown.episodes is None and Path(record).is_dir():
        text = f"--record: {str(record)!r} is a directory; --episodes N records a series there"
        raise click.UsageError(text, click.get_current_context())
    for option, file in {"--trace": options.trace, "--plot": shown.plot}.items():
        if file and shown.episodes is not None:
            raise UsageError(f"{option} shows one episode; leave out --episodes")


def _draw(episode: "Episode", plot: str, *, as_json: bool) -> None:
    """Draw the series of an episode; called last, because it may fail."""
    from desim.reports.record.episode_plot import plot_episode

    plot_episode(episode, plot)
    if not as_json:
        click.echo(f"drawn in {plot}", err=True)
