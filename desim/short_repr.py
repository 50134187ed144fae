"""Values in error texts, which stay short and readable whatever the value is."""

import builtins
import reprlib
import unicodedata
from itertools import islice
from typing import Any

#: Exceptions that a `__repr__` may raise; its SystemExit must not end the command.
_RAISED = (Exception, SystemExit)


def short_repr(value: Any, width: int = 120) -> str:
    """Return the repr of a value, cut to about *width* characters; it never raises an exception.

    The time it takes depends on *width* alone for plain values outside of other objects.

    >>> short_repr({"n": 10**5_000}), short_repr("x" * 10**8, width=5)
    ("{'n': <int of 16610 bits>}", "'xxxx…")
    """
    try:
        text = _Short(width).repr(value)
    except _RAISED:
        text = _nameless(value)
    return text if len(text) <= width else text[:width] + "…"


def shortened(text: str, width: int = 400) -> str:
    """Return a text without its middle part if it is longer than *width*."""
    half = (width - 3) // 2
    return text if len(text) <= width else f"{text[:half]} … {text[-half:]}"


class _Short(reprlib.Repr):
    """A repr that stops once so many characters are collected; dicts keep their order."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.maxlevel = 6  # deeper containers are "[...]"
        # One more than is shown, so that the cut itself can be seen.
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = width + 1
        self.maxdeque = self.maxarray = self.maxdict = width + 1
        self._width = self._left = width + 1

    def repr1(self, x: Any, level: int) -> str:
        if self._left <= 0:
            return "..."
        text = super().repr1(x, level)
        self._left -= 2 if isinstance(x, list | tuple | dict) else len(text)
        return text

    def repr_str(self, x: str | bytes, _level: int) -> str:
        return builtins.repr(x[: self._width])

    repr_bytes = repr_str

    def repr_int(self, x: int, _level: int) -> str:
        # Four bits a digit are more than a decimal digit holds; Python refuses to write so many.
        few = x.bit_length() <= 4 * self._width
        return builtins.repr(x) if few else f"<int of {x.bit_length()} bits>"

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        if level <= 0:
            return "{...}"
        pairs = islice(x.items(), self.maxdict)
        inside = (f"{self.repr1(k, level - 1)}: {self.repr1(v, level - 1)}" for k, v in pairs)
        return "{" + ", ".join(inside) + "}"

    def repr_instance(self, x: Any, level: int) -> str:  # noqa: ARG002 (as the others)
        return builtins.repr(x)[: self._width]


def _nameless(value: Any) -> str:
    return f"<{type(value).__name__[:60]} without a repr>"


def visible_text(text: str) -> str:
    r"""Return a text from outside without characters that steer a terminal or hide others.

    Line ends, tabs and all kinds of spaces stay.

    >>> visible_text(f"red {chr(27)}[31m, {chr(0x202E)}back")
    'red \\x1b[31m, \\u202eback'
    """
    if text.isprintable():
        return text
    # The category "Zs" has spaces such as the one that does not break.
    seen = (c.isprintable() or c in "\n\t" or unicodedata.category(c) == "Zs" for c in text)
    return "".join(c if ok else ascii(c)[1:-1] for c, ok in zip(text, seen, strict=True))
