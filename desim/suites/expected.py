"""What a suite takes: the episodes that are left, with the calls, tokens and money expected.

The use of the episodes left is estimated from played episodes of the same entry in the same world,
or if there are none, from the calls that its method declares.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean

from attrs import frozen

from desim.catalog.policy_spec import Spec
from desim.core.limits import Limits
from desim.core.model import ItemsModel, rules_of
from desim.episodes.driver import play
from desim.episodes.lineup import assign
from desim.errors import DesimError
from desim.show.estimates import short_cell
from desim.show.table import Printed, Table
from desim.suites.suite_file import EntryTable
from desim.suites.suite_folder import Outcomes, Played
from desim.suites.suite_plan import Plan, SuiteCell, outside_class

_MILLION = 1_000_000

#: Characters of a token, and tokens of a reply without reasoning, in a rough estimate.
_CHARACTERS, _WRITTEN = 4, 120

#: Wall time of the episode of `random` from which decisions are counted.
_RANDOM_SECONDS = 20.0

_BASIS = "decisions of random"

#: The sums of an episode's usage that are expected.
_USED = ("calls", "prompt_tokens", "completion_tokens")

#: Calls, tokens read and tokens written; None where they are not known.
_Use = tuple[float | None, float | None, float | None]

_UNKNOWN: _Use = (None, None, None)


@frozen
class Expectation:
    """The expected use of one entry in one world.

    Attributes:
        world: The name of the world.
        entry: The name of the entry.
        left: Episodes left.
        calls: Calls expected for all of them; None if not known.
        read: Tokens read, expected for all of them; None if not known.
        wrote: Tokens written; likewise.
        cost: Money expected for all of them; None if not known.
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


def expectations(plan: Plan, outcomes: Outcomes, *, declared: bool = False) -> list[Expectation]:
    """Return the expected use of each entry in each world in which it has episodes left.

    Args:
        plan: The suite.
        outcomes: What has been played.
        declared: Whether an entry that has played no episode yet is expected to need the calls that
            its method declares; an episode of `random` is played for it.
    """
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
            (calls, read, wrote), basis = _use(left, cell, own, declared=declared)
            cost = 0.0 if calls == 0 else _cost(entry, read, wrote)
            found.append(Expectation(world, name, left, calls, read, wrote, cost, basis))
    return found


def expected_cost(lines: Sequence[Expectation]) -> float | None:
    """Return the money that all are expected to use; None if that of one is not known."""
    costs = [line.cost for line in lines if line.cost is not None]
    return sum(costs) if len(costs) == len(lines) else None


def _use(left: int, cell: SuiteCell, own: Sequence[Played], *, declared: bool) -> tuple[_Use, str]:
    """Return the use of the episodes left, by played ones or by the calls that methods declare.

    These are counted on the decisions of an episode of `random`; a call reads the rules and the
    observation, without the conversation before it.
    """
    if not cell.host:
        return (0.0, None, None), "no language model"
    if own:
        calls, read, wrote = (left * fmean(o.usage.get(name, 0.0) for o in own) for name in _USED)
        return (calls, read, wrote), f"{len(own)} of its own"
    model, policies = cell.model, assign(cell.model, cell.entry.policies)
    specs = {role: Spec.read(one) for role, one in policies.items() if isinstance(one, str)}
    if isinstance(model, ItemsModel) and any("router" in one.arguments for one in specs.values()):
        return (0.0, 0.0, 0.0), "stored answers"
    calls_of = {
        role: outside_class(str(spec), model).calls_a_decision(spec.arguments)
        for role, spec in specs.items()
    }
    sent = {role: calls for role, calls in calls_of.items() if calls}
    if not (declared and sent):
        return _UNKNOWN, "none"
    random = {**{role: str(spec) for role, spec in specs.items()}, **dict.fromkeys(sent, "random")}
    try:
        played = play(model, random, 0, limits=Limits(seconds=_RANDOM_SECONDS))
    except DesimError:
        return _UNKNOWN, "none"
    asked = [step for step in played.steps if step.role in sent]
    rules = {role: len(rules_of(model, role)) for role in sent}
    seen = sum(sent[step.role] * (rules[step.role] + len(step.observed)) for step in asked)
    calls = left * sum(sent[step.role] for step in asked)
    return (calls, left * seen / _CHARACTERS, calls * _WRITTEN), _BASIS


def _cost(entry: EntryTable, read: float | None, wrote: float | None) -> float | None:
    """Return the money for tokens by the entry's prices; None if it is not known."""
    price_in, price_out = entry.price_in, entry.price_out
    if price_in == price_out == 0:
        return 0.0
    if price_in is None or price_out is None or read is None or wrote is None:
        return None
    return (read * price_in + wrote * price_out) / _MILLION


# -- the table -------------------------------------------------------------------------------------

_HEADS = ("world", "entry", "left", "calls", "tokens read", "tokens written", "cost", "rests on")

_ROUGH = (
    "decisions of random: calls as the method declares them; tokens are rough (rules and "
    "observation of each call, 120 tokens written), without the conversation before and reasoning"
)


def expected_table(lines: Sequence[Expectation]) -> Table:
    """Return the table of expected use, a line for each world and entry."""
    rows = [
        [line.world, line.entry, line.left]
        + [
            None if n is None else Printed(n, f"{n:,.0f}")
            for n in (line.calls, line.read, line.wrote)
        ]
        + [short_cell(line.cost), line.basis]
        for line in lines
    ]
    return Table(_HEADS, rows, (0, 1, 7), notes=_notes(lines))


def total_line(plan: Plan, lines: Sequence[Expectation]) -> str:
    """Return the sums over all worlds and entries as a sentence."""
    left, cost = sum(line.left for line in lines), expected_cost(lines)
    sums = (
        f"{sum(getattr(line, name) or 0 for line in lines):,.0f} {text}"
        for name, text in (("calls", "calls"), ("read", "tokens read"), ("wrote", "tokens written"))
    )
    least = "at least " * any(line.calls is None for line in lines)
    money = "not known" if cost is None else f"{cost:.4g}"
    return (
        f"{left:,} of {plan.episodes:,} episodes are left: {least}{', '.join(sums)}; cost {money}"
    )


def _notes(lines: Sequence[Expectation]) -> Iterator[str]:
    if any(line.basis == _BASIS for line in lines):
        yield _ROUGH
    if any(line.calls is None for line in lines):
        yield "none: no figures for this world, method and roles; play one episode into --out"
