"""Tables of several commands: the end of an episode, the result of a study, JSON."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from desim.core.roles import with_knowledge
from desim.episodes.usage import default_share, is_played
from desim.records.episode import Episode
from desim.show.column import Column
from desim.show.console import console
from desim.show.table import Table

#: Metrics of a part of a world that a table shows.
_OF_PART = 4


def print_json(value: Any) -> None:
    """Print a value as a line of JSON."""
    click.echo(msgspec.json.encode(value))


def print_found(found: Any, *, as_json: bool) -> None:
    """Print the result of a study: its tables, or what its `plain()` returns as a line of JSON."""
    if as_json:
        print_json(found.plain())
    else:
        console().print(found)


def print_episode(
    episode: Episode,
    *,
    as_json: bool,
    record: str | Path | None = None,
    trace: str | Path | None = None,
) -> None:
    """Print what was played and how it ended, as a table or as one line of JSON.

    Where there is a table, the files that were written are named on stderr.
    """
    if as_json:
        print_json(episode.summary())
    else:
        console().print(_episode_table(episode))
    if episode.result and episode.result.dead_end:
        click.echo(f"desim: {episode.result.dead_end}", err=True)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)
    if trace and not as_json:
        click.echo(f"traced in {trace}, which https://ui.perfetto.dev opens", err=True)


def _episode_table(episode: Episode) -> Table:
    """Return a table with only the first metrics of each part of a world."""
    head, end = episode.header, episode.result
    policies = ", ".join(
        f"{role}={with_knowledge(spec, head.knows.get(role))}"
        for role, spec in head.policies.items()
    )
    facts: dict[str, Any] = {"model": head.model, "preset": head.preset, "seed": head.seed}
    facts["policies"] = policies or "none"
    if end is None:
        facts["ended"] = f"failed: {episode.failure.error}" if episode.failure else "cut"
    else:
        facts |= {"score": end.score, "ended": end.ended, "decisions": end.decisions}
        if defaults := _defaults_text(end.usage):
            facts["defaults"] = defaults
        facts |= (shown := _first_of_parts(end.metrics))
        if more := len(end.metrics) - len(shown):
            facts["more metrics"] = f"{more:,}; --json prints all"
        facts["ledger digest"] = (end.ledger_digest or "none")[:16]
    if episode.resumed:
        facts["resumed after decision"] = ", ".join(map(str, episode.resumed))
    columns = {name: episode.metric_columns.get(name, Column()) for name in facts}
    lines = ((columns[name].key(name), columns[name].text(v)) for name, v in facts.items())
    return Table((), lines, (0, 1))


def _first_of_parts(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics without those that would fill screens.

    The name of a metric of a part begins with the part and a dot; of each part the first few stay,
    which are its score and its end.
    """
    seen = Counter[str]()
    shown = {}
    for name, value in metrics.items():
        part, dot, _ = name.partition(".")
        seen[part] += bool(dot)
        if seen[part] <= _OF_PART:
            shown[name] = value
    return shown


def _defaults_text(usage: Mapping[str, Mapping[str, float]]) -> str:
    """Return how many decisions of each role were its default action; empty if none were."""
    return "; ".join(
        f"{role} {each['default_actions']:,.0f} of {each['decisions']:,.0f} decisions"
        + ("" if is_played(each) else ", not played")
        for role, each in usage.items()
        if default_share(each)
    )
