"""What a suite takes: the episodes that are left, with the calls, tokens and money expected.

The use of the episodes left is estimated from played episodes of the same entry in the same world.
If an entry has played none, the calls and tokens of other language models in that world are used,
at the entry's own prices; without such episodes, the calls that its method declares.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import evolve, frozen

from desim.catalog.policy_spec import Spec
from desim.core.limits import Limits
from desim.core.model import ItemsModel, rules_of
from desim.core.policy import OutsidePolicy
from desim.episodes.driver import play
from desim.episodes.lineup import assign, maker_of
from desim.errors import DesimError
from desim.show.estimates import short_cell
from desim.show.table import Printed, Table
from desim.suites.suite_file import ROUTER, EntryTable
from desim.suites.suite_folder import Outcomes, Played, ended_episodes
from desim.suites.suite_plan import Plan, SuiteCell, SuiteJob

_MILLION = 1_000_000

#: Characters of a token, and tokens of a reply without reasoning, in a rough estimate.
_CHARACTERS, _WRITTEN = 4, 120

#: Wall time of the episode of `random` from which decisions are counted.
_RANDOM_SECONDS = 20.0

_BASIS = "decisions of random"

#: The sums of an episode's usage that are expected.
_USED = ("calls", "prompt_tokens", "completion_tokens")


@frozen
class Expectation:
    """The expected use of one entry in one world.

    Attributes:
        world: Its name.
        entry: Its name.
        left: Episodes left.
        calls: Calls expected for all of them; None if not known.
        cost: Money expected for all of them; None if not known.
        basis: The number of episodes on which this rests, and whose they are.
        prompt_tokens: Tokens read, expected for all of them; None if not known.
        completion_tokens: Tokens written; likewise.
    """

    world: str
    entry: str
    left: int
    calls: float | None
    cost: float | None
    basis: str
    prompt_tokens: float | None = None
    completion_tokens: float | None = None


def expectations(
    plan: Plan,
    outcomes: Outcomes,
    written: int | None = None,
    *,
    declared: bool = False,
) -> list[Expectation]:
    """Return the expected use of each entry in each world in which it has episodes left.

    Args:
        plan: The suite.
        outcomes: What has been played.
        written: Tokens that a model writes in a call, instead of those that were written.
        declared: Whether an entry in whose world no language model has played yet is expected to
            need the calls that its method declares; an episode of `random` is played for it.
    """
    left: dict[tuple[str, str], int] = {}
    ended: dict[tuple[str, str], list[Played]] = {}
    for job in plan.jobs:
        pair = (job.world, job.entry)
        played = _of_job(job, outcomes)
        ended.setdefault(pair, []).extend(one for one in played if one.score is not None)
        if more := job.episodes - ended_episodes(played):
            left[pair] = left.get(pair, 0) + more
    found = []
    for pair, cell in plan.cells.items():
        if count := left.get(pair):
            entry = plan.suite.entries[pair[1]]
            expected = _expected(pair, cell, entry, count, ended)
            if expected.calls is None and declared:
                expected = _declared(expected, cell, entry)
            found.append(_with_written(expected, entry, written) if written else expected)
    return found


def _of_job(job: SuiteJob, outcomes: Outcomes) -> list[Played]:
    """Return the outcomes of a job, without those of other parameters or policies."""
    name = job.cell.record_name(job.seed) if job.cell else None
    return [one for one in outcomes.get(job.name, ()) if one.record in (None, name)]


def expected_cost(lines: Sequence[Expectation]) -> float | None:
    """Return the money that all are expected to use; None if that of one is not known."""
    costs = [line.cost for line in lines]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _expected(
    pair: tuple[str, str],
    cell: SuiteCell,
    entry: EntryTable,
    count: int,
    ended: Mapping[tuple[str, str], Sequence[Played]],
) -> Expectation:
    if not cell.host:
        return Expectation(*pair, count, 0.0, 0.0, "no language model")
    own = ended.get(pair, ())
    known = own or list(_others(pair[0], ended))
    basis = f"{len(own)} of its own" if own else f"{len(known)} of other models"
    if not known:
        return Expectation(*pair, count, None, _cost(entry, None, None), "none")
    calls, read, wrote = (count * _mean(known, name) for name in _USED)
    return Expectation(*pair, count, calls, _cost(entry, read, wrote), basis, read, wrote)


def _declared(unknown: Expectation, cell: SuiteCell, entry: EntryTable) -> Expectation:
    """Return the use by the calls that methods declare, on the decisions of an episode of `random`.

    A call reads the rules and the observation, without the conversation before it.
    """
    model = cell.model
    if entry.method == ROUTER and entry.rules == "table" and isinstance(model, ItemsModel):
        pair = unknown.world, unknown.entry
        return Expectation(*pair, unknown.left, 0.0, 0.0, "stored answers", 0.0, 0.0)
    policies = assign(model, cell.entry.policies)
    given = {role: one for role, one in policies.items() if isinstance(one, str)}
    calls = {r: n for r, p in given.items() if (n := _calls_a_decision(Spec.read(p), model))}
    random = {**given, **dict.fromkeys(calls, "random")}
    try:
        played = play(model, random, 0, limits=Limits(seconds=_RANDOM_SECONDS))
    except DesimError:
        return unknown
    if not calls:
        return unknown
    asked = [step for step in played.steps if step.role in calls]
    rules = {role: len(rules_of(model, role)) for role in calls}
    seen = sum(calls[s.role] * (rules[s.role] + len(s.observed)) for s in asked) / _CHARACTERS
    sent = unknown.left * sum(calls[step.role] for step in asked)
    read, wrote = unknown.left * seen, sent * _WRITTEN
    return evolve(
        unknown,
        calls=sent,
        prompt_tokens=read,
        completion_tokens=wrote,
        cost=_cost(entry, read, wrote),
        basis=_BASIS,
    )


def _calls_a_decision(spec: Spec, model: Any) -> int:
    maker = maker_of(str(spec), model)
    if isinstance(maker, type) and issubclass(maker, OutsidePolicy):
        return maker.calls_a_decision(spec.arguments)
    return 0


def _with_written(expected: Expectation, entry: EntryTable, written: int) -> Expectation:
    """Return an expectation with so many tokens written in each call."""
    if not expected.calls:
        return expected
    wrote = expected.calls * written
    cost = _cost(entry, expected.prompt_tokens, wrote)
    return evolve(expected, completion_tokens=wrote, cost=cost)


def _others(world: str, ended: Mapping[tuple[str, str], Sequence[Played]]) -> Iterator[Played]:
    """Yield the ended episodes of language models in a world."""
    for (name, _), outcomes in ended.items():
        if name == world:
            yield from (outcome for outcome in outcomes if outcome.usage.get("calls"))


def _mean(outcomes: Sequence[Played], name: str) -> float:
    return fmean(outcome.usage.get(name, 0.0) for outcome in outcomes)


def _cost(entry: EntryTable, read: float | None, written: float | None) -> float | None:
    """Return the money for tokens by the entry's prices; None if it is not known."""
    price_in, price_out = entry.price_in, entry.price_out
    if price_in == price_out == 0:
        return 0.0
    if price_in is None or price_out is None or read is None or written is None:
        return None
    return (read * price_in + written * price_out) / _MILLION


# -- the table -------------------------------------------------------------------------------------

_HEADS = ("world", "entry", "left", "calls", "tokens read", "tokens written", "cost", "rests on")

_ROUGH = (
    "decisions of random: calls as the method declares them; tokens are rough (rules and "
    "observation of each call, 120 tokens written), without the conversation before and reasoning"
)


def expected_table(lines: Sequence[Expectation], written: int | None = None) -> Table:
    """Return the table of expected use.

    Args:
        lines: One for each world and entry.
        written: Tokens written in a call, if they were given.
    """
    rows = [
        [
            line.world,
            line.entry,
            line.left,
            _whole(line.calls),
            _whole(line.prompt_tokens),
            _whole(line.completion_tokens),
            short_cell(line.cost),
            line.basis,
        ]
        for line in lines
    ]
    return Table(_HEADS, rows, (0, 1, 7), notes=_notes(lines, written))


def total_line(plan: Plan, lines: Sequence[Expectation]) -> str:
    """Return the sums over all worlds and entries as a sentence."""
    left, cost = sum(line.left for line in lines), expected_cost(lines)
    sums = (
        ("calls", [line.calls for line in lines]),
        ("tokens read", [line.prompt_tokens for line in lines if line.calls != 0]),
        ("tokens written", [line.completion_tokens for line in lines if line.calls != 0]),
    )
    unknown = any(line.calls is None for line in lines)
    known = [f"{sum(v or 0 for v in values):,.0f} {name}" for name, values in sums]
    least = "at least " * unknown
    money = "not known" if cost is None else f"{cost:.4g}"
    return (
        f"{left:,} of {plan.episodes:,} episodes are left: {least}{', '.join(known)}; cost {money}"
    )


def _notes(lines: Sequence[Expectation], written: int | None) -> Iterator[str]:
    if any(line.basis == "decisions of random" for line in lines):
        yield _ROUGH
    if written is not None:
        yield f"tokens written: {written:,} a call, as given by --written, reasoning included"
    if any(line.calls is None for line in lines):
        yield "none: no figures for this world, method and roles; play one episode into --out"


def _whole(value: float | None) -> Printed | None:
    return None if value is None else Printed(value, f"{value:,.0f}")
