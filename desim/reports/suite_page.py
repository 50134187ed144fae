"""The report about a suite: its tables, with what papers print beside ours."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from desim.core.roles import with_knowledge
from desim.engine.store import Store
from desim.episodes.usage import default_share
from desim.reports.charts import dots
from desim.reports.page import Figure, Given, Page, Section, cleaned, facts_table
from desim.show.labels import NOTHING, number_text
from desim.show.table import Table
from desim.suites.result_table import by_knowledge, result_table
from desim.suites.results import SuiteLine, results
from desim.suites.suite_folder import Outcomes, Played, ended_episodes, read_folder, used
from desim.suites.suite_plan import Plan

#: Entries of a figure, and errors, that are shown.
_MOST_SHOWN, _MOST_ERRORS = 40, 50


def suite_page(path: Path) -> Page:
    """Return the report about the suite in a folder.

    Raises:
        UsageError: The folder holds none, or its suite cannot be read.
    """
    plan, outcomes = read_folder(path)
    lines, spent = results(plan, outcomes), used(outcomes)
    ended = sum(map(ended_episodes, outcomes.values()))
    lead = (
        (
            f"{ended:,} of {plan.episodes:,} episodes have ended; "
            f"{number_text(spent.get('cost', 0.0))} spent in {spent.get('calls', 0.0):,.0f} calls."
        ),
    )
    worlds = [
        Section.of(world, [_world(world, mine)])
        for world in plan.shown
        if (mine := [line for line in lines if line.world == world])
    ]
    sections = [
        *worlds,
        Section.of("Episodes that failed, were cut or not played", _stopped(outcomes)),
        Section.of("What was played", [facts_table(_facts(plan, path)), _identity(path)]),
    ]
    return Page.of(plan.suite.title or f"Suite in {path.name}", lead, sections)


def _world(name: str, lines: Sequence[SuiteLine]) -> Given:
    """Return the table of a world, below a picture of its first column of means."""
    lines = by_knowledge(lines)
    table, shown = _table(name, lines), lines[:_MOST_SHOWN]
    means = [line.main.estimate for line in shown]
    if not any(means):
        return table
    head, published = lines[0].main.head, [_number(line.main.published) for line in shown]
    return Figure(
        f"{head}: mean of each entry with its 95 % interval",
        dots(
            [_marked(line) for line in shown],
            means,
            head,
            published if any(n is not None for n in published) else (),
        ),
        f"Means of {head} with intervals of {len(shown)} entries.",
        table,
    )


def _table(name: str, lines: Sequence[SuiteLine]) -> Table:
    """Return the table that `desim bench` prints, with marks for what is left out of means."""
    table = result_table(name, lines)
    each = [[_marked(line), *values[1:]] for line, values in zip(lines, table.lines, strict=True)]
    legend = [*table.legend]
    if any(map(_is_partial, lines)):
        legend.append(
            "*: episodes that a limit has cut, that failed, that mostly took the default action or "
            "that are not played yet are in no mean, so the means are over fewer episodes than "
            "the suite asks for"
        )
    return cleaned(table.heads, each, notes=table.notes, legend=legend)


def _stopped(outcomes: Outcomes) -> Iterator[Given]:
    each = [
        (str(job), played.episode, played.state, played.error or played.limit or _defaults(played))
        for job, of_job in outcomes.items()
        for played in of_job
        if played.state in {"failed", "cut", "not played"}
    ]
    if each:
        yield cleaned(
            ["job", "episode", "state", "reason"], each, left=(0, 2, 3), most=_MOST_ERRORS
        )


def _defaults(played: Played) -> str:
    share = f"{default_share(played.usage) or 0.0:.0%} of its decisions took the default action"
    return share + f", most of {' and '.join(played.unplayed)}" * bool(played.unplayed)


def _facts(plan: Plan, path: Path) -> Iterator[tuple[str, object]]:
    yield "read from", path
    yield "suite", plan.path
    yield "command", f"desim bench {plan.path} --out {path}"
    for name, world in plan.suite.worlds.items():
        played = {job.seed for job in plan.jobs if job.world == name}
        seeds = f"{len(played):,} seeds from {min(played, default=0)} on"
        repeats = f", {world.repeats:,} repeats" if (world.repeats or 1) > 1 else ""
        yield f"world {name}", f"{world.model}, {seeds}{repeats}"
    for name, table in plan.suite.entries.items():
        where = f"model {table.model} at {_host(table.base_url)}" if table.model else ""
        policy = f"policy {table.policy}" if table.policy else ""
        yield f"entry {name}", ", ".join(filter(None, [where, policy]))


def _host(address: str) -> str:
    """Return the host of an address, which may hold a password that a report must not pass on."""
    with contextlib.suppress(ValueError):
        return urlsplit(address).hostname or NOTHING
    return NOTHING


def _identity(path: Path) -> Table:
    with Store(path, read=True) as store:
        topics = store.shown_topics()
    return cleaned(["what determines the episodes", "value"], topics.items(), (0, 1))


def _marked(line: SuiteLine) -> str:
    name = with_knowledge(line.entry, line.knows)
    return f"{name} *" if _is_partial(line) else name


def _is_partial(line: SuiteLine) -> bool:
    return any(line.counts[state] for state in ("cut", "not played", "failed", "open"))


def _number(text: str) -> float | None:
    """Return what a paper prints if it is a plain number; a unit may mean another scale."""
    with contextlib.suppress(ValueError):
        return float(text.replace(",", ""))
    return None
