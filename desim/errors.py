"""Every error that desim raises on purpose.

Each has one argument, its sentence, so that it survives pickling and the passage through SimPy.
"""

from collections.abc import Iterable

from desim.short_repr import shortened, visible_text

#: Characters of an error's text; the middle of a longer one is left out.
_LONGEST_TEXT = 4_000


class DesimError(Exception):
    """The base class of all errors of desim.

    Its sentence may show what a user or a record gave, so it is cut to 4,000 characters, and
    characters that steer a terminal are escaped.
    """

    def __init__(self, text: str = "") -> None:
        shown = visible_text(shortened(text, _LONGEST_TEXT))
        super().__init__(shortened(shown, _LONGEST_TEXT))


class UsageError(DesimError):
    """A name, parameter, role, policy or file that does not exist or does not fit."""


class SchemaError(DesimError):
    """Data that does not fit its frozen class; the text holds the path of the fault."""


class WrongAction(DesimError):
    """An action that is not in the role's schema; `why` is the fault of its arguments alone."""

    def __init__(self, text: str = "", why: str = "") -> None:
        super().__init__(text)
        self.why = str(DesimError(why))


class ModelFailed(DesimError):
    """A process, an observation, an option or a result of a model raised or is wrong."""


class LimitReached(DesimError):
    """An episode reached its limit of time, events or decisions."""


class PolicyFailed(DesimError):
    """A policy that raised an exception or cannot go on."""


class Withdrawn(DesimError):
    """A question that was withdrawn, as no process waited for its answer."""


class Stuck(DesimError):
    """A role has more decisions at one tick than the model allows."""


class WriteFailed(DesimError):
    """A file that the system does not write completely: a full disk, a limit, a lost device."""


class BadRecord(DesimError):
    """A record that is empty, cut, altered, of another format, or does not replay."""


class NoRecord(BadRecord, UsageError):
    """A record that is not read: it is missing, no regular file, or beyond a limit."""


class PolicyWarning(UserWarning):
    """Arguments of a policy that have no effect."""


def possible(given: str, known: Iterable[str]) -> str:
    """Return the end of an error text: the near miss if there is one, and all possible names.

    >>> possible("retailr", ["retailer", "factory"])
    "did you mean 'retailer'? Possible: retailer, factory"
    """
    import difflib  # only a failing call pays for this import

    names = list(known)
    near = difflib.get_close_matches(given[:100], names, n=1)  # a long text takes long
    hint = f"did you mean {near[0]!r}? " if near else ""
    return hint + ("Possible: " + ", ".join(names) if names else "there is nothing to choose from")


def sentence(fault: Exception) -> str:
    """Return the text of an exception without the objects that attrs passes after the text.

    The middle of a long text is left out, because the text may contain the given value.

    >>> sentence(ValueError("'days' must be >= 1: 0", object(), 0))
    "'days' must be >= 1: 0"
    """
    # The first argument of a UnicodeError is the name of a codec, not a text.
    has_text = fault.args and not isinstance(fault, UnicodeError)
    return shortened(str(fault.args[0]) if has_text else str(fault))
