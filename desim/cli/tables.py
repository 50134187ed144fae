"""Tables of the commands."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import click
import msgspec
from attrs import evolve

from desim.catalog.summaries import ArgumentSummary, CatalogSummary, ModelSummary, PolicySummary
from desim.core.model import revision_text
from desim.core.roles import KNOWLEDGE, knowledge_legend, with_knowledge
from desim.episodes.usage import default_share, is_played
from desim.errors import UsageError, possible
from desim.records.episode import Episode
from desim.rows.rows import Rows
from desim.show.column import Column
from desim.show.console import console
from desim.show.estimates import better_note
from desim.show.labels import NOTHING, value_text
from desim.show.table import Table, print_tables


class Findings(Protocol):
    """The result of a study."""

    def plain(self) -> dict[str, Any]:
        """Return it as one plain object."""
        ...


#: Metrics of a part of a world that a table shows.
_OF_PART = 4

#: The mark of a policy that draws, in lists, and its meaning.
_DRAWS, _DRAWS_MEANS = "draws", "draws: its actions depend on chance or on the seed"

#: The mark of a policy that answers many episodes at once, and its meaning.
_LANES, _LANES_MEANS = "lanes", "lanes: its episodes of many seeds can be played at once"


def print_catalog(catalog: CatalogSummary) -> None:
    """Print all models, their policies, and the policies of every model.

    The actions of a model, a dozen or two, are in the tables of that model alone.
    """
    heads = ("model", "presets", "roles", "what it is")
    lines = (
        (name, ", ".join(model.presets), ", ".join(model.roles), model.text)
        for name, model in catalog.models.items()
    )
    policies = (
        _policies(f"policies of {name}", model.policies) for name, model in catalog.models.items()
    )
    everywhere = _policies("policies of every model", catalog.policies)
    tables = (_words(heads, lines), *chain.from_iterable(policies), *everywhere)
    out = console()
    print_tables(out, tables)
    for name, file in catalog.not_imported.items():
        line = f"{name}: {file} was not imported; desim list {name} imports and shows it"
        out.print(line, markup=False)


def print_model(name: str, catalog: CatalogSummary) -> None:
    """Print one model: presets, roles, actions, and the policies that play it."""
    model = catalog.models[name]
    parts = ", ".join(f"{part} ({of.name})" for part, of in model.parts.items())
    facts = {
        "model": name,
        "what it is": model.text or NOTHING,
        "revision": revision_text(model.revision),
        "presets": ", ".join(model.presets),
        **{f"warning: {preset}": text for preset, text in model.warnings.items()},
        **({"parts": parts} if parts else {}),
        "lanes": "many seeds at once, with policies marked so" if model.lanes else NOTHING,
        "baselines": "  ".join(model.baselines) or NOTHING,
    }
    roles = (
        (each, value_text(role.default), role.observation, ", ".join(role.actions))
        for each, role in model.roles.items()
    )
    further = [
        f"{policy} takes here also: {', '.join(map(str, arguments))}"
        for policy, arguments in model.further_arguments.items()
    ]
    of_parts = (
        _policies(f"policies of {part}, {of.name}", of.policies) for part, of in model.parts.items()
    )
    tables = (
        _words((), facts.items()),
        _words(("role", "default", "observation", "actions"), roles),
        _words(("action", "what it does"), _actions(model).items()),
        *_policies(f"policies of {name}", model.policies),
        *chain.from_iterable(of_parts),
        *_policies("policies of every model", catalog.policies, further),
    )
    print_tables(console(), tables)


def print_policy(name: str, catalog: CatalogSummary) -> None:
    """Print one policy: its arguments, and what models add to them.

    Raises:
        UsageError: The models of the catalog have no such policy.
    """
    known = dict(catalog.policies)
    for model in catalog.models.values():
        known |= model.policies
    if name not in known:
        raise UsageError(f"there is no policy {name!r}; {possible(name, sorted(known))}")
    own = (_argument_line(each) for each in known[name].arguments)
    further = (
        _argument_line(each, f"In {title}: ")
        for title, model in catalog.models.items()
        for each in model.further_arguments.get(name, ())
    )
    level = known[name].knows
    out = console()
    out.print(f"{name}: {known[name].text}", markup=False, highlight=False)
    out.print(f"knows {level}: {KNOWLEDGE[level]}", markup=False, highlight=False)
    out.print()
    out.print(_words(("argument", "default", "what it sets"), chain(own, further)))


def _argument_line(argument: ArgumentSummary, where: str = "") -> tuple[str, str, str]:
    default = "required" if argument.required else value_text(argument.default)
    return argument.name, default, where + argument.text


def print_episode(episode: Episode, *, as_json: bool) -> None:
    """Print what was played and how it ended, as a table or as one line of JSON."""
    if as_json:
        click.echo(msgspec.json.encode(episode.summary()))
        return
    facts = _facts(episode)
    if defaults := defaults_text(episode.result.usage if episode.result else {}):
        lines = list(facts.lines)
        after = [name for name, _ in lines].index("decisions") + 1
        lines.insert(after, ("defaults", defaults))
        facts = evolve(facts, lines=lines)
    console().print(facts)


def _facts(episode: Episode) -> Table:
    """Return header, result and metrics as a table of names and values.

    It has only the first metrics of each part of a world. An episode that failed or was cut has
    the reason in place of its end.
    """
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
        facts |= (shown := _first_of_parts(end.metrics))
        if more := len(end.metrics) - len(shown):
            facts["more metrics"] = f"{more:,}; --json prints all"
        facts["ledger digest"] = (end.ledger_digest or "none")[:16]
    if episode.resumed:
        facts["resumed after decision"] = ", ".join(map(str, episode.resumed))
    declared = episode.metric_columns
    columns = {name: declared.get(name, Column()) for name in facts}
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


def print_found(found: Findings, *, as_json: bool) -> None:
    """Print the result of a study: its tables, or one line of JSON."""
    if as_json:
        click.echo(msgspec.json.encode(found.plain()))
    else:
        console().print(found)


def print_rows(rows: Rows, figures: Sequence[str], against: str | None, minimise: str = "") -> None:
    """Print a sweep's rows by policy and by every parameter that varies."""
    table = rows.table(by=[*rows.varying, "policy"], show=figures, against=against)
    lower = better_note(minimise, "lower") if minimise else []
    console().print(evolve(table, mixed=(*lower, *table.mixed)))


def _actions(model: ModelSummary) -> dict[str, str]:
    """Return what each action of any role does, by its class name."""
    return {name: text for role in model.roles.values() for name, text in role.actions.items()}


def _policies(
    title: str, policies: Mapping[str, PolicySummary], notes: Sequence[str] = ()
) -> Iterator[Table]:
    """Yield the table of policies with the meaning of their marks; nothing without policies."""
    if not policies:
        return
    used = {mark for policy in policies.values() for mark in _marks(policy)}
    heads = ("policy", "arguments", *(["marks"] if used else []), "what it does")
    lines = (
        (
            name,
            ", ".join(map(str, policy.arguments)),
            *([", ".join(_marks(policy))] if used else []),
            policy.text,
        )
        for name, policy in policies.items()
    )
    legend = knowledge_legend(policy.knows for policy in policies.values())
    legend += [_DRAWS_MEANS] * (_DRAWS in used) + [_LANES_MEANS] * (_LANES in used)
    yield evolve(_words(heads, lines), title=title, notes=notes, legend=legend)


def _marks(policy: PolicySummary) -> list[str]:
    """Return what a policy knows if that is more than observations, and its other marks."""
    known = [policy.knows] * (policy.knows != "observation")
    return known + [_DRAWS] * policy.draws + [_LANES] * policy.lanes


def _words(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """Return a table of which all columns hold words."""
    each = list(lines)
    return Table(heads, each, range(len(each[0]) if each else 0))
