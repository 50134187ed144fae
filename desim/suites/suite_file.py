"""The file of a suite: worlds, entries, seeds, limits, and published rows for comparison.

```toml
title = "Two rules and a model on one world"
seeds = "0:3"

[worlds.short]
model = "MODEL/PRESET"
set = { horizon = 24 }
columns = ["score", { name = "survived %", figure = "survived", scale = 100 }]

[entries.rule]
policy = "RULE,KEY=VALUE"

[entries.qwen]
model = "qwen3"
base_url = "http://localhost:8000/v1"
price_in = 0.2
price_out = 0.6
```

Also the faults of an entry that can be found before a policy is built.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from attrs import Attribute, evolve, field, frozen

from desim.engine.run.executors import AT_ONCE
from desim.errors import UsageError, possible
from desim.schema import to_plain
from desim.schema.validators import not_negative
from desim.short_repr import short_repr
from desim.show.files import read_text
from desim.suites.toml_table import read_table

#: Most bytes of a suite's file.
_MAX_BYTES = 1_000_000


#: Most episodes of a suite, and most that are played at once.
MAX_JOBS, MAX_AT_ONCE = 100_000, 1_000


#: Most episodes in a row; their files are numbered with three digits.
MAX_IN_A_ROW = 999


#: The statistics of an entry's episodes that a column may show.
SHOWS = ("mean", "spread", "over_best", "normalised", "share")


#: The method that chooses one of all methods for each question.
ROUTER = "router"


#: Most characters of a world's or an entry's name.
_LONGEST_NAME = 100


def _count(most: int | None = None) -> "Callable[[Any, Attribute[Any], int | None], None]":
    """Return a validator of a field that holds a whole number of at least 1, or None."""

    def validate(_: object, attribute: "Attribute[Any]", value: int | None) -> None:
        if value is not None and not 1 <= value <= (most or value):
            end = f" and at most {most:,}" if most else ""
            raise ValueError(
                f"{attribute.name}={value} was given; it is a whole number of at least 1{end}"
            )

    return validate


def _one_of(*values: str) -> "Callable[[Any, Attribute[Any], str], None]":
    """Return a validator of a field that holds one of some texts."""

    def validate(_: object, attribute: "Attribute[Any]", value: str) -> None:
        if value not in values:
            known = possible(value, list(filter(None, values)))
            raise ValueError(f"{attribute.name}={value!r} was given; {known}")

    return validate


@frozen
class SuiteColumn:
    """A column of results.

    Attributes:
        name: Its head; the figure's name where empty.
        figure: "score", "ended", "decisions", "cost", "tokens" (read and written), "minutes", a
            metric by its path, or "usage." and a sum.
        per: A figure by which it is divided; empty for none.
        equals: The value that counts as 1, where the figure is a text; others count as 0.
        scale: A factor.
        show: "mean", the mean over episodes; "spread", their standard deviation with the divisor n;
            "over_best", the mean over that of the best language model, or where no entry is one
            over that of the best entry; "normalised", the mean on a scale from 0 for the worst of
            them to 1 for the best; or "share", the share of 1 in a metric that lists 1 or 0 for
            each item, whose interval is over items, however often each was answered; several such
            metrics are joined by " + ". Higher is better: a cost has a scale below 0.
        published: The column of the published sheet, or TABLE/COLUMN in the same file; empty for
            none.
    """

    figure: str
    name: str = ""
    per: str = ""
    equals: str | None = None
    scale: float = 1.0
    show: str = field(default="mean", validator=_one_of(*SHOWS))
    published: str = ""

    @property
    def head(self) -> str:
        """The head of the column."""
        return self.name or self.figure


@frozen
class PublishedSheet:
    """The published table with which a world's results are compared.

    Attributes:
        file: A data file in the suite's folder `reference`.
        table: The key of the table in it.
        row: The row of all entries, where the entries are its columns; empty where they are rows.
    """

    file: str
    table: str
    row: str = ""


@frozen
class WorldTable:
    """A world of a suite.

    Attributes:
        model: Its name in the catalog, with or without `/preset`, or `module:Class`.
        preset: The preset; empty for the first, or the one in *model*.
        set: Parameters changed, as `--set`.
        seeds: "A:B" without B, or a list; those of the suite where empty.
        tuning_seeds: Seeds for tuning, none of which is in the report; if empty, the suite's.
        repeats: Episodes with each seed; those of the suite where None.
        episodes: Episodes in a row with the same policies, which may learn in between; then seeds
            and repeats count such series. The first episode has the seed, each further one the
            next seed.
        options: Further arguments of the policy `llm` in this world, beside those of the entry.
        policy: Specs by role, for roles of this world that an entry does not name, such as those of
            judges; the language model or the policy of the entry plays the remaining default roles.
        columns: Names of figures, or tables as `SuiteColumn`; the score where empty.
        published: The published sheet of this world.
    """

    model: str
    preset: str = ""
    set: dict[str, Any] = field(factory=dict)
    seeds: str | list[int] = ""
    tuning_seeds: str | list[int] = ""
    repeats: int | None = field(default=None, validator=_count())
    episodes: int = field(default=1, validator=_count(MAX_IN_A_ROW))
    options: dict[str, Any] = field(factory=dict)
    policy: dict[str, str] = field(factory=dict)
    columns: tuple[SuiteColumn, ...] = ()
    published: PublishedSheet | None = None


@frozen
class PooledTable:
    """A table of results over the episodes of several worlds together, by entry.

    Attributes:
        worlds: Their names.
        columns: As in a world; an episode whose world has no such figure is not in a column.
        published: The published sheet of this table.
    """

    worlds: list[str]
    columns: tuple[SuiteColumn, ...] = ()
    published: PublishedSheet | None = None


@frozen
class EntryTable:
    """A way to play: plain policies, or a language model with or without a method.

    Attributes:
        policy: A spec or a line-up, or specs by role; beside a model with `roles`, for the others.
        model: The language model's name at the endpoint; empty for plain policies.
        roles: The roles that the language model plays; the default roles where empty.
        base_url: The endpoint's address.
        key_env: The environment variable that holds the key.
        price_in: Money for a million tokens read; 0 states that they are free.
        price_out: Money for a million tokens written; likewise.
        method: The method around the model; empty for none; "router" for one that is chosen for
            each question and answers with what it has answered in this suite, without a call.
        learn: Where a router has its rules from: "offline", from what the methods of the suite
            answered; otherwise the paper's Table 4, or the file that options name as `router`.
        rules: Who makes those of learn = "offline": "table", the best method of each capability and
            difficulty; or "model", which writes them in one call.
        options: Further arguments of the policy `llm`: temperature, max_calls, mode, ...
        max_cost: Money that all episodes of this entry may use.
        worlds: The worlds that it plays; all where empty.
        published: Its row, or column, in the published sheets; several where tables differ in it.
        tuned_on: Seeds on which its parameters, prompt or memory were chosen, as its author says;
            of all worlds.
        note: What is to be known before it is played, such as that a name is an example to be
            edited; a dry run prints it.
    """

    policy: str | dict[str, str] = ""
    model: str = ""
    roles: list[str] = field(factory=list)
    base_url: str = ""
    key_env: str = ""
    price_in: float | None = field(default=None, validator=not_negative)
    price_out: float | None = field(default=None, validator=not_negative)
    method: str = ""
    learn: str = field(default="", validator=_one_of("", "offline"))
    rules: str = field(default="table", validator=_one_of("table", "model"))
    options: dict[str, Any] = field(factory=dict)
    max_cost: float | None = field(default=None, validator=not_negative)
    worlds: list[str] = field(factory=list)
    published: str | list[str] = ""
    tuned_on: str | list[int] = ""
    note: str = ""


@frozen
class Suite:
    """A suite as plain data.

    Attributes:
        title: What it is, in one line.
        seeds: "A:B" without B, or a list; of all worlds that name none. Or seeds that a beacon
            has drawn, as `desim commit seeds` prints them.
        tuning_seeds: Those on which entries may be tuned, of all worlds that name none; none of
            them is in the report.
        repeats: Episodes with each seed.
        max_cost: Money that all entries may use together; None for no limit.
        ask_above: Money expected above which the command asks before it plays.
        concurrent: Episodes of language models at one endpoint at once, and so calls at once.
        reference: The folder of the published data files, relative to the suite's file; the figures
            that ship with the models where empty.
        worlds: By name.
        entries: By name.
        tables: Tables over several worlds, by name.
    """

    title: str = ""
    seeds: str | list[int] = "0:1"
    tuning_seeds: str | list[int] = ""
    repeats: int = field(default=1, validator=_count())
    max_cost: float | None = field(default=None, validator=not_negative)
    ask_above: float = field(default=1.0, validator=not_negative)
    concurrent: int = field(default=AT_ONCE, validator=_count(MAX_AT_ONCE))
    reference: str = ""
    worlds: Mapping[str, WorldTable] = field(factory=dict)
    entries: Mapping[str, EntryTable] = field(factory=dict)
    tables: Mapping[str, PooledTable] = field(factory=dict)


def read_suite(path: Path, faults: list[str]) -> Suite:
    """Return the suite of a file, without tables that have faults; these are added to a list.

    Raises:
        UsageError: The file cannot be read, or is not TOML.
    """
    return parsed_suite(path, suite_content(path), faults)


def parsed_suite(path: Path, content: str, faults: list[str]) -> Suite:
    """Return the suite of a file's content, as `read_suite` does; the file is not opened.

    Raises:
        UsageError: The content is not TOML.
    """
    plain = _loaded(path, content)
    head = read_table(Suite, plain, "", faults, ("worlds", "entries", "tables")) or Suite()
    worlds = _tables(plain, "worlds", faults)
    entries = _tables(plain, "entries", faults)
    pooled = _tables(plain, "tables", faults) if "tables" in plain else {}
    read_worlds = {
        n: _with_columns(WorldTable, table, f"worlds.{n}", faults) for n, table in worlds.items()
    }
    read_tables = {
        n: _with_columns(PooledTable, table, f"tables.{n}", faults) for n, table in pooled.items()
    }
    read_entries = {
        n: read_table(EntryTable, table, f"entries.{n}", faults) for n, table in entries.items()
    }
    return evolve(
        head,
        worlds={name: made for name, made in read_worlds.items() if made},
        entries={name: made for name, made in read_entries.items() if made},
        tables={name: made for name, made in read_tables.items() if made},
    )


def suite_content(path: Path) -> str:
    """Return the text of a suite's file.

    Raises:
        UsageError: It cannot be read, or is beyond the limit, or is not UTF-8 text.
    """
    try:
        return read_text(path, _MAX_BYTES)
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is no TOML: {fault}") from None


def _loaded(path: Path, content: str) -> dict[str, Any]:
    try:
        return tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} is no TOML: {fault}") from None


def _tables(plain: Mapping[str, Any], key: str, faults: list[str]) -> Mapping[str, Any]:
    """Return the named tables under a key, of which there is at least one."""
    tables = plain.get(key)
    if not isinstance(tables, Mapping) or not tables:
        faults.append(f"there is no [{key}.NAME]; give at least one")
        return {}
    faults += [
        f"{key}.{short_repr(name)} is no name: up to {_LONGEST_NAME} characters that can be printed"
        for name in tables
        if not (name.isprintable() and 0 < len(name) <= _LONGEST_NAME)
    ]
    return tables


_Table = TypeVar("_Table", WorldTable, PooledTable)


def _with_columns(cls: type[_Table], table: Any, path: str, faults: list[str]) -> _Table | None:
    """Read a world or a pooled table, whose columns may be names of figures."""
    if isinstance(table, Mapping) and isinstance(table.get("columns"), list):
        named = [{"figure": c} if isinstance(c, str) else c for c in table["columns"]]
        columns = [
            read_table(SuiteColumn, c, f"{path}.columns.{place}", faults)
            for place, c in enumerate(named)
        ]
        heads = [column.head for column in columns if column]
        faults += [
            f"{path}.columns: two columns are called {head!r}; give one another name"
            for head in dict.fromkeys(heads)
            if heads.count(head) > 1
        ]
        made = read_table(cls, table, path, faults, ("columns",))
        return made and evolve(made, columns=tuple(c for c in columns if c))
    return read_table(cls, table, path, faults)


def entry_faults(table: EntryTable, suite: Suite) -> Iterator[str]:
    """Yield a sentence for each fault of an entry."""
    yield from _model_faults(table) if table.model else _policy_faults(table)
    limited = table.max_cost is not None or suite.max_cost is not None
    if table.model and limited and (table.price_in is None or table.price_out is None):
        yield "a limit of money needs price_in and price_out (0 where the model is free)"


def _policy_faults(table: EntryTable) -> Iterator[str]:
    given = to_plain(table)
    if not table.policy:
        yield "it names neither a policy nor a language model (policy or model)"
    keys = ("roles", "base_url", "key_env", "method", "learn", "options", "price_in", "price_out")
    for key in keys:
        if given.get(key) not in (None, "", [], {}):
            yield f"{key} belongs to a language model; give its name as model"


def _model_faults(table: EntryTable) -> Iterator[str]:
    if not table.roles and (isinstance(table.policy, str) and table.policy):
        yield "beside a model, policy is for the other roles; name the model's own as roles"
    if table.learn and table.method != ROUTER:
        yield f'learn={table.learn} was given; only method = "{ROUTER}" learns from other methods'
    if table.rules == "model" and not table.learn:
        yield 'rules=model was given; only a router with learn = "offline" has its rules written'
    if table.learn and "router" in table.options:
        yield f"options.router and learn={table.learn} were given; each names the router's rules"
    yield from option_faults(table.options)


def option_faults(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each fault of the options of a language model."""
    if "memory" in options:
        yield (
            "options.memory is a file that several episodes would write at once; episodes = N of a "
            "world plays N in a row with one memory, which their records keep"
        )
    for key, value in options.items():
        if "," in argument_text(value):
            yield f"options.{key} holds a comma, which no argument of a policy can"
        if key in ("model", "base_url", "key_env", "method", "price_in", "price_out"):
            yield f"options.{key} is a key of the entry itself"


def argument_text(value: Any) -> str:
    """Return a value of a suite's file as the text of an argument."""
    return value if isinstance(value, str) else json.dumps(to_plain(value))
