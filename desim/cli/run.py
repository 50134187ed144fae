"""`desim run`: one episode, or a series of them with the same policies."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from attrs import evolve, frozen

from desim.cli.exit_codes import warnings_as_sentences
from desim.cli.options import PrintOptions, Spending, command
from desim.episodes.driver import PlayOptions, play
from desim.episodes.series import InSeries, SeriesOptions, series
from desim.episodes.usage import default_share, is_played, unplayed_roles
from desim.errors import LimitReached, PolicyFailed, PolicyWarning, UsageError
from desim.schema.signatures import given
from desim.show.labels import NOTHING, number_text

if TYPE_CHECKING:  # commands start fast
    from desim.core.result import Result
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


@command(
    "run",
    without=["keep_steps", "keep_state", "series"],
    episodes={"type": click.IntRange(min=1, max=MAX_EPISODES)},
)
def run_command(options: PlayOptions, spending: Spending, shown: RunPrintOptions) -> None:
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
        seeds = range(options.seed, options.seed + shown.episodes)
        _run_series(options, seeds, as_json=shown.as_json)


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


def _run_series(options: PlayOptions, seeds: range, *, as_json: bool) -> None:
    """Play a series, or continue the one in a folder, and print every episode as it ends."""
    record = options.record
    how = SeriesOptions(
        options.model,
        options.policies,
        seeds,
        record=record,
        limits=options.limits,
        resume=record is not None,
    )
    try:
        _print_series(series(how, last_events=options.last_events), len(seeds), as_json=as_json)
    except KeyboardInterrupt:
        if record:
            raise KeyboardInterrupt("stopped; the same command goes on") from None
        raise
    except (PolicyFailed, LimitReached) as fault:
        again = type(fault)(f"{fault}; {_way_on(record)}")
        for note in getattr(fault, "__notes__", ()):
            again.add_note(note)
        raise again from fault
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)


def _way_on(record: str | Path | None) -> str:
    if record:
        return f"the same command goes on with the series in {record}, and pays for no reply twice"
    return "nothing was recorded: with --record DIR the same command goes on"


def _print_series(played: Iterable[InSeries], count: int, *, as_json: bool) -> None:
    """Print each episode as soon as it has ended, and then a line or an object for all."""
    from desim.statistics.intervals import moments

    scores, used = [], Counter[str]()
    for one in played:
        usage = _usage(one.episode)
        scores.append(one.episode.score)
        used.update(usage)
        click.echo(_plain(one) if as_json else ", ".join(_parts(one, count, usage)))
    mean, sd = moments(scores)
    if as_json:
        figures = {"mean": mean, "sd": sd, "min": min(scores), "max": max(scores)}
        total = {"episodes": len(scores), "score": figures, "usage": used}
        click.echo(msgspec.json.encode(total))
        return
    summary = (
        f"{len(scores):,} episodes: mean score {number_text(mean)}",
        f"standard deviation {NOTHING if sd is None else number_text(sd)}",
        f"from {number_text(min(scores))} to {number_text(max(scores))}",
        *_spent(used, played=is_played(used)),
    )
    click.echo(", ".join(summary))


def _plain(one: InSeries) -> bytes:
    file = str(one.file) if one.file else None
    place = {"episode": one.number, "record": file, "was_recorded": one.was_recorded}
    return msgspec.json.encode(place | one.episode.summary())


def _parts(one: InSeries, count: int, usage: Counter[str]) -> Iterator[str]:
    episode, decisions = one.episode, _result(one.episode).decisions
    yield f"episode {one.number} of {count}: score {number_text(episode.score)}"
    yield episode.ended
    yield f"seed {episode.header.seed}"
    yield f"{decisions:,} decision{'s' if decisions != 1 else ''}"
    yield from _spent(usage, played=not unplayed_roles(_result(episode).usage))
    if one.was_recorded:
        yield "on record already"


def _spent(usage: Counter[str], *, played: bool) -> Iterator[str]:
    """Yield texts of the sums of usage; none for policies without usage."""
    if usage["calls"]:
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        yield f"{number_text(usage['calls'])} calls"
        yield f"{number_text(tokens)} tokens"
    if usage["cost"]:
        yield f"cost {number_text(usage['cost'])}"
    if default_share(usage):
        defaults = f"{usage['default_actions']:,} of {usage['decisions']:,} decisions by default"
        yield defaults if played else f"{defaults} (not played)"


def _result(episode: "Episode") -> "Result":
    assert episode.result is not None
    return episode.result


def _usage(episode: "Episode") -> Counter[str]:
    total = Counter[str]()
    for of_role in _result(episode).usage.values():
        total.update(of_role)
    return total
