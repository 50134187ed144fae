"""Tables and the progress bar of the commands."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from desim.catalog.summaries import CatalogSummary, ModelSummary, PolicySummary
from desim.episodes.usage import default_share, is_played
from desim.jobs.rows.rows import Rows
from desim.records.episode import Episode
from desim.show.console import console
from desim.show.labels import NOTHING, value_text

__all__ = [
    "defaults_text",
    "print_catalog",
    "print_episode",
    "print_model",
    "print_rows",
    "print_traced",
    "progress_bar",
]

#: How many metrics of a part a table of an episode shows.
_OF_PART = 4

#: What is said of a policy in lists, in this order, and what it means.
_MARKS = {
    "informed": "uses facts that its role cannot observe, so it is no rival of the others",
    "draws": "its actions depend on chance or on the seed",
}


def print_catalog(catalog: CatalogSummary) -> None:
    """Print all models, their policies, and the policies of every model.

    The actions of a model, a dozen or two, are in the tables of that model alone.
    """
    out = console()
    table = _table("model", "presets", "roles", "what it is")
    for name, model in catalog.models.items():
        _add_row(table, name, ", ".join(model.presets), ", ".join(model.roles), model.text)
    out.print(table)
    out.print()
    for name, model in catalog.models.items():
        _print_policies(out, f"policies of {name}", model.policies)
    _print_policies(out, "policies of every model", catalog.policies)
    known = [policy for model in catalog.models.values() for policy in model.policies.values()]
    _print_marks(out, [*known, *catalog.policies.values()])
    for name, file in catalog.not_imported.items():
        line = f"{name}: {file} was not imported; desim list {name} imports and shows it"
        out.print(line, markup=False)


def print_model(name: str, catalog: CatalogSummary) -> None:
    """Print one model: presets, roles, actions, and the policies that play it."""
    out, model = console(), catalog.models[name]
    facts = _facts()
    _add_row(facts, "model", name)
    _add_row(facts, "what it is", model.text or NOTHING)
    _add_row(facts, "presets", ", ".join(model.presets))
    if model.parts:
        parts = ", ".join(f"{part} ({of.name})" for part, of in model.parts.items())
        _add_row(facts, "parts", parts)
    _add_row(facts, "baselines", "  ".join(model.baselines) or NOTHING)
    roles = _table("role", "default", "observation", "actions")
    for each, role in model.roles.items():
        _add_row(roles, each, value_text(role.default), role.observation, ", ".join(role.actions))
    actions = _table("action", "what it does")
    for action, text in _actions(model).items():
        _add_row(actions, action, text)
    for table in (facts, roles, actions):
        out.print(table)
        out.print()
    _print_policies(out, f"policies of {name}", model.policies)
    for part, of in model.parts.items():
        _print_policies(out, f"policies of {part}, {of.name}", of.policies)
    for policy, arguments in model.further_arguments.items():
        out.print(f"{policy} takes here also: {', '.join(map(str, arguments))}", markup=False)
    _print_policies(out, "policies of every model", catalog.policies)
    known = [
        *model.policies.values(),
        *(p for of in model.parts.values() for p in of.policies.values()),
    ]
    _print_marks(out, [*known, *catalog.policies.values()])


def print_episode(episode: Episode, *, as_json: bool) -> None:
    """Print what was played and how it ended, as a table or as one line of JSON."""
    summary = episode.summary()
    if as_json:
        click.echo(msgspec.json.encode(summary))
        return
    table = _facts()
    policies = ", ".join(f"{role}={spec}" for role, spec in summary["policies"].items())
    for key in ("model", "preset", "seed"):
        _add_row(table, key, value_text(summary[key]))
    _add_row(table, "policies", policies or "none")
    for key in ("score", "ended", "decisions"):
        _add_row(table, key, value_text(summary[key]))
    if defaults := defaults_text(summary.get("usage", {})):
        _add_row(table, "defaults", defaults)
    metrics = summary["metrics"]
    for name in (shown := _first_of_parts(metrics)):
        _add_row(table, name, value_text(metrics[name]))
    if more := len(metrics) - len(shown):
        _add_row(table, "more metrics", f"{more:,}; --json prints all")
    _add_row(table, "ledger digest", (summary["ledger_digest"] or "none")[:16])
    console().print(table)


def defaults_text(usage: Mapping[str, Mapping[str, float]]) -> str:
    """Return how many decisions of each role were its default action; empty where none were."""
    return "; ".join(
        f"{role} {each['default_actions']:,.0f} of {each['decisions']:,.0f} decisions"
        + ("" if is_played(each) else ", not played")
        for role, each in usage.items()
        if default_share(each)
    )


def print_traced(trace: str | None, *, as_json: bool) -> None:
    """Say on stderr where a trace was written, if one was."""
    if trace and not as_json:
        click.echo(f"traced in {trace}, which https://ui.perfetto.dev opens", err=True)


def print_rows(rows: Rows, figures: Sequence[str], against: str | None) -> None:
    """Print a sweep's rows by policy and by every parameter that varies."""
    console().print(rows.table(by=[*rows.varying, "policy"], show=figures, against=against))


def _first_of_parts(metrics: Iterable[str]) -> list[str]:
    """Return the names of metrics without those that would fill screens.

    The name of a metric of a part begins with the part and a dot; of each part the first few stay,
    which are its score and its end.
    """
    seen = Counter[str]()
    shown = []
    for name in metrics:
        part, dot, _ = name.partition(".")
        seen[part] += bool(dot)
        if seen[part] <= _OF_PART:
            shown.append(name)
    return shown


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with rate and time left on standard error if that is a terminal.

    Yields a function of the number of finished episodes and of all.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} episodes/s"),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(what, total=None, rate=NOTHING)
        start, first = time.monotonic(), -1

        def show(done: int, total: int) -> None:
            nonlocal first
            # Episodes that an earlier run has played say nothing of the speed of this one.
            first = done if first < 0 else first
            seconds = time.monotonic() - start
            rate = f"{(done - first) / seconds:,.0f}" if done > first else NOTHING
            bar.update(task, completed=done, total=total, rate=rate)

        yield show


def _actions(model: ModelSummary) -> dict[str, str]:
    """Return what each action of any role does, by its class name."""
    return {name: text for role in model.roles.values() for name, text in role.actions.items()}


def _print_policies(out: Console, title: str, policies: Mapping[str, PolicySummary]) -> None:
    if not policies:
        return
    marked = any(map(_marks, policies.values()))
    out.print(Text(title, "bold"))
    table = _table("policy", "arguments", *(["marks"] if marked else []), "what it does")
    for name, policy in policies.items():
        marks = [", ".join(_marks(policy))] if marked else []
        _add_row(table, name, ", ".join(map(str, policy.arguments)), *marks, policy.text)
    out.print(table)
    out.print()


def _marks(policy: PolicySummary) -> list[str]:
    """Return the words of `_MARKS` that hold for a policy."""
    return [
        name for name, holds in zip(_MARKS, (policy.informed, policy.draws), strict=True) if holds
    ]


def _print_marks(out: Console, policies: Iterable[PolicySummary]) -> None:
    """Print what the marks of policies mean, if there are any."""
    used = {mark for policy in policies for mark in _marks(policy)}
    for mark, meaning in _MARKS.items():
        if mark in used:
            out.print(f"{mark}: {meaning}", markup=False)


def _facts() -> Table:
    """Return a table of names and values."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, column in enumerate(columns):
        # Names are not folded, so that they can be copied.
        table.add_column(column, overflow="fold", no_wrap=place == 0)
    return table


def _add_row(table: Table, *cells: str) -> None:
    # As Text, because brackets in a spec or a docstring are no markup.
    table.add_row(*map(Text, cells))
