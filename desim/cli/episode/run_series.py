"""`desim run --episodes`: a series of episodes with the same policies."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from desim.core.result import Result
from desim.episodes.driver import PlayOptions
from desim.episodes.series import InSeries, SeriesOptions, series
from desim.episodes.usage import default_share, is_played, unplayed_roles
from desim.errors import LimitReached, PolicyFailed
from desim.records.episode import Episode
from desim.show.labels import NOTHING, number_text
from desim.statistics.intervals import moments


def run_series(options: PlayOptions, seeds: range, *, as_json: bool) -> None:
    """Play a series, or continue the one in a folder, and print every episode as it ends.

    With *as_json* it prints an object for each episode and a last one for all episodes.

    Raises:
        UsageError: `desim.play_series` refuses an argument.
        PolicyFailed: A policy failed, for instance because a server does not answer. The texts of
            this error and of the next two say how to continue.
        LimitReached: An episode or the command has used up a limit.
        KeyboardInterrupt: Ctrl-C.
    """
    record = options.record
    how = SeriesOptions(
        options.model,
        options.policies,
        seeds,
        record=record,
        limits=options.limits,
        resume=record is not None,
    )
    played = series(how, last_events=options.last_events)
    try:
        if as_json:
            _print_json(played)
        else:
            _print(played, len(seeds))
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
    """Return a sentence on how to continue a series that has stopped."""
    if record:
        return f"the same command goes on with the series in {record}, and pays for no reply twice"
    return "nothing was recorded: with --record DIR the same command goes on"


def _print_json(played: Iterable[InSeries]) -> None:
    """Print an object for each episode as soon as it has ended, and then one for all."""
    scores, used = [], Counter[str]()
    for one in played:
        scores.append(one.episode.score)
        used.update(_usage(one.episode))
        click.echo(msgspec.json.encode(_plain(one)))
    mean, sd = moments(scores)
    figures = {"mean": mean, "sd": sd, "min": min(scores), "max": max(scores)}
    click.echo(msgspec.json.encode({"episodes": len(scores), "score": figures, "usage": used}))


def _plain(one: InSeries) -> dict[str, Any]:
    file = str(one.file) if one.file else None
    place = {"episode": one.number, "record": file, "was_recorded": one.was_recorded}
    return place | one.episode.summary()


def _print(played: Iterable[InSeries], count: int) -> None:
    """Print a line for each episode as soon as it has ended, and then a line for all."""
    scores, used = [], Counter[str]()
    for one in played:
        scores.append(one.episode.score)
        usage = _usage(one.episode)
        used.update(usage)
        click.echo(", ".join(_parts(one, count, usage)))
    click.echo(", ".join(_summary(scores, used)))


def _parts(one: InSeries, count: int, usage: Counter[str]) -> Iterator[str]:
    episode = one.episode
    yield f"episode {one.number} of {count}: score {number_text(episode.score)}"
    yield episode.ended
    yield f"seed {episode.header.seed}"
    decisions = _result(episode).decisions
    yield f"{decisions:,} decision{'s' if decisions != 1 else ''}"
    yield from _spent(usage, played=not unplayed_roles(_result(episode).usage))
    if one.was_recorded:
        yield "on record already"


def _summary(scores: list[float], used: Counter[str]) -> Iterator[str]:
    mean, sd = moments(scores)
    yield f"{len(scores):,} episodes: mean score {number_text(mean)}"
    yield f"standard deviation {NOTHING if sd is None else number_text(sd)}"
    yield f"from {number_text(min(scores))} to {number_text(max(scores))}"
    yield from _spent(used, played=is_played(used))


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


def _result(episode: Episode) -> Result:
    assert episode.result is not None
    return episode.result


def _usage(episode: Episode) -> Counter[str]:
    total = Counter[str]()
    for of_role in _result(episode).usage.values():
        total.update(of_role)
    return total
