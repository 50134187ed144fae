"""`desim list`, `desim report`, `desim check`: what a world is, what was played, what is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from textwrap import shorten
from typing import Any

import click
import msgspec
from attrs import field, frozen

from desim.catalog.summaries import schemas, summarise_catalog
from desim.cli.exit_codes import fail
from desim.cli.options import PrintOptions, command
from desim.cli.tables import print_found, print_json
from desim.core.model import revision_text
from desim.core.roles import KNOWLEDGE, knowledge_legend
from desim.errors import UsageError, possible
from desim.reports.report import ReportOptions, write_report
from desim.schema.signatures import given
from desim.show.console import console
from desim.show.labels import NOTHING, value_text
from desim.show.table import Table, print_tables
from desim.studies.check import CheckFinding, check

#: Characters of a world's text beside its name, in 80 columns.
_CLAUSE = 60

#: Marks of policies in lists, which are also the names of their fields, and their meanings.
_MARKS = {
    "draws": "its actions depend on chance or on the seed",
    "lanes": "its episodes of many seeds can be played at once",
}

#: A table of which all columns hold words.
_words = partial(Table, left=range(4))


@frozen
class Listed:
    """The model or the policy that is listed.

    Attributes:
        model: A name in the catalog or `module:Class`, with or without `/preset`.
        policy: Show one policy: its arguments and what they set.
        schema: Print the JSON Schemas of MODEL: observation and action of each role, and the
            parameters, also of its parts.
    """

    model: str | None
    policy: str | None = field(default=None, kw_only=True)
    schema: bool = field(default=False, kw_only=True)


@command("list", model={"required": False}, policy={"metavar": "NAME"})
def list_command(listed: Listed, printed: PrintOptions) -> None:
    """Show all worlds in a line each, or what MODEL consists of.

    That is its presets, roles, actions, policies and parameters.
    """
    model, policy = listed.model, listed.policy
    if listed.schema:
        if model is None or policy:
            raise UsageError("--schema belongs to a model: desim list MODEL --schema")
        click.echo(msgspec.json.format(msgspec.json.encode(schemas(model)), indent=2))
        return
    summary = summarise_catalog([] if model is None else [model])
    if printed.as_json:
        print_json(summary)
    elif policy:
        print_tables(console(), [_policy_table(policy, summary)])
    elif model:
        print_tables(console(), _model_tables(model, summary))
    else:
        print_tables(console(), [_catalog_table(summary)])


def _catalog_table(catalog: Mapping[str, Any]) -> Table:
    """Return a line for each model, and how to see more."""
    clauses = {name: each["text"].partition(":")[0] for name, each in catalog["models"].items()}
    lines = (
        (name, shorten(text.removesuffix("."), _CLAUSE, placeholder=" \u2026"))
        for name, text in clauses.items()
    )
    further = [
        f"policies of every world: {', '.join(catalog['policies'])}",
        "desim list WORLD shows its presets, roles, policies and parameters;",
        "desim list --policy NAME what the arguments of a policy set",
    ]
    further += [
        f"{name}: {file} was not imported; desim list {name} imports and shows it"
        for name, file in catalog["not_imported"].items()
    ]
    return _words(("world", "what it is"), lines, legend=further)


def _model_tables(name: str, catalog: Mapping[str, Any]) -> Iterator[Table]:
    """Yield presets, roles, actions, the policies that play a model, and its parameters."""
    model = catalog["models"][name]
    roles, parts = model["roles"], model["parts"]
    facts = {
        "model": name,
        "what it is": model["text"] or NOTHING,
        "revision": revision_text(model["revision"]),
        "presets": ", ".join(model["presets"]),
        **{f"warning: {preset}": text for preset, text in model["warnings"].items()},
        "parts": ", ".join(f"{part} ({of['name']})" for part, of in parts.items()),
        "lanes": "many seeds at once, with policies marked so" * model["lanes"],
        "baselines": "  ".join(model["baselines"]) or NOTHING,
        "policies of every world": ", ".join(catalog["policies"]),
    }
    yield _words((), (fact for fact in facts.items() if fact[1]))
    yield _words(
        ("role", "default", "observation", "actions"),
        (
            (role, value_text(of["default"]), of["observation"], ", ".join(of["actions"]))
            for role, of in roles.items()
        ),
    )
    actions = dict(chain.from_iterable(of["actions"].items() for of in roles.values()))
    yield _words(("action", "what it does"), actions.items())
    yield from _policies(f"policies of {name}", model["policies"])
    for part, of in parts.items():
        yield from _policies(f"policies of {part}, {of['name']}", of["policies"])
    values = ((one["name"], value_text(one["value"]), one["text"]) for one in model["parameters"])
    further = (
        f"{policy} takes here also: {', '.join(map(_argument_text, arguments))}"
        for policy, arguments in model["further_arguments"].items()
    )
    yield _words(("parameter", "value", "what it sets"), values, notes=further)


def _policies(title: str, policies: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Yield the table of policies with the meaning of their marks; nothing without policies.

    A policy is marked with what it knows if that is more than observations.
    """
    if not policies:
        return
    marks = {
        name: [one["knows"]] * (one["knows"] != "observation") + [m for m in _MARKS if one[m]]
        for name, one in policies.items()
    }
    lines = (
        (
            name,
            ", ".join(map(_argument_text, one["arguments"])),
            ", ".join(marks[name]),
            one["text"],
        )
        for name, one in policies.items()
    )
    legend = knowledge_legend(one["knows"] for one in policies.values())
    legend += [f"{mark}: {text}" for mark, text in _MARKS.items() if mark in chain(*marks.values())]
    heads = ("policy", "arguments", "marks", "what it does")
    yield _words(heads, lines, title=title, legend=legend)


def _argument_text(argument: Mapping[str, Any]) -> str:
    name = str(argument["name"])
    return name if argument["required"] else f"{name}={argument['default']}"


def _policy_table(name: str, catalog: Mapping[str, Any]) -> Table:
    """Return the arguments of a policy, and what models add to them.

    Raises:
        UsageError: The models of the catalog have no such policy.
    """
    models, known = catalog["models"], dict(catalog["policies"])
    for model in models.values():
        known |= model["policies"]
    if name not in known:
        raise UsageError(f"there is no policy {name!r}; {possible(name, sorted(known))}")
    policy = known[name]
    arguments = [("", each) for each in policy["arguments"]]
    for title, model in models.items():
        further = model["further_arguments"].get(name, ())
        arguments += [(f"In {title}: ", each) for each in further]
    lines = (
        (
            one["name"],
            "required" if one["required"] else value_text(one["default"]),
            where + one["text"],
        )
        for where, one in arguments
    )
    level = policy["knows"]
    about = f"{name}: {policy['text']}\nknows {level}: {KNOWLEDGE[level]}"
    return _words(("argument", "default", "what it sets"), lines, title=about)


@command(
    "report",
    paths={"metavar": "DIR|RECORD...", "nargs": -1, "required": True, "type": click.Path()},
    out={"type": click.Path()},
    minimise={"metavar": "NAME"},
)
def report_command(options: ReportOptions) -> None:
    """Write one HTML file that opens offline: tables and figures.

    DIR is what `desim sweep --out` or `desim bench --out` wrote; a sweep may be unfinished. Records
    may be cut; those of one world and seed are compared, others have sections of their own.

    The answers on record are played again for it, without any policy. Nothing that a record names
    is imported or opened without --trust; of one that names something the page has what is on
    record.
    """
    click.echo(write_report(**given(options)))


@frozen
class Checked:
    """The worlds that are checked.

    Attributes:
        models: Names in the catalog or `module:Class`, with or without `/preset`.
        seeds: The seeds of the episodes, two at least: A:B without B, or A,B,...; default 0:3.
    """

    models: tuple[str, ...]
    seeds: Sequence[int] = field(default=range(3), kw_only=True)


@command(
    "check",
    models={"nargs": -1, "required": True, "metavar": "MODEL[/PRESET]..."},
)
def check_command(options: Checked, printed: PrintOptions) -> None:
    """Play MODEL in all the ways in which desim does, and name its faults.

    Each preset is played several times with options taken at random, recorded, replayed, resumed
    and redrawn; schema, rules, options, score, metrics, series and ledgers are compared with what
    was played. A check that fails has a sentence.

    Exit code 1 if a check fails.
    """
    failed: list[CheckFinding] = []
    for name in options.models:
        found = check(name, options.seeds)
        print_found(found, as_json=printed.as_json)
        failed += found.failed
    if failed:
        worlds = ", ".join(dict.fromkeys(one.world for one in failed))
        fail(f"{len(failed)} check{'s' * (len(failed) > 1)} failed in {worlds}")
