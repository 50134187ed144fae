"""The episodes that a suite has left, with the calls, tokens and money expected.

The use of the episodes left is that of played episodes of the same entry in the same world. Without
one, calls are limited by the `max_calls` of the language models, and nothing else is known.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean

from attrs import frozen

from desim.catalog.policy_spec import Spec
from desim.engine.policies import host_of
from desim.episodes.lineup import assigned
from desim.show.estimates import short_cell
from desim.show.table import Printed, Table
from desim.suites.suite_file import EntryTable
from desim.suites.suite_folder import Outcomes, Played
from desim.suites.suite_plan import Plan, SuiteCell

#: The sums of an episode's usage that are expected.
_USED = ("calls", "prompt_tokens", "completion_tokens")

#: Calls, tokens read and tokens written; None where they are not known.
_Use = tuple[float | None, float | None, float | None]


@frozen
class Expectation:
    """The expected use of the episodes that one entry has left in one world.

    Attributes:
        calls: Calls of all of them, or at most; None if not known, as in what follows.
        read: Tokens read; *wrote* are written.
        cost: Money.
        basis: On what this rests, such as the number of played episodes.
    """

    world: str
    entry: str
    left: int
    calls: float | None
    read: float | None
    wrote: float | None
    cost: float | None
    basis: str


def expectations(plan: Plan, outcomes: Outcomes) -> list[Expectation]:
    """Return the expected use of each entry in each world in which it has episodes left."""
    found = []
    for (world, name), cell in plan.cells.items():
        jobs = [job for job in plan.jobs if (job.world, job.entry) == (world, name)]
        own = [
            one
            for job in jobs
            for one in outcomes.get(job, ())
            # Without the outcomes of other parameters or policies.
            if one.score is not None and one.record == plan.cell(job).record_name(job.seed)
        ]
        if left := len(jobs) * cell.episodes - len(own):
            entry = plan.suite.entries[name]
            (calls, read, wrote), basis = _use(left, cell, own)
            cost = 0.0 if calls == 0 else _cost(entry, read, wrote)
            found.append(Expectation(world, name, left, calls, read, wrote, cost, basis))
    return found


def expected_cost(lines: Sequence[Expectation]) -> float | None:
    """Return the money that all are expected to use; None if that of one is not known."""
    costs = [line.cost for line in lines if line.cost is not None]
    return sum(costs) if len(costs) == len(lines) else None


def _use(left: int, cell: SuiteCell, own: Sequence[Played]) -> tuple[_Use, str]:
    """Return the use of the episodes left, and on what it rests."""
    if not cell.host:
        return (0.0, None, None), "no language model"
    if own:
        calls, read, wrote = (left * fmean(o.usage.get(name, 0.0) for o in own) for name in _USED)
        return (calls, read, wrote), f"{len(own)} of its own"
    each = assigned(cell.model, cell.entry.policies)
    waiting = [Spec.read(one) for one, of in each if isinstance(one, str) and host_of(one, of)]
    limits = [one.arguments.get("max_calls", "") for one in waiting]
    if not all(limit.isdecimal() for limit in limits):
        return (None, None, None), "none"
    return (float(left * sum(map(int, limits))), None, None), "max_calls"


def _cost(entry: EntryTable, read: float | None, wrote: float | None) -> float | None:
    """Return the money for tokens by the entry's prices; None if it is not known."""
    price_in, price_out = entry.price_in, entry.price_out
    if price_in == price_out == 0:
        return 0.0
    if price_in is None or price_out is None or read is None or wrote is None:
        return None
    return (read * price_in + wrote * price_out) / 1_000_000


# -- the table -------------------------------------------------------------------------------------

_HEADS = ("world", "entry", "left", "calls", "tokens read", "tokens written", "cost", "rests on")


def expected_table(lines: Sequence[Expectation]) -> Table:
    """Return the table of expected use, a line for each world and entry."""
    rows = []
    for line in lines:
        counts = (line.calls, line.read, line.wrote)
        cells = [None if n is None else Printed(n, f"{n:,.0f}") for n in counts]
        rows.append([line.world, line.entry, line.left, *cells, short_cell(line.cost), line.basis])
    return Table(_HEADS, rows, (0, 1, 7), notes=_notes(lines))


def total_line(plan: Plan, lines: Sequence[Expectation]) -> str:
    """Return the sums over all worlds and entries as a sentence."""
    left, calls = sum(line.left for line in lines), sum(line.calls or 0 for line in lines)
    least = "at least " * any(line.calls is None for line in lines)
    cost = expected_cost(lines)
    money = "not known" if cost is None else f"{cost:.4g}"
    return (
        f"{left:,} of {plan.episodes:,} episodes are left: {least}{calls:,.0f} calls; cost {money}"
    )


def _notes(lines: Sequence[Expectation]) -> Iterator[str]:
    if any(line.basis == "max_calls" for line in lines):
        yield "max_calls: calls at most; play one episode into --out to know tokens and money"
    if any(line.basis == "none" for line in lines):
        yield "none: no figures for this world and entry; play one episode into --out"
