"""Programs of models and of items, run in the sandbox: one process a program.

Results are kept for the last programs, so that five seeds of one policy run each program once. A
program is a pure function of its text as far as scoring goes: it has no input, network or clock to
depend on that would survive its process.
"""

from collections.abc import Mapping
from functools import lru_cache

from desim.sandbox import Arguments, ProgramLimits, Returned, run_calls, run_program

#: Seconds of a program, and of the four calls of a formula together.
_PROGRAM_SECONDS, _CALLS_SECONDS = 1.0, 2.0

#: Arguments of one call: of the function, and the fields of the object whose method it is.
Call = tuple[Mapping[str, float], Mapping[str, float]]


@lru_cache(maxsize=512)
def number_of(source: str) -> float | None:
    """Return the value of a program's last statement as a number, or None."""
    outcome = run_program(source, limits=ProgramLimits(seconds=_PROGRAM_SECONDS))
    return None if outcome.failed else outcome.number


def returned_by(source: str, target: str, calls: tuple[Call, ...]) -> tuple[Returned, ...]:
    """Return the results of a program's function for each set of arguments."""
    plain = tuple((tuple(args.items()), tuple(fields.items())) for args, fields in calls)
    return _returned(source, target, plain)


@lru_cache(maxsize=512)
def _returned(
    source: str,
    target: str,
    calls: tuple[tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]], ...],
) -> tuple[Returned, ...]:
    sets = [Arguments(args=dict(args), fields=dict(fields)) for args, fields in calls]
    return tuple(run_calls(source, target, sets, limits=ProgramLimits(seconds=_CALLS_SECONDS)))
