"""The report about a sweep: which policy is best in each world, and what was played."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from desim.core.roles import Knowledge, knowledge_order, with_knowledge
from desim.engine.plan import Row
from desim.engine.store import FILE_NAME, Store
from desim.errors import BadRecord, UsageError
from desim.reports.charts import dots
from desim.reports.page import Figure, Given, Page, Section, clean, cleaned, facts_table
from desim.reports.sweep_figures import over_parameters, series_fans, varied
from desim.rows.compare import ComparisonTable, TableLine
from desim.rows.known_means import knowledge
from desim.rows.notes import to_tell_term
from desim.rows.rows import Rows
from desim.show.estimates import TO_TELL, better_note
from desim.show.labels import label_text
from desim.show.table import Table
from desim.studies.boards.ranking import (
    BoardLine,
    headline,
    rank_cell,
    rank_notes,
    rank_terms,
    ranked,
    to_best_cell,
)

#: Policies of a world that are ranked: every pair is compared; and those that a figure shows.
_MOST_RANKED, _MOST_SHOWN = 60, 40

#: Worlds, which differ in model, preset or parameters, that have sections of their own.
_MOST_WORLDS = 12

#: Ways to end that have a column, errors, and seeds of an error.
_MOST_WAYS, _MOST_ERRORS, _MOST_SEEDS = 7, 30, 5

#: The versions that a sweep's folder states.
_VERSIONS = ("desim", "python", "simpy", "numpy")

_NUMBER = re.compile(r"\d+")


def sweep_page(rows: Rows, path: Path, against: str = "", minimise: str = "") -> Page:
    """Return the report about a sweep.

    Args:
        rows: Its rows.
        path: Where they were read.
        against: A policy with which the others are compared as well; empty for none.
        minimise: The figure that it is about, of which lower is better; empty for the score.

    Raises:
        UsageError: The rows are empty, *against* does not exist, or squares of figures overflow.
    """
    if not rows:
        raise UsageError(f"{path} holds no rows, so there is nothing to report")
    try:
        return _page(rows, path, against, minimise)
    except OverflowError:
        raise UsageError(f"{path} holds scores that are too large for a mean") from None


def _page(rows: Rows, path: Path, against: str, minimise: str) -> Page:
    worlds, figure = _by_world(rows), minimise or "score"
    shown = dict(islice(worlds.items(), _MOST_WORLDS))
    knows = knowledge({cell["policy"]: cell for cell in rows.gathered.cells})
    boards = {name: _board(each, knows, minimise) for name, each in shown.items()}
    best = {name: headline(lines) for name, lines in boards.items()}
    sections = [Section.of("Best policies", _best(worlds, best))]
    for name, each in shown.items():
        found = leaderboard(each, knows, boards[name], against, minimise)
        sections.append(Section.of(f"Leaderboard{_of(name)}", found))
    title = f"{label_text(figure)} against each parameter"
    sections.append(Section.of(title, over_parameters(rows, figure)))
    for name, each in shown.items():
        sections.append(Section.of(f"Series{_of(name)}", series_fans(each)))
    sections += [
        Section.of("How episodes ended", _endings(rows)),
        Section.of("Failures", _failures(rows)),
        Section.of("What was played", _played(rows, path)),
    ]
    models = ", ".join(dict.fromkeys(map(str, rows.column("model"))))
    lead = f"{len(rows):,} episodes, of which {len(rows.failed):,} failed."
    if len(best) == 1 and any(best.values()):
        lead = f"By mean {figure}, {best[next(iter(best))]}. {lead}"
    return Page.of(f"Sweep of {models}", [lead], sections)


def _of(world: str) -> str:
    return f", {world}" if world else ""


def _by_world(rows: Rows) -> dict[str, Rows]:
    """Return the rows of each world by the columns that distinguish it.

    Scores of different worlds have no common rank.
    """
    names = varied(rows)
    if not names:
        return {"": rows}
    return {
        ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True)): each
        for key, each in rows.groups(*names.values()).items()
    }


def _best(worlds: Mapping[str, Rows], best: Mapping[str, str]) -> Iterator[Given]:
    """Yield the best policy of each of several worlds."""
    if len(worlds) > 1:
        yield cleaned(
            ["world", "episodes", "best"],
            ([name, len(each), best.get(name)] for name, each in worlds.items()),
            left=(0, 2),
        )


def _board(rows: Rows, knows: Mapping[str, Knowledge], minimise: str) -> Sequence[BoardLine]:
    """Return ranked lines; empty if there are too many for a comparison of all."""
    if len({*rows.column("policy")}) > _MOST_RANKED:
        return ()
    return ranked(rows, knows, minimise=minimise)


def leaderboard(
    rows: Rows,
    knows: Mapping[str, Knowledge],
    board: Sequence[BoardLine],
    against: str = "",
    minimise: str = "",
) -> Iterator[Given]:
    """Yield the policies of one world by their mean, ranked and compared with the best.

    Args:
        rows: The rows of one world: one model with the same parameters.
        knows: What policies know, by label.
        board: The ranked lines; empty without ranks.
        against: A policy with which the others are compared as well; empty for none.
        minimise: The figure of the means, of which lower is better; empty for the score.

    Raises:
        UsageError: The policy *against* does not exist.
    """
    figure = minimise or "score"
    plain = rows.table(show=figure, against=against or None)
    lines = _ordered(plain.lines, knows, -1 if minimise else 1)
    names = {str(line.group[0]): _name(line, knows) for line in lines}
    shown = lines[:_MOST_SHOWN]
    yield Figure(
        f"Mean {figure} of each policy with its 95 % interval",
        dots([*names.values()][: len(shown)], [line.estimate for line in shown], figure),
        f"Mean {figure} with intervals of {len(shown)} policies, the best on top.",
        _means(plain, lines, names, board, minimise),
    )


def _means(
    plain: ComparisonTable,
    lines: Sequence[TableLine],
    names: Mapping[str, str],
    board: Sequence[BoardLine],
    minimise: str,
) -> Table:
    """Return the table's own cells with ranks, intervals to the best, and seeds to tell."""
    heads = [head for head in plain.heads() if head != "figure"]
    better = better_note(minimise, "lower") if minimise else ["higher scores are better"]
    legend = [*better, *plain.legend, *rank_terms(board, lower=bool(minimise))]
    if any(line.to_tell for line in board) and not plain.against:
        legend.append(to_tell_term("the best mean"))
    if not board:
        legend.append(f"no ranks: more than {_MOST_RANKED} policies are not compared in pairs")
    if len(lines) > _MOST_SHOWN:
        legend.append(f"the figure shows the first {_MOST_SHOWN} of {len(lines):,} policies")
    of_board = {policy: line for line in board for policy in line.policies}
    # Against a policy of the reader's choice, the table itself has the seeds to tell.
    to_tell = [] if plain.against else [TO_TELL]
    return cleaned(
        ["rank", *heads, "to the best", *to_tell],
        (
            [rank, names[policy], *plain.cells(line)[2:], to_best, *[seeds] * len(to_tell)]
            for line in lines
            for policy in [str(line.group[0])]
            for rank, to_best, seeds in [_rank_cells(of_board.get(policy))]
        ),
        left=(1,),
        notes=[*rank_notes(board), *plain.notes],
        legend=legend,
    )


def _rank_cells(line: BoardLine | None) -> tuple[Any, Any, Any]:
    return (rank_cell(line), to_best_cell(line), line.to_tell) if line else (None, None, None)


def _ordered(
    lines: Iterable[TableLine], knows: Mapping[str, Knowledge], sign: int
) -> list[TableLine]:
    """Return policies that know less first, each level from the best mean to those without."""
    return sorted(
        lines,
        key=lambda line: (
            knowledge_order(knows.get(str(line.group[0]), "observation")),
            line.estimate is None,
            -sign * line.estimate.mean if line.estimate else 0.0,
        ),
    )


def _name(line: TableLine, knows: Mapping[str, Knowledge]) -> str:
    name = str(line.group[0])
    return with_knowledge(name, knows.get(name))


def _endings(rows: Rows) -> Iterator[Given]:
    """Yield how many episodes of each policy ended in which way."""
    found: dict[str, Counter[str]] = {}
    columns = (rows.column(name) for name in ("policy", "ended", "error"))
    for policy, ended, error in zip(*columns, strict=True):
        way = clean(ended, 60) if error is None else "failed"
        found.setdefault(str(policy), Counter())[way] += 1
    total = sum(found.values(), Counter[str]())
    if len(total) == 1:
        (way,) = total
        yield f"All episodes {way if way == 'failed' else f'ended alike: {way}'}."
        return
    ways = [way for way, _ in total.most_common(_MOST_WAYS)]
    rest = ["others"] if len(total) > len(ways) else []
    yield cleaned(
        ["policy", "episodes", *ways, *rest],
        (
            [policy, counts.total(), *each, *[counts.total() - sum(each)] * len(rest)]
            for policy, counts in found.items()
            for each in [[counts[way] for way in ways]]
        ),
    )


def _failures(rows: Rows) -> Iterator[Given]:
    """Yield the errors of failed episodes, the most frequent first."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows.failed:
        # Errors of one kind differ in times, seeds and amounts.
        key = str(row["policy"]), _NUMBER.sub("0", clean(row["error"]))
        found.setdefault(key, []).append(row)
    if found:
        each = sorted(found.items(), key=lambda item: -len(item[1]))
        yield cleaned(
            ["policy", "episodes", "seeds", "error, or the first of several"],
            ([policy, len(own), _first(own), own[0]["error"]] for (policy, _), own in each),
            left=(0, 2, 3),
            most=_MOST_ERRORS,
        )


def _first(rows: Sequence[Row]) -> str:
    unique = list(dict.fromkeys(row["seed"] for row in rows))
    more = f" and {len(unique) - _MOST_SEEDS:,} more" if len(unique) > _MOST_SEEDS else ""
    return ", ".join(map(str, unique[:_MOST_SEEDS])) + more


def _played(rows: Rows, path: Path) -> Iterator[Given]:
    """Yield what was played, as far as rows and folder say: parameters, versions, files."""
    known = _identity(path if path.is_dir() else path.parent)
    yield facts_table(_facts(rows, known, path))


def _facts(rows: Rows, known: Mapping[str, str], path: Path) -> Iterator[tuple[str, object]]:
    yield "read from", path
    yield "model", ", ".join(_distinct(rows, "model"))
    yield "preset", ", ".join(_distinct(rows, "preset"))
    varying = varied(rows)
    fixed = {name: value for name, value in rows[0]["params"].items() if name not in varying}
    if fixed:
        yield "parameters set", ", ".join(f"{name}={value}" for name, value in fixed.items())
    for name, column in varying.items():
        if name != column:  # model and preset are in the lines above
            yield f"{name} varies", ", ".join(_distinct(rows, column))
    yield "policies", "; ".join(_distinct(rows, "policy"))
    yield "seeds", _seeds(rows)
    if known:
        yield "limits of an episode", known.get("limits", "none")
        yield "versions", ", ".join(f"{one} {known[one]}" for one in _VERSIONS if one in known)
    else:
        yield "versions", f"not known: there is no {FILE_NAME} beside the rows"


def _identity(folder: Path) -> Mapping[str, str]:
    """Return what determines the rows, by topic; nothing if the checkpoint is not there."""
    if not (folder / FILE_NAME).is_file():
        return {}
    # A sweep that is being played holds the lock.
    with contextlib.suppress(UsageError, BadRecord), Store(folder, read=True) as store:
        return store.shown_topics()
    return {}


def _distinct(rows: Rows, name: str) -> list[str]:
    return [str(value) for value in dict.fromkeys(map(str, rows.column(name)))]


def _seeds(rows: Rows) -> str:
    seeds = sorted(set(rows.column("seed")))
    whole = len(seeds) == seeds[-1] - seeds[0] + 1
    return f"{seeds[0]}:{seeds[-1] + 1}" if whole else ",".join(map(str, seeds))
