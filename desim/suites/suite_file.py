"""The file of a suite: worlds, entries, seeds, limits, and published rows for comparison."""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import Attribute, evolve, field, frozen
from attrs.validators import and_, ge, le, min_len, optional

from desim.engine.parameters import refuse_duplicates
from desim.engine.run.executors import AT_ONCE
from desim.errors import DesimError, UsageError, possible
from desim.schema import from_plain, to_plain
from desim.schema.validators import not_negative
from desim.short_repr import short_repr
from desim.show.files import read_text

#: Most bytes of a suite's file, and most characters of a world's or an entry's name.
_MAX_BYTES, _LONGEST_NAME = 1_000_000, 100

#: Most episodes of a suite.
MAX_JOBS = 100_000

#: The statistics of an entry's episodes that a column may show.
_SHOWS = ("mean", "spread", "over_best", "normalised", "share")

#: Keys of an entry that a plain policy may have beside `policy`.
_OF_ANY = ("policy", "worlds", "published", "max_cost", "note")


def _is_shown(_: object, attribute: "Attribute[str]", value: str) -> None:
    if value not in _SHOWS:
        raise ValueError(f"{attribute.name}={value!r} was given; {possible(value, _SHOWS)}")


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
    show: str = field(default="mean", validator=_is_shown)
    published: str = ""

    @property
    def head(self) -> str:
        """The head of the column."""
        return self.name or self.figure


@frozen
class PublishedSheet:
    """A table of a data file in `models/published`, with which a world's results are compared."""

    file: str
    table: str


@frozen
class WorldTable:
    """A world of a suite.

    Attributes:
        model: Its name in the catalog, with or without `/preset`, or `module:Class`.
        set: Parameters changed, as `--set`.
        seeds: "A:B" without B, or a list; those of the suite where empty.
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
    set: dict[str, Any] = field(factory=dict)
    seeds: str | list[int] = ""
    repeats: int | None = field(default=None, validator=optional(ge(1)))
    episodes: int = field(default=1, validator=and_(ge(1), le(999)))  # names of files have 3 digits
    options: dict[str, Any] = field(factory=dict)
    policy: dict[str, str] = field(factory=dict)
    columns: tuple[SuiteColumn, ...] = ()
    published: PublishedSheet | None = None


@frozen
class PooledTable:
    """A table of results over the episodes of several worlds together, by entry.

    An episode whose world lacks the figure of a column is not in it.
    """

    worlds: list[str] = field(validator=min_len(1))
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
        method: The method around the model; empty for none.
        options: Further arguments of the policy `llm`: temperature, max_calls, mode, ... A `router`
            chooses a method for each question, and answers what it has answered in this suite.
        max_cost: Money that all episodes of this entry may use.
        worlds: The worlds that it plays; all where empty.
        published: Its row, or column, in the published sheets; several where tables differ in it.
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
    options: dict[str, Any] = field(factory=dict)
    max_cost: float | None = field(default=None, validator=not_negative)
    worlds: list[str] = field(factory=list)
    published: str | list[str] = ""
    note: str = ""


@frozen
class Suite:
    """A suite as plain data.

    Attributes:
        title: What it is, in one line.
        seeds: "A:B" without B, or a list; of all worlds that name none.
        repeats: Episodes with each seed.
        max_cost: Money that all entries may use together; None for no limit.
        ask_above: Money expected above which the command asks before it plays.
        concurrent: Episodes of language models at one endpoint at once, and so calls at once.
        worlds: By name.
        entries: By name.
        tables: Tables over several worlds, by name.
    """

    title: str = ""
    seeds: str | list[int] = "0:1"
    repeats: int = field(default=1, validator=ge(1))
    max_cost: float | None = field(default=None, validator=not_negative)
    ask_above: float = field(default=1.0, validator=not_negative)
    concurrent: int = field(default=AT_ONCE, validator=and_(ge(1), le(1_000)))
    worlds: Mapping[str, WorldTable] = field(factory=dict)
    entries: Mapping[str, EntryTable] = field(factory=dict)
    tables: Mapping[str, PooledTable] = field(factory=dict)


def read_suite(path: Path, max_cost: float | None = None) -> Suite:
    """Return the suite of a file, with a limit of money instead of its own if one is given.

    Raises:
        UsageError: The file cannot be read, is not TOML, or has a fault; the text has its place.
    """
    try:
        plain = tomllib.loads(read_text(path, _MAX_BYTES))
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except (ValueError, RecursionError) as fault:
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
                _check_worlds(entry.worlds, suite)
                _check_entry(entry, limited=suite.max_cost is not None)
        for name, world in suite.worlds.items():
            with at(f"worlds.{name}"):
                _check_options(world.options)
        for name, table in suite.tables.items():
            with at(f"tables.{name}"):
                _check_worlds(table.worlds, suite)
                if name in suite.worlds:
                    raise UsageError("a world has the same name; give the table another one")
    return suite


@contextmanager
def at(place: object) -> Iterator[None]:
    """Name a place of a suite's file in the faults that are found in the block."""
    try:
        yield
    except DesimError as fault:
        raise UsageError(f"{place}: {fault}") from None


#: The classes of the named tables of a suite.
_KINDS = {"worlds": WorldTable, "entries": EntryTable, "tables": PooledTable}


def _tables(plain: Any, key: str, kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the named tables under a key; columns may be names of figures."""
    for name, table in from_plain(plain, dict[str, dict[str, Any]], key).items():
        if not (name.isprintable() and 0 < len(name) <= _LONGEST_NAME):
            raise UsageError(
                f"{key}.{short_repr(name)} is no name: up to {_LONGEST_NAME} characters that can "
                "be printed"
            )
        if isinstance(columns := table.get("columns"), list):
            table["columns"] = [{"figure": c} if isinstance(c, str) else c for c in columns]
        with at(f"{key}.{name}"):
            made = from_plain(table, kind, f"{key}.{name}")
            refuse_duplicates("the column", [c.head for c in getattr(made, "columns", ())])
        yield name, made


def _check_worlds(names: Iterable[str], suite: Suite) -> None:
    for world in names:
        if world not in suite.worlds:
            raise UsageError(f"there is no world {world!r}; {possible(world, suite.worlds)}")
    refuse_duplicates("the world", names)


def _check_entry(table: EntryTable, *, limited: bool) -> None:
    """Check what can be found before a policy is built."""
    if not table.model:
        if not table.policy:
            raise UsageError("it names neither a policy nor a language model (policy or model)")
        none, given = to_plain(EntryTable()), to_plain(table)
        for key in (key for key in given if key not in _OF_ANY and given[key] != none[key]):
            raise UsageError(f"{key} belongs to a language model; give its name as model")
        return
    if not table.roles and isinstance(table.policy, str) and table.policy:
        raise UsageError(
            "beside a model, policy is for the other roles; name the model's own as roles"
        )
    _check_options(table.options)
    limited = limited or table.max_cost is not None
    if limited and (table.price_in is None or table.price_out is None):
        raise UsageError(
            "a limit of money needs price_in and price_out (0 where the model is free)"
        )


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
