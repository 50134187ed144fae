"""The tables of a board: one for each suite, season, world, revision, class of trust and knowledge.

Ranks are intervals: an entry has those that the paired differences by seed leave possible. Entries
of different classes, and of different knowledge, are never in one table.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from desim.core.roles import Knowledge, knowledge_order
from desim.episodes.usage import MOST_DEFAULTS
from desim.show.estimates import SEEDED_HEADS, seeded_cells
from desim.show.table import Printed, Table
from desim.statistics.intervals import Interval, interval, moments
from desim.statistics.ranks import ranked
from desim.suites.suite_file import EntryTable, Suite, argument_text
from desim.suites.suite_seeds import seeds_text
from desim.verification.boards.entry_board import EnteredEntry, EntryBoard
from desim.verification.signed.keys import PublicKey


@frozen
class BoardClass:
    """The class of the entries of one table.

    Attributes:
        suite: The digest of the suite, seeds included.
        world: The name of the world in it, which its author chose.
        model: The model with its changed parameters, the policies of other roles, and the seeds.
        revision: The revision of the world in words.
        seeds: The class of the seeds: public, fresh or sealed.
        actions: How the actions were derived again.
        knows: The most that the policies know.
    """

    suite: str
    world: str
    model: str
    revision: str
    seeds: str
    actions: str
    knows: Knowledge

    @property
    def order(self) -> tuple[int, int, str, str]:
        """The place among the classes of a world: strong seeds first, then little knowledge."""
        seeds = ("sealed", "fresh", "public").index(self.seeds)
        return seeds, knowledge_order(self.knows), self.actions, self.revision

    @property
    def title(self) -> str:
        """World, seeds, class of trust and knowledge in words."""
        return (
            f"{self.world}: {self.model} (revision {self.revision}); {self.seeds} seeds, actions "
            f"{self.actions}, knowledge: {self.knows}"
        )


@frozen
class BoardEntry:
    """A line of a table.

    Attributes:
        name: The entry's name, by his own words.
        plays: The policy, or the model and the method, as the suite names them.
        submitter: The name of the submitter, by his own words.
        key: The beginning of the identity of its key.
        digest: The beginning of its digest.
        score: The mean of the scores with its interval.
        by_seed: The mean score of each seed.
        ranks: The ranks that the data leave possible; None without a rank.
        defaults: The share of default actions; None for rules.
        used: Calls, tokens and cost as texts.
        attempts: How often it was played, as the submitter says.
        counted: Which session or commitment of its key it is.
        tuned_on: The seeds on which it was tuned, as its author says; empty if he says nothing.
        entered: The day on which it was entered.
        ended: Why it has no rank: withdrawn, removed, replaced, or not played; empty if it has.
    """

    name: str
    plays: str
    submitter: str
    key: str
    digest: str
    score: Interval
    by_seed: Mapping[str, float] = field(repr=False)
    ranks: tuple[int, int] | None
    defaults: float | None
    used: Mapping[str, str]
    attempts: int
    counted: str
    tuned_on: str
    entered: str
    ended: str = ""


def board_tables(board: EntryBoard) -> dict[BoardClass, list[BoardEntry]]:
    """Return the lines of each table, those with the best ranks first.

    Raises:
        BadRecord: The folder does not hold what the log names.
    """
    entries = board.entries()
    found: dict[BoardClass, list[BoardEntry]] = {}
    for entry in entries:
        for world in entry.verdict.scores:
            if entry.verdict.scores[world]:
                line = _board_entry(entry, world, entries)
                found.setdefault(_class(entry, world), []).append(line)
    ordered = sorted(found, key=lambda one: (one.suite, one.world, one.order))
    return {key: _ranked(found[key]) for key in ordered}


def shown_table(key: BoardClass, lines: Sequence[BoardEntry]) -> Table:
    """Return the table of a class, for terminal, page, CSV and JSON; without empty columns."""
    of = sum(line.ranks is not None for line in lines)
    rows = [
        {
            "rank": _rank_text(line, of),
            "entry": line.name,
            "plays": line.plays,
            "who": line.submitter or None,
            **dict(zip(SEEDED_HEADS, seeded_cells(line.score), strict=True)),
            "defaults": None
            if line.defaults is None
            else Printed(line.defaults, f"{line.defaults:.0%}"),
            **{name: _number(line.used.get(name)) for name in ("calls", "cost")},
            "attempts": line.attempts,
            "of its key": line.counted or None,
            "tuned on": line.tuned_on or None,
            "entered": line.entered,
            "key": line.key,
        }
        for line in lines
    ]
    heads = [head for head in rows[0] if any(row[head] is not None for row in rows)]
    left = [place for place, head in enumerate(heads) if head in _WORDS]
    cells = [[row[head] for head in heads] for row in rows]
    return Table(heads, cells, left, key.title, legend=_LEGEND)


#: Heads of columns of words, and what heads mean that a hasty reader could misread.
_WORDS = (
    "rank",
    "entry",
    "plays",
    "who",
    "of its key",
    "tuned on",
    "entered",
    "key",
)
_LEGEND = (
    "rank: the ranks that paired differences by seed leave possible at 95 %",
    "plays: the policy; of a language model the name that the submitter gives it, and the method",
    "of its key: which of the sessions or commitments of its key this is, by the log on that day",
    "entry, who, attempts, tuned on, cost: as the submitter says; nothing proves them",
    "calls, cost: of the whole entry, in all its worlds together",
    "defaults: share of a language model's decisions that took the default action",
    "key: the beginning of the identity that signed the entry",
)


def _rank_text(line: BoardEntry, of: int) -> str:
    """Return the ranks of an entry, or why it has none: in the column that every screen shows."""
    if line.ranks is None:
        return f"none: {line.ended}"
    return f"{'-'.join(map(str, dict.fromkeys(line.ranks)))} of {of}"


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _class(entry: EnteredEntry, world: str) -> BoardClass:
    manifest = entry.manifest
    return BoardClass(
        manifest.suite,
        world,
        _world_text(entry.suite, world, manifest.seeds),
        manifest.worlds.get(world, ""),
        manifest.seeds,
        entry.verdict.actions,
        manifest.knows.get(world, "observation"),
    )


def _board_entry(entry: EnteredEntry, world: str, entries: Iterable[EnteredEntry]) -> BoardEntry:
    manifest = entry.manifest
    scores: Mapping[str, Sequence[str]] = entry.verdict.scores[world]
    by_seed = {seed: moments([float(one) for one in of])[0] for seed, of in scores.items()}
    share = manifest.results[world].defaults if world in manifest.results else None
    defaults = None if share is None else float(share)
    return BoardEntry(
        manifest.name,
        _player_text(entry.suite.entries.get(manifest.entry), manifest.seeds),
        manifest.submitter,
        PublicKey(bytes.fromhex(entry.line.line.key)).id[:16],
        entry.digest[:16],
        interval(list(by_seed.values())),
        by_seed,
        None,
        defaults,
        manifest.used,
        manifest.attempts,
        entry.verdict.counted,
        _tuned_on(manifest.tuned_on, entry.verdict.warnings),
        dt.datetime.fromtimestamp(entry.line.line.time, dt.UTC).date().isoformat(),
        _ended(entry, entries, defaults),
    )


def _world_text(suite: Suite, world: str, seeds: str) -> str:
    """Return the model of a world and what the suite makes of it, in words."""
    table = suite.worlds[world]
    model = f"{table.model}/{table.preset}" if table.preset else table.model
    changes = [f"{name}={argument_text(value)}" for name, value in table.set.items()]
    others = [f"{role}: {spec}" for role, spec in table.policy.items()]
    in_a_row = [f"{table.episodes} episodes in a row"] if table.episodes > 1 else []
    given = seeds_text(table.seeds or suite.seeds, world).removeprefix("seeds ")
    played = [] if seeds == "sealed" else [f"seeds {given}"]
    return ", ".join([model, *changes, *others, *in_a_row, *played])


def _player_text(table: EntryTable | None, seeds: str) -> str:
    """Return the policy of an entry, or its model and method."""
    if table is None or seeds == "sealed":
        return "a client"
    if table.model:
        return ", ".join(filter(None, (table.model, table.method)))
    policy = table.policy
    return policy if isinstance(policy, str) else ", ".join(f"{r}: {p}" for r, p in policy.items())


def _tuned_on(seeds: str, warnings: Sequence[str]) -> str:
    return f"{seeds}, seeds of the report" if warnings else seeds


def _ended(entry: EnteredEntry, entries: Iterable[EnteredEntry], defaults: float | None) -> str:
    """Return why an entry has no rank; empty if it has one."""
    if entry.ended is not None:
        line = entry.ended.line
        word = "withdrawn" if line.event == "withdrawal" else "removed"
        return f"{word}: {line.note}" if line.note else word
    later = [
        other
        for other in entries
        if other.line.line.number > entry.line.line.number and _same_name(other, entry)
    ]
    if later:
        return f"replaced by {later[-1].digest[:16]}"
    return "not played" if defaults is not None and defaults > MOST_DEFAULTS else ""


def _same_name(one: EnteredEntry, other: EnteredEntry) -> bool:
    """Return whether two entries of one suite are of one identity and name."""
    mine, theirs = one.manifest, other.manifest
    return (mine.key, mine.name, mine.suite) == (theirs.key, theirs.name, theirs.suite)


def _ranked(lines: Sequence[BoardEntry]) -> list[BoardEntry]:
    """Return the lines with ranks, the best first, then those without one."""
    standing = [line for line in lines if not line.ended]
    seeds = sorted({seed for line in standing for seed in line.by_seed})
    whole = [line for line in standing if len(line.by_seed) == len(seeds)]
    values: list[Any] = [[line.by_seed[seed] for seed in seeds] for line in whole]
    places = ranked(values) if len(whole) > 1 and len(seeds) > 1 else []
    with_ranks = [
        evolve(line, ranks=place.ranks) for line, place in zip(whole, places, strict=False)
    ] or [evolve(line, ranks=(1, len(whole))) for line in whole]
    rest = [
        line
        if line.ended
        else evolve(line, ended=f"it has scores for {len(line.by_seed)} of {len(seeds)} seeds")
        for line in lines
        if line not in whole
    ]
    return sorted(with_ranks, key=lambda line: (line.ranks or (0, 0), -line.score.mean)) + rest
