"""`desim run`: one episode, or a series of them with the same policies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click
from attrs import evolve, frozen

from desim.cli.options import PrintOptions, Spending, command
from desim.cli.tables import print_episode, print_json
from desim.episodes.driver import PlayOptions, play
from desim.episodes.series import InSeries, SeriesOptions, series
from desim.episodes.usage import default_share, is_played, unplayed_roles
from desim.errors import LimitReached, PolicyFailed, UsageError
from desim.reports.record.plots import check_episode_plot, plot_episode
from desim.schema.signatures import given
from desim.show.labels import NOTHING, number_text
from desim.statistics.intervals import moments

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


@command("run", series=None, episodes={"type": click.IntRange(min=1, max=MAX_EPISODES)})
def run_command(options: PlayOptions, spending: Spending, shown: RunPrintOptions) -> None:
    """Play one episode of MODEL, or a series. Without a policy, greedy plays its default roles.

    A series prints a line for each episode as soon as it has ended and a last line for all; with
    --json each is an object, and the last one has the mean score, its spread and the usage.
    """
    options = evolve(
        options,
        model=options.build(),
        preset="",
        set=None,
        policies="greedy" if options.policies is None else options.policies,
    )
    with spending.limited():
        if shown.episodes is None:
            _run_episode(options, shown)
        else:
            _run_series(options, shown.episodes, shown)


def _run_episode(options: PlayOptions, shown: RunPrintOptions) -> None:
    """Play one episode and print how it ended.

    Raises:
        click.UsageError: The record is a directory.
    """
    drawn, record, as_json = shown.plot is not None, options.record, shown.as_json
    if record and Path(record).is_dir():
        text = f"--record: {str(record)!r} is a directory; --episodes N records a series there"
        raise click.UsageError(text, click.get_current_context())
    if shown.plot:
        check_episode_plot(options.build(), shown.plot)
    try:
        episode = play(**given(evolve(options, keep_steps=drawn, series=drawn)))
    except KeyboardInterrupt:
        if record:
            raise KeyboardInterrupt(f"stopped; desim resume {record} goes on") from None
        raise
    print_episode(episode, as_json=as_json, record=record, trace=options.trace)
    if shown.plot:  # at the end, because it may fail
        plot_episode(episode, shown.plot)
        if not as_json:
            click.echo(f"drawn in {shown.plot}", err=True)


def _run_series(options: PlayOptions, count: int, shown: RunPrintOptions) -> None:
    """Play a series, or continue the one in a folder, and print every episode as it ends.

    Raises:
        UsageError: An option belongs to one episode.
    """
    for option, file in {"--trace": options.trace, "--plot": shown.plot}.items():
        if file:
            raise UsageError(f"{option} shows one episode; leave out --episodes")
    record, as_json = options.record, shown.as_json
    how = SeriesOptions(
        options.model,
        options.policies,
        range(options.seed, options.seed + count),
        record=record,
        limits=options.limits,
        resume=record is not None,
    )
    try:
        _print_series(series(how, last_events=options.last_events), count, as_json=as_json)
    except (KeyboardInterrupt, PolicyFailed, LimitReached) as fault:
        way_on = "the same command goes on, and pays for no reply twice"
        if not record:
            way_on = "nothing was recorded: with --record DIR the same command goes on"
        fault.args = (f"{str(fault) or 'stopped'}; {way_on}",)
        raise
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)


def _print_series(played: Iterable[InSeries], count: int, *, as_json: bool) -> None:
    """Print each episode as soon as it has ended, and then a line or an object for all."""
    scores, used = [], Counter[str]()
    for one in played:
        assert one.episode.result is not None
        usage = Counter[str]()
        for of_role in one.episode.result.usage.values():
            usage.update(of_role)
        used.update(usage)
        scores.append(one.episode.score)
        if as_json:
            file = str(one.file) if one.file else None
            place = {"episode": one.number, "record": file, "was_recorded": one.was_recorded}
            print_json(place | one.episode.summary())
        else:
            click.echo(", ".join(_parts(one, count, usage)))
    mean, sd = moments(scores)
    if as_json:
        figures = {"mean": mean, "sd": sd, "min": min(scores), "max": max(scores)}
        print_json({"episodes": len(scores), "score": figures, "usage": used})
        return
    summary = (
        f"{len(scores):,} episodes: mean score {number_text(mean)}",
        f"standard deviation {NOTHING if sd is None else number_text(sd)}",
        f"from {number_text(min(scores))} to {number_text(max(scores))}",
        *_spent(used, played=is_played(used)),
    )
    click.echo(", ".join(summary))


def _parts(one: InSeries, count: int, usage: Mapping[str, int]) -> Iterator[str]:
    """Yield the parts of the line of an episode."""
    episode, end = one.episode, one.episode.result
    assert end is not None
    yield f"episode {one.number} of {count}: score {number_text(episode.score)}"
    yield episode.ended
    yield f"seed {episode.header.seed}"
    yield f"{end.decisions:,} decision{'s' if end.decisions != 1 else ''}"
    yield from _spent(usage, played=not unplayed_roles(end.usage))
    if one.was_recorded:
        yield "on record already"


def _spent(usage: Mapping[str, int], *, played: bool) -> Iterator[str]:
    """Yield texts of the sums of usage; none for policies without usage."""
    if usage["calls"]:
        yield f"{number_text(usage['calls'])} calls"
        yield f"{number_text(usage['prompt_tokens'] + usage['completion_tokens'])} tokens"
    if usage["cost"]:
        yield f"cost {number_text(usage['cost'])}"
    if default_share(usage):
        defaults = f"{usage['default_actions']:,} of {usage['decisions']:,} decisions by default"
        yield defaults if played else f"{defaults} (not played)"
