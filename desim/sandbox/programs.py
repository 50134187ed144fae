"""Programs that a language model wrote: their value, the results of calls, or what they print."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.errors import UsageError
from desim.sandbox.process import Finished, ProgramLimits, run_order
from desim.sandbox.reply import Reply, UnreadableError, read_reply

_ONE_SECOND, _TWO_SECONDS = ProgramLimits(), ProgramLimits(seconds=2.0)

#: Sets of arguments of one program.
_MOST_CALLS = 1_000


@frozen(kw_only=True)
class ProgramOutcome:
    """The outcome of a program.

    Attributes:
        value: The value of the last statement: a number as float (True is 1.0), a text as it is,
            None, and anything else as the name of its type in brackets, such as `(list)`.
        number: The value as a float, also of texts, Decimals and Fractions that convert to one; may
            be nan or infinite; None if it does not convert.
        failed: Whether it raised, was killed, had no value or handed back nothing that is readable.
        timed_out: Whether it ran out of time, or its value is of a kind that no other process can
            receive (a lambda, a generator), for which the published code waits in vain.
        error: The error, in one line of at most 500 characters; empty without an error.
    """

    value: float | str | None = None
    number: float | None = None
    failed: bool = False
    timed_out: bool = False
    error: str = ""


@frozen(kw_only=True)
class Arguments:
    """One set of arguments.

    Attributes:
        args: Arguments by name.
        fields: For a method: the fields of the object that it is called on, by name.
    """

    args: Mapping[str, float | str] = field(factory=dict)
    fields: Mapping[str, float | str] = field(factory=dict)


@frozen(kw_only=True)
class Returned:
    """The outcome of one call.

    Attributes:
        value: None, truth values, int, float and text as they are, sequences as lists, mappings as
            dicts from text; anything else, and integers beyond a float, as text.
        failed: Whether it raised, was not reached or handed back nothing that is readable.
        timed_out: Whether the calls ran out of time.
        error: The error, in one line; empty without an error.
    """

    value: Any = None
    failed: bool = False
    timed_out: bool = False
    error: str = ""


def run_program(source: str, *, limits: ProgramLimits = _ONE_SECOND) -> ProgramOutcome:
    """Run a program in the sandbox and return the value of its last statement.

    The value is that of the statement's value part: `x = 5` has 5, `x += 2` has 2, and `return y`
    works outside a function. A statement without one (a loop, a definition) fails.

    Args:
        source: The text of the program.
        limits: Its limits; by default one second.

    Raises:
        NotConfined: The system does not confine it; nothing of it was run.
        SandboxFailed: The sandbox could not start.

    Source: FirmBench SPEC 3.2, vectors README 3 and 4.
    """
    if len(source) > limits.source:
        return ProgramOutcome(failed=True, error=_too_long(source, limits))
    finished = run_order({"way": "program", "source": source}, limits)
    reply = _reply(finished)
    value = reply.value if isinstance(reply.value, (str, float, type(None))) else None
    failed = bool(reply.error or reply.unsendable)
    return ProgramOutcome(
        value=None if failed else value,
        number=None if failed else reply.number,
        failed=failed,
        timed_out=finished.timed_out or reply.unsendable,
        error=reply.error or ("no other process can receive the value" if failed else ""),
    )


def run_calls(
    source: str,
    target: str,
    argument_sets: Sequence[Arguments],
    *,
    limits: ProgramLimits = _TWO_SECONDS,
) -> tuple[Returned, ...]:
    """Run a source in the sandbox, then call one of its functions with each set of arguments.

    Args:
        source: The text that defines the function.
        target: The name of a function, or `Class.method`; the object is made of the fields.
        argument_sets: At most 1,000 sets.
        limits: Limits of source and calls together; by default two seconds.

    Raises:
        NotConfined: See `run_program`.
        UsageError: More than 1,000 sets were given.
        SandboxFailed: The sandbox could not start.

    Source: FirmBench SPEC 3.3, FormulaEval.
    """
    if len(argument_sets) > _MOST_CALLS:
        raise UsageError(f"{len(argument_sets)} calls were given; at most {_MOST_CALLS:,}")
    if len(source) > limits.source:
        return _all_failed(argument_sets, Reply(error=_too_long(source, limits)), over=False)
    sets = [(dict(each.args), dict(each.fields)) for each in argument_sets]
    order = {"way": "calls", "source": source, "target": target, "argument_sets": sets}
    finished = run_order(order, limits)
    reply = _reply(finished)
    if reply.error or len(reply.calls) != len(sets):
        return _all_failed(argument_sets, reply, over=finished.timed_out)
    return tuple(
        Returned(value=call.value, failed=bool(call.error), error=call.error)
        for call in reply.calls
    )


def run_block(source: str, *, limits: ProgramLimits = _TWO_SECONDS) -> str:
    """Run a program in the sandbox and return what it prints, as a notebook shows it.

    The value of a last expression follows unless it is None; so does, in one line, the error with
    which the program ended.

    Args:
        source: The text of the program.
        limits: Its limits; by default two seconds.

    Raises:
        NotConfined: See `run_program`.
        SandboxFailed: The sandbox could not start.

    Source: FirmBench SPEC 5, Dynamic Cheatsheet.
    """
    if len(source) > limits.source:
        return _too_long(source, limits)
    order = {"way": "block", "source": source}
    finished = run_order(order, limits, prints=True)
    printed = finished.output.decode("utf-8", "replace").replace("\0", "\ufffd")
    error = _reply(finished).error
    return f"{printed.rstrip()}\n{error}".strip()


def _reply(finished: Finished) -> Reply:
    """Return the program's answer; a failure if it has no answer."""
    if finished.timed_out:
        return Reply(error="the program ran out of time")
    if finished.too_long:
        return Reply(error="the program wrote more than it may")
    try:
        return read_reply(finished.answer)
    except UnreadableError as error:
        return Reply(error=str(error))


def _all_failed(sets: Sequence[Any], reply: Reply, *, over: bool) -> tuple[Returned, ...]:
    error = reply.error or "the program wrote something unreadable"
    return (Returned(failed=True, timed_out=over, error=error),) * len(sets)


def _too_long(source: str, limits: ProgramLimits) -> str:
    return f"the program has {len(source):,} characters; at most {limits.source:,} are run"
