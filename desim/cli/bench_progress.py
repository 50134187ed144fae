"""The progress of a suite: a live table on a terminal, else lines; also from another terminal."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import click
import msgspec

from desim.errors import UsageError
from desim.show.labels import duration_text, number_text

if TYPE_CHECKING:  # commands start fast
    from rich.console import Group

    from desim.engine.keep.outcome import JobOutcome
    from desim.engine.record_job import RecordJob
    from desim.suites.status import Status


#: Seconds between two status files, and after which a status without an end is that of a command
#: that was killed.
_PACE, _OLD = 1.0, 30.0

#: Episodes under way that the table shows.
_SHOWN = 20

#: Shows a status.
Show = Callable[["Status"], None]


def line(job: "RecordJob", outcome: "JobOutcome", status: "Status") -> str:
    """Return one line for a job that has ended."""
    what = outcome.error or outcome.limit
    score = "" if outcome.score is None else f" score {number_text(outcome.score)}"
    reason = f" ({what})" if what else ""
    in_a_row = _in_a_row(outcome) if job.is_series else ""
    return f"{job.name}: {outcome.state}{score}{reason}{in_a_row}; {_sums(status)}"


def _in_a_row(outcome: "JobOutcome") -> str:
    """Return how many episodes of a series ended, and their mean score."""
    done = [one.score for one in outcome.episodes if one.state == "done" and one.score is not None]
    mean = f", mean score {number_text(fmean(done))}" if done else ""
    states = Counter(one.state for one in outcome.episodes if one.state != "done")
    left_out = "".join(f", {count} {state}" for state, count in sorted(states.items()))
    return f", {len(outcome.episodes)} episodes ended{mean}{left_out}"


@contextmanager
def progress_shown(path: Path, now: "Callable[[], Status]") -> "Iterator[Callable[[], None]]":
    """Show and write the status; yield what is to be called several times a second.

    Args:
        path: The file of the status.
        now: Returns the present status.
    """
    last = 0.0
    with _live() as show:

        def tick() -> None:
            nonlocal last
            if time.monotonic() - last >= _PACE:
                last = time.monotonic()
                status = now()
                _write(path, status)
                show(status)

        try:
            yield tick
        finally:
            _write(path, msgspec.structs.replace(now(), finished=True, running=[]))


def watch(path: Path) -> None:
    """Show the status of a suite that another process plays, until that ends.

    Raises:
        UsageError: No command has written a status there.
    """
    with _live(sys.stdout) as show:
        while (status := _status_in(path)) is not None:
            show(status)
            if status.finished or time.time() - status.time > _OLD:
                break
            time.sleep(_PACE)
        else:
            raise UsageError(f"no command plays there: there is no {path}")
    if not status.finished:
        click.echo("its command has ended without a word; the same command goes on", err=True)


@contextmanager
def _live(stream: object = None) -> Iterator[Show]:
    """Yield what shows a status: in place on a terminal; elsewhere in lines, if it has changed."""
    from rich.live import Live

    from desim.show.console import SafeConsole

    console = SafeConsole(stderr=stream is None, highlight=False)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=stream is None) as live:
            yield lambda status: live.update(table(status), refresh=True)
    else:
        said = [""]

        def say(status: "Status") -> None:
            # The command prints a line for each episode; nothing else tells.
            text = "" if stream is None else _sums(status)
            if said[-1] != text:
                said.append(text)
                click.echo(text, err=stream is None)

        yield say


def table(status: "Status") -> "Group":
    """Return the jobs that run, and the sums below."""
    from rich.console import Group

    from desim.show.estimates import short_cell
    from desim.show.table import Printed, Table

    heads = ["episode", "decisions", "score", "calls", "tokens", "cost"]
    rows = [
        [
            one.job + (f", {one.episode} of {one.episodes}" if one.episodes > 1 else ""),
            one.decisions,
            one.score,
            one.calls,
            Printed(one.tokens, f"{one.tokens:,.0f}"),
            short_cell(one.cost),
        ]
        for one in status.running[:_SHOWN]
    ]
    more = len(status.running) - _SHOWN
    rest = [f"and {more} more"] if more > 0 else []
    jobs = [Table(heads, rows)] if rows else []
    return Group(*jobs, *rest, _sums(status))


def _sums(status: "Status") -> str:
    """Return the sums of a status in one line."""
    failed = f", {status.failed} failed" if status.failed else ""
    expected = "" if not status.expected else f" of {status.spent + status.expected:.4g} expected"
    spent = f", {status.calls:,} calls, spent {status.spent:.4g}{expected}" if status.calls else ""
    left = "" if status.seconds_left is None else f", {duration_text(status.seconds_left)} left"
    done = status.ended == status.jobs
    return f"{status.ended} of {status.jobs} ended{failed}{spent}{'' if done else left}"


def _write(path: Path, status: "Status") -> None:
    """Replace the status file; a disk that is full must not end the suite."""
    part = path.with_name(f".{path.name}.part")
    with suppress(OSError):
        part.write_bytes(msgspec.json.encode(status))
        part.replace(path)


def _status_in(path: Path) -> "Status | None":
    from desim.suites.status import Status

    if not path.is_file():  # a pipe would have to be waited for
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Status)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as fault:
        raise UsageError(f"{path} cannot be read: {fault}") from None
