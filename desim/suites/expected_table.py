"""The table of what a suite takes: episodes, calls, tokens and money that are left."""

from collections.abc import Iterator, Sequence

from desim.show.estimates import short_cell
from desim.show.table import Printed, Table
from desim.suites.status import Expectation, expected_cost
from desim.suites.suite_plan import Plan

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
