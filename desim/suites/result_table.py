"""The results of a suite as tables, and as files: a row an episode, and a row a column."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import msgspec

from desim.core.roles import knowledge_legend, knowledge_order, with_knowledge
from desim.episodes.usage import MOST_DEFAULTS, default_share
from desim.rows.notes import DEFAULTS_MEANS, estimate_notes, missing_note
from desim.show.estimates import ends_cell
from desim.show.labels import estimate_text, number_text
from desim.show.table import Printed, Table
from desim.suites.results import STATES, ResultCell, SuiteLine, results
from desim.suites.suite_folder import Outcomes
from desim.suites.suite_plan import Plan

#: A block of columns: a head, and one cell for each line.
_Block = list[tuple[str, list[Any]]]

_TRAINING = "training: episodes that were only learned from; they are in no mean."
_NOT_PLAYED = (
    f"not played: episodes with more than {MOST_DEFAULTS:.0%} defaults of a role; in no mean."
)


def result_table(world: str, lines: Sequence[SuiteLine]) -> Table:
    """Return the table of a world: its entries with the means of their columns.

    Entries that know less come first.
    """
    lines = by_knowledge(lines)
    counts: _Block = [
        ("n" if state == "done" else state, [line.counts[state] for line in lines])
        for state in STATES
        if state in ("done", "cut") or any(line.counts[state] for line in lines)
    ]
    if any(line.defaults is not None for line in lines):
        given = [line.defaults for line in lines]
        counts.append(("defaults", [None if n is None else Printed(n, f"{n:.0%}") for n in given]))
    figures = map(_block, zip(*(line.cells for line in lines), strict=True))
    blocks = [
        [("entry", [with_knowledge(line.entry, line.knows) for line in lines])],
        counts,
        *filter(None, figures),
    ]
    names, columns = zip(*(column for block in blocks for column in block), strict=True)
    return Table(
        names,
        zip(*columns, strict=True),
        title=world,
        notes=_notes(lines),
        legend=_legend(lines),
        breaks=accumulate(map(len, blocks[:-1])),
    )


def by_knowledge(lines: Sequence[SuiteLine]) -> list[SuiteLine]:
    """Return the lines of a table in its order: those that know less first."""
    return sorted(lines, key=lambda line: knowledge_order(line.knows))


def _legend(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the sentences on what the heads of counts, shares and parts of `tokens` mean."""
    if any(line.counts["training"] for line in lines):
        yield _TRAINING
    if any(line.defaults for line in lines):
        yield DEFAULTS_MEANS
    if any(line.counts["not played"] for line in lines):
        yield _NOT_PLAYED
    own = ("cost", "tokens", "minutes")
    heads = [cell.head for cell in lines[0].cells if cell.used and cell.head not in own]
    if heads:
        yield f"{', '.join(heads)}: parts of tokens, read and written; reasoning is all written."
    yield from knowledge_legend(line.knows for line in lines)


def _notes(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the sentences on lines that cannot be compared, what intervals count, seeds needed."""
    if worlds := dict.fromkeys(world for line in lines for world in line.pooled):
        fewer = (
            f"; {line.entry}: {', '.join(line.pooled) or 'none'} alone"
            for line in lines
            if len(line.pooled) < len(worlds)
        )
        yield f"Over the episodes of {', '.join(worlds)} together{''.join(fewer)}."
    yield from missing_note(
        {
            f"{line.entry} in {cell.head}": (cell.missing, line.counts["done"])
            for line in lines
            for cell in line.cells
            if cell.estimate or not cell.used
        }
    )
    yield from estimate_notes(line.main.sample for line in lines)
    yield from _to_tell(lines)


def _to_tell(lines: Sequence[SuiteLine]) -> Iterator[str]:
    """Yield the sentence on the seeds that would distinguish each entry from the best one."""
    known = [(one.mean, line) for line in lines if (one := line.main.estimate)]
    if known:
        _, best = max(known, key=lambda pair: pair[0])
        seeds = {line.entry: line.main.sample.to_tell(best.main.sample) for _, line in known}
        if texts := [f"{entry} {count:,}" for entry, count in seeds.items() if count]:
            yield (
                f"Seeds with which half the 95 % interval of the difference to {best.entry} by "
                f"{best.main.head} would be half of it: {', '.join(texts)}."
            )


def _block(column: Sequence[ResultCell]) -> _Block:
    """Return a column, its interval and published numbers; none where all is empty."""
    if not any(cell.estimate or cell.published for cell in column):
        return []
    first, found = column[0], [cell.estimate for cell in column]
    spread = " ± sd" if first.show == "mean" and not first.used else ""
    block: _Block = [(f"{first.head}{spread}", [_figure(cell) for cell in column])]
    if any(one and one.half for one in found) and not first.used:
        block.append(("95 %", [one and ends_cell(one.low, one.high) for one in found]))
    if any(cell.published for cell in column):
        block.append(("published", [cell.published or None for cell in column]))
    return block


def _figure(cell: ResultCell) -> Printed | None:
    """Return the figure of a column, of money, tokens or minutes, or the mean with its spread."""
    if cell.estimate is None:
        return None
    mean = cell.estimate.mean
    if cell.used and cell.head != "cost":
        return Printed(mean, f"{mean:,.1f}" if cell.head == "minutes" else f"{mean:,.0f}")
    if cell.used or cell.show != "mean":
        return Printed(mean, number_text(float(f"{mean:.4g}")))
    # Without an interval the spread says how many digits mean something.
    half = cell.estimate.half or cell.sd
    sd = f" ± {estimate_text(cell.sd, half)}" if cell.sd else ""
    return Printed(mean, estimate_text(mean, half) + sd)


# -- files -----------------------------------------------------------------------------------------

#: The heads of `rows.csv` before those of usage and metrics.
_HEADS = (
    *("world", "entry", "seed", "repeat", "episode"),
    *("state", "score", "ended", "decisions", "defaults"),
)


def result_files(plan: Plan, outcomes: Outcomes) -> dict[str, bytes]:
    """Return the files of results by name.

    `rows.csv` has a row for each episode that was played, those of a series one by one, and
    `table.csv` one for each column of each line. `defaults` is the share of default actions in the
    decisions of language models, `cases` the number of cases that seeds share, which an interval
    then counts.
    """
    played = [one for each in outcomes.values() for one in each]
    usage = {f"usage.{name}" for one in played for name in one.usage}
    metrics = {name for one in played for name in one.metrics}
    rows = (
        {
            **{name: _plain(value) for name, value in one.metrics.items()},
            **{f"usage.{name}": value for name, value in one.usage.items()},
            **{name: getattr(one, name) for name in ("state", "score", "ended", "decisions")},
            "world": job.world,
            "entry": job.entry,
            "repeat": job.repeat + 1,
            "seed": job.seed + one.episode - 1,
            "episode": one.episode,
            "defaults": default_share(one.usage),
            "reason": one.error or one.limit,
        }
        for job, each in outcomes.items()
        for one in each
    )
    columns = [_column(line, cell) for line in results(plan, outcomes) for cell in line.cells]
    return {
        "rows.csv": _csv([*_HEADS, *sorted(usage), *sorted(metrics), "reason"], rows),
        "table.csv": _csv([*columns[0]] if columns else [], columns),
    }


def _column(line: SuiteLine, cell: ResultCell) -> dict[str, Any]:
    one = cell.estimate
    return {
        "world": line.world,
        "entry": line.entry,
        "knows": line.knows,
        "column": cell.head,
        "show": cell.show,
        "mean": one and one.mean,
        "sd": cell.sd,
        "low": one and one.low,
        "high": one and one.high,
        "n": one.n if one else 0,
        "cases": len(cell.sample.independent) if cell.sample.is_clustered else None,
        "published": cell.published or None,
        **{state.replace(" ", "_"): line.counts[state] for state in STATES},
        "defaults": line.defaults,
    }


def _csv(heads: Sequence[str], rows: Iterable[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _plain(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value
