"""Limits of a stranger's program, and its outcome."""

import math
from collections.abc import Mapping
from typing import Any

from attrs import Attribute, Factory, field, frozen

from desim.errors import UsageError

#: The value of a call: None, a truth value, number or text, a list of such, a mapping from texts.
Plain = Any


def _within(least: float, most: float) -> Any:
    """Return a validator of an attrs field: a finite number from `least` to `most`."""

    def check(_: Any, attribute: "Attribute[float]", value: float) -> None:
        if isinstance(value, bool) or not (math.isfinite(value) and least <= value <= most):
            raise UsageError(
                f"{attribute.name}={value} was given; it lies between {least:g} and {most:g}"
            )

    return check


@frozen(kw_only=True)
class ProgramLimits:
    """Limits above which a program is killed.

    Attributes:
        seconds: Wall time from the start of the program, 0.01 to 3,600.
        cpu_seconds: Processor time, in whole seconds as systems count it, 1 to 3,600.
        memory: Bytes of address space, the interpreter's about 30 MB included; 64 MB to 64 GB.
        output: Bytes that it may print or hand back, 1,000 to 100 MB.
        file: Bytes of all files together, which are in memory; 0 to 1 GB. Without the protection
            `mounts` no file can be written.
        source: Characters of the program, 1 to 10 million.
    """

    seconds: float = field(default=1.0, validator=_within(0.01, 3_600))
    cpu_seconds: int = field(default=5, validator=_within(1, 3_600))
    memory: int = field(default=512_000_000, validator=_within(64_000_000, 64_000_000_000))
    output: int = field(default=100_000, validator=_within(1_000, 100_000_000))
    file: int = field(default=1_000_000, validator=_within(0, 1_000_000_000))
    source: int = field(default=200_000, validator=_within(1, 10_000_000))


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

    args: Mapping[str, float | str] = field(default=Factory(dict))
    fields: Mapping[str, float | str] = field(default=Factory(dict))


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

    value: Plain = None
    failed: bool = False
    timed_out: bool = False
    error: str = ""
