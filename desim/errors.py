"""Every error that desim raises on purpose.

Each carries exactly one argument, its sentence, so that it survives pickling and any trip through
SimPy or a worker process.
"""

import difflib
from collections.abc import Iterable

__all__ = [
    "BadRecord",
    "DesimError",
    "NotInteger",
    "PolicyFailed",
    "SchemaError",
    "StreamTaken",
    "Stuck",
    "Unanswered",
    "UsageError",
    "Withdrawn",
    "WrongAction",
    "WrongResult",
    "possible",
]


class DesimError(Exception):
    """The family: catch it to catch all that follows."""


class UsageError(DesimError):
    """What was asked for does not exist or does not fit: a name, a parameter, a seat, a file."""


class SchemaError(DesimError):
    """Data does not fit the frozen class it should become; the text holds the path of the fault."""


class WrongAction(DesimError):
    """An answer that is not in the role's schema."""


class PolicyFailed(DesimError):
    """A policy raised an exception, or cannot go on."""


class Unanswered(DesimError):
    """The clock was asked to move while decisions are open."""


class Withdrawn(DesimError):
    """A process waits for the answer to a question that was withdrawn."""


class Stuck(DesimError):
    """One role was asked without end at one instant."""


class NotInteger(DesimError):
    """A delay that is not a whole number of ticks."""


class StreamTaken(DesimError):
    """A random stream already has an owner."""


class WrongResult(DesimError):
    """A model's score or metrics are not what a result may hold."""


class BadRecord(DesimError):
    """A record that is empty, cut, altered, foreign, or does not replay."""


def possible(given: str, known: Iterable[str]) -> str:
    """End an error sentence: the near miss if there is one, and what is possible.

    >>> possible("retailr", ["retailer", "factory"])
    "did you mean 'retailer'? Possible: retailer, factory"
    """
    names = list(known)
    near = difflib.get_close_matches(given, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return hint + ("Possible: " + ", ".join(names) if names else "There is nothing to choose from")
