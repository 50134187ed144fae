"""Methods that make one reply out of several calls; each wraps a `complete` and is one."""

from desim.errors import UsageError, possible
from policies.llm.methods.self_refine import SelfRefine
from policies.llm.wire import Complete

__all__ = ["METHODS", "with_method"]

#: Names of the methods.
METHODS = ("self_refine",)


def with_method(name: str, complete: Complete, rounds: int, *, repeat_context: bool) -> Complete:
    """Wrap a call in a method; an empty name returns the call itself.

    Args:
        name: One of `METHODS`, or empty.
        complete: The call of the model.
        rounds: Rounds of the method, at least 0.
        repeat_context: Whether the method shows the situation again when it rewrites an answer.

    Raises:
        UsageError: There is no such method.
    """
    if not name:
        return complete
    if name not in METHODS:
        raise UsageError(f"method={name} was given; {possible(name, METHODS)}")
    return SelfRefine(complete, rounds, repeat_context=repeat_context)
