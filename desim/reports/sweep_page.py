"""The report about a sweep."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from desim.errors import UsageError
from desim.jobs.rows.rows import Rows
from desim.reports.effects import interactions, main_effects, over_parameters
from desim.reports.endings import endings, failures
from desim.reports.factors import swept, varied
from desim.reports.fans import series_fans
from desim.reports.leaderboards import leaderboard
from desim.reports.page import Page, Section, Table
from desim.reports.plans import plan
from desim.reports.running import still_running

__all__ = ["sweep_page"]

#: Worlds, which differ in model, preset or parameters, that have sections of their own.
_MOST_WORLDS = 12


def sweep_page(rows: Rows, path: Path, against: str = "") -> Page:
    """Return the report about a sweep.

    Args:
        rows: Its rows.
        path: Where they were read.
        against: The policy with which the others are compared; empty for the highest mean.

    Raises:
        UsageError: There are no rows, no policy *against*, or figures whose squares no float holds.
    """
    if not rows:
        raise UsageError(f"{path} holds no rows, so there is nothing to report")
    try:
        return _page(rows, path, against)
    except OverflowError:
        raise UsageError(f"{path} holds scores that are too large for a mean") from None


def _page(rows: Rows, path: Path, against: str) -> Page:
    factors = swept(rows)
    models = ", ".join(dict.fromkeys(map(str, rows.column("model"))))
    lead = (
        (
            f"{len(rows):,} episodes, of which {len(rows.failed):,} failed. "
            "Differences are paired by seed."
        ),
    )
    sections = [
        *_worlds(rows, against),
        Section.of("Score against each parameter", over_parameters(rows, factors)),
        Section.of("Main effects", main_effects(rows, factors)),
        Section.of("Interactions", interactions(rows, factors)),
        *_fans(rows),
        Section.of("How episodes ended", endings(rows)),
        Section.of("Failures", failures(rows)),
        Section.of("What was played", plan(rows, path)),
    ]
    return Page.of(f"Sweep of {models}", lead, sections)


def _worlds(rows: Rows, against: str) -> Iterator[Section]:
    """Yield a leaderboard for each world; scores of different ones have no common rank."""
    worlds = _by_world(rows)
    for name, each in islice(worlds.items(), _MOST_WORLDS):
        title = f"Leaderboard, {name}" if name else "Leaderboard"
        yield Section.of(title, leaderboard(each, against))
    if len(worlds) > _MOST_WORLDS:
        more = ([name, f"{len(each):,}"] for name, each in worlds.items())
        table = Table.of(["world", "episodes"], islice(more, _MOST_WORLDS, None))
        yield Section.of("Worlds without a leaderboard of their own", [table])


def _fans(rows: Rows) -> Iterator[Section]:
    for name, each in islice(_by_world(rows).items(), _MOST_WORLDS):
        title = f"Series, {name}" if name else "Series"
        yield Section.of(title, series_fans(each))
        title = f"Episodes still running, {name}" if name else "Episodes still running"
        yield Section.of(title, still_running(each))


def _by_world(rows: Rows) -> dict[str, Rows]:
    """Return the rows of each world by what tells it from the others."""
    names = varied(rows)
    if not names:
        return {"": rows}
    return {
        ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True)): each
        for key, each in rows.groups(*names.values()).items()
    }
