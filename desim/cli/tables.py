"""Tables of the commands."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any

import click
import msgspec
from attrs import evolve

from desim.core.model import revision_text
from desim.core.roles import KNOWLEDGE, knowledge_legend, with_knowledge
from desim.episodes.usage import default_share, is_played
from desim.errors import UsageError, possible
from desim.records.episode import Episode
from desim.show.column import Column
from desim.show.console import console
from desim.show.labels import NOTHING, value_text
from desim.show.table import Table, print_tables

#: Metrics of a part of a world that a table shows.
_OF_PART = 4

#: Characters of a world's text in the list of all.
_CLAUSE = 60

#: Marks of policies in lists, which are also the names of their fields, and their meanings.
_MARKS = {
    "draws": "its actions depend on chance or on the seed",
    "lanes": "its episodes of many seeds can be played at once",
}


def print_catalog(catalog: Mapping[str, Any]) -> None:
    """Print a line for each model, and how to see more."""
    lines = ((name, _clause(model["text"])) for name, model in catalog["models"].items())
    out = console()
    out.print(_words(("world", "what it is"), lines))
    out.print()
    out.print(f"policies of every world: {', '.join(catalog['policies'])}", markup=False)
    out.print("desim list WORLD shows its presets, roles, policies and parameters;", markup=False)
    out.print("desim list --policy NAME what the arguments of a policy set", markup=False)
    for name, file in catalog["not_imported"].items():
        line = f"{name}: {file} was not imported; desim list {name} imports and shows it"
        out.print(line, markup=False)


def _clause(text: str) -> str:
    """Return the beginning of a sentence that fits beside a name in 80 columns."""
    return shorten(text.partition(":")[0].removesuffix("."), _CLAUSE, placeholder=" \u2026")


def print_model(name: str, catalog: Mapping[str, Any]) -> None:
    """Print one model: presets, roles, actions, the policies that play it, and its parameters."""
    model = catalog["models"][name]
    parts = ", ".join(f"{part} ({of['name']})" for part, of in model["parts"].items())
    facts = {
        "model": name,
        "what it is": model["text"] or NOTHING,
        "revision": revision_text(model["revision"]),
        "presets": ", ".join(model["presets"]),
        **{f"warning: {preset}": text for preset, text in model["warnings"].items()},
        **({"parts": parts} if parts else {}),
        **({"lanes": "many seeds at once, with policies marked so"} if model["lanes"] else {}),
        "baselines": "  ".join(model["baselines"]) or NOTHING,
        "policies of every world": ", ".join(catalog["policies"]),
    }
    roles = (
        (each, value_text(role["default"]), role["observation"], ", ".join(role["actions"]))
        for each, role in model["roles"].items()
    )
    actions = {
        name: text for one in model["roles"].values() for name, text in one["actions"].items()
    }
    further = [
        f"{policy} takes here also: {', '.join(map(_argument_text, arguments))}"
        for policy, arguments in model["further_arguments"].items()
    ]
    values = ((one["name"], value_text(one["value"]), one["text"]) for one in model["parameters"])
    of_parts = (
        _policies(f"policies of {part}, {of['name']}", of["policies"])
        for part, of in model["parts"].items()
    )
    tables = (
        _words((), facts.items()),
        _words(("role", "default", "observation", "actions"), roles),
        _words(("action", "what it does"), dict(actions).items()),
        *_policies(f"policies of {name}", model["policies"]),
        *chain.from_iterable(of_parts),
        evolve(_words(("parameter", "value", "what it sets"), values), notes=further),
    )
    print_tables(console(), tables)


def print_policy(name: str, catalog: Mapping[str, Any]) -> None:
    """Print one policy: its arguments, and what models add to them.

    Raises:
        UsageError: The models of the catalog have no such policy.
    """
    known = dict(catalog["policies"])
    for model in catalog["models"].values():
        known |= model["policies"]
    if name not in known:
        raise UsageError(f"there is no policy {name!r}; {possible(name, sorted(known))}")
    own = (_argument_line(each) for each in known[name]["arguments"])
    further = (
        _argument_line(each, f"In {title}: ")
        for title, model in catalog["models"].items()
        for each in model["further_arguments"].get(name, ())
    )
    level = known[name]["knows"]
    out = console()
    out.print(f"{name}: {known[name]['text']}", markup=False)
    out.print(f"knows {level}: {KNOWLEDGE[level]}", markup=False)
    out.print()
    out.print(_words(("argument", "default", "what it sets"), chain(own, further)))


def _argument_line(argument: Mapping[str, Any], where: str = "") -> tuple[str, str, str]:
    default = "required" if argument["required"] else value_text(argument["default"])
    return argument["name"], default, where + argument["text"]


def _argument_text(argument: Mapping[str, Any]) -> str:
    name = str(argument["name"])
    return name if argument["required"] else f"{name}={argument['default']}"


def _policies(title: str, policies: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Yield the table of policies with the meaning of their marks; nothing without policies."""
    if not policies:
        return
    marks = {name: _marks(policy) for name, policy in policies.items()}
    lines = (
        (
            name,
            ", ".join(map(_argument_text, one["arguments"])),
            ", ".join(marks[name]),
            one["text"],
        )
        for name, one in policies.items()
    )
    legend = knowledge_legend(policy["knows"] for policy in policies.values())
    legend += [f"{mark}: {text}" for mark, text in _MARKS.items() if mark in chain(*marks.values())]
    heads = ("policy", "arguments", "marks", "what it does")
    yield evolve(_words(heads, lines), title=title, legend=legend)


def _marks(policy: Mapping[str, Any]) -> list[str]:
    """Return what a policy knows if that is more than observations, and its other marks."""
    known = [policy["knows"]] * (policy["knows"] != "observation")
    return known + [mark for mark in _MARKS if policy[mark]]


def _words(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """Return a table of which all columns hold words."""
    each = list(lines)
    return Table(heads, each, range(len(each[0]) if each else 0))


def print_episode(episode: Episode, *, as_json: bool) -> None:
    """Print what was played and how it ended, as a table or as one line of JSON.

    The table has only the first metrics of each part of a world.
    """
    if as_json:
        click.echo(msgspec.json.encode(episode.summary()))
        return
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
        if defaults := defaults_text(end.usage):
            facts["defaults"] = defaults
        facts |= (shown := _first_of_parts(end.metrics))
        if more := len(end.metrics) - len(shown):
            facts["more metrics"] = f"{more:,}; --json prints all"
        facts["ledger digest"] = (end.ledger_digest or "none")[:16]
    if episode.resumed:
        facts["resumed after decision"] = ", ".join(map(str, episode.resumed))
    declared = episode.metric_columns
    columns = {name: declared.get(name, Column()) for name in facts}
    lines = ((columns[name].key(name), columns[name].text(v)) for name, v in facts.items())
    console().print(Table((), lines, (0, 1)))


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


def defaults_text(usage: Mapping[str, Mapping[str, float]]) -> str:
    """Return how many decisions of each role were its default action; empty if none were."""
    return "; ".join(
        f"{role} {each['default_actions']:,.0f} of {each['decisions']:,.0f} decisions"
        + ("" if is_played(each) else ", not played")
        for role, each in usage.items()
        if default_share(each)
    )


def print_traced(trace: str | Path | None, *, as_json: bool) -> None:
    """Say on stderr where a trace was written, if one was."""
    if trace and not as_json:
        click.echo(f"traced in {trace}, which https://ui.perfetto.dev opens", err=True)


def print_found(found: Any, *, as_json: bool) -> None:
    """Print the result of a study: its tables, or what its `plain()` returns as a line of JSON."""
    if as_json:
        click.echo(msgspec.json.encode(found.plain()))
    else:
        console().print(found)
