"""Ways to make one reply out of several calls; each wraps `complete` and is one."""

from desim.errors import UsageError, possible
from policies.llm.strategies.self_refine import SelfRefine
from policies.llm.wire import Complete

__all__ = ["of"]

_KNOWN = ("self_refine",)


def of(name: str, complete: Complete, rounds: int, *, repeat_context: bool) -> Complete:
    """Wrap a call in a strategy by its name; an empty one leaves it as it is.

    Raises:
        UsageError: There is no such strategy.
    """
    if not name:
        return complete
    if name not in _KNOWN:
        raise UsageError(f"strategy={name} was given; {possible(name, _KNOWN)}")
    return SelfRefine(complete, rounds, repeat_context=repeat_context)
