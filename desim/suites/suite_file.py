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

"""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import Attribute, evolve, field, frozen

from desim.engine.run.executors import AT_ONCE
from desim.errors import DesimError, UsageError, possible
from desim.schema import from_plain, to_plain
from desim.schema.validators import not_negative
from desim.short_repr import short_repr
from desim.show.files import read_text

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


def read_suite(path: Path, max_cost: float | None = None) -> Suite:
    """Return the suite of a file, with a limit of money instead of its own if one is given.

    Raises:
        UsageError: The file cannot be read, is not TOML, or has a fault; the text has its place.
    """
    try:
        plain = tomllib.loads(suite_content(path))
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} is no TOML: {fault}") from None
    with at(path):
        parts = {key: dict(_tables(plain.pop(key, {}), key, kind)) for key, kind in _KINDS.items()}
        for key in ("worlds", "entries"):
            if not parts[key]:
                raise UsageError(f"there is no [{key}.NAME]; give at least one")
        suite: Suite = evolve(from_plain(plain, Suite, "suite"), **parts)
        suite = suite if max_cost is None else evolve(suite, max_cost=max_cost)
        for name, entry in suite.entries.items():
            with at(f"entries.{name}"):
                _check_entry(entry, suite)
        for name, world in suite.worlds.items():
            with at(f"worlds.{name}"):
                _check_options(world.options)
        for name, table in suite.tables.items():
            with at(f"tables.{name}"):
                _check_table(name, table, suite)
    return suite


@contextmanager
def at(place: object) -> Iterator[None]:
    """Name a place of a suite's file in the faults that are found in the block."""
    try:
        yield
    except DesimError as fault:
        raise UsageError(f"{place}: {fault}") from None


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


#: The classes of the named tables of a suite.
_KINDS = {"worlds": WorldTable, "entries": EntryTable, "tables": PooledTable}


def _tables(plain: Any, key: str, kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the named tables under a key."""
    for name, table in from_plain(plain, dict[str, Any], key).items():
        if not (name.isprintable() and 0 < len(name) <= _LONGEST_NAME):
            raise UsageError(
                f"{key}.{short_repr(name)} is no name: up to {_LONGEST_NAME} characters that can "
                "be printed"
            )
        with at(f"{key}.{name}"):
            made = from_plain(_with_columns(table), kind, f"{key}.{name}")
            heads = [column.head for column in getattr(made, "columns", ())]
            if twice := {head for head in heads if heads.count(head) > 1}:
                raise UsageError(f"two columns are called {min(twice)!r}; give one another name")
        yield name, made


def _with_columns(table: Any) -> Any:
    """Return a table in which columns that are names of figures are tables."""
    if not isinstance(table, Mapping) or not isinstance(table.get("columns"), list):
        return table
    named = [{"figure": one} if isinstance(one, str) else one for one in table["columns"]]
    return {**table, "columns": named}


def _check_table(name: str, table: PooledTable, suite: Suite) -> None:
    if name in suite.worlds:
        raise UsageError("a world has the same name; give the table another one")
    if not table.worlds or len(set(table.worlds)) < len(table.worlds):
        raise UsageError("worlds names at least one world, and each once")
    _check_worlds(table.worlds, suite)


def _check_worlds(names: Iterable[str], suite: Suite) -> None:
    for world in names:
        if world not in suite.worlds:
            raise UsageError(f"there is no world {world!r}; {possible(world, suite.worlds)}")


def _check_entry(table: EntryTable, suite: Suite) -> None:
    """Check what can be found before a policy is built."""
    _check_worlds(table.worlds, suite)
    if not table.model:
        _check_policy(table)
        return
    if not table.roles and isinstance(table.policy, str) and table.policy:
        raise UsageError(
            "beside a model, policy is for the other roles; name the model's own as roles"
        )
    learns = table.learn or table.rules == "model"
    if learns and (table.method != ROUTER or not table.learn):
        raise UsageError(
            f"learn={table.learn} and rules={table.rules} were given; only a router with learn "
            '= "offline" learns from other methods, or has its rules written'
        )
    if table.learn and "router" in table.options:
        raise UsageError(f"options.router and learn={table.learn} each name the router's rules")
    _check_options(table.options)
    limited = table.max_cost is not None or suite.max_cost is not None
    if limited and (table.price_in is None or table.price_out is None):
        raise UsageError(
            "a limit of money needs price_in and price_out (0 where the model is free)"
        )


def _check_policy(table: EntryTable) -> None:
    if not table.policy:
        raise UsageError("it names neither a policy nor a language model (policy or model)")
    given = to_plain(table)
    keys = ("roles", "base_url", "key_env", "method", "learn", "options", "price_in", "price_out")
    for key in keys:
        if given.get(key) not in (None, "", [], {}):
            raise UsageError(f"{key} belongs to a language model; give its name as model")


def _check_options(options: Mapping[str, Any]) -> None:
    if "memory" in options:
        raise UsageError(
            "options.memory is a file that several episodes would write at once; episodes = N of a "
            "world plays N in a row with one memory, which their records keep"
        )
    for key, value in options.items():
        if "," in argument_text(value):
            raise UsageError(f"options.{key} holds a comma, which no argument of a policy can")
        if key in ("model", "base_url", "key_env", "method", "price_in", "price_out"):
            raise UsageError(f"options.{key} is a key of the entry itself")


def argument_text(value: Any) -> str:
    """Return a value of a suite's file as the text of an argument."""
    return value if isinstance(value, str) else json.dumps(to_plain(value))
