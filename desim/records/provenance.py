"""Versions and code of an episode, so that the refusal of its record says what has changed."""

import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec

from desim.core.model import Model, Revision, revision_of, revision_text
from desim.joined_packages import spec_name
from desim.short_repr import shortened

#: Packages whose version may change an episode of any world.
_PACKAGES = ("numpy", "simpy")

#: Hexadecimal digits of a digest of code.
_DIGITS = 16


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """The revision and the code of a world, and the versions of what it runs on.

    Attributes:
        revision: That of the world, or by part; None if the record states none.
        code: See `code_digest`.
        versions: The versions of Python and of packages, by name.
    """

    revision: Annotated[int, msgspec.Meta(ge=1)] | dict[str, int] | None = None
    code: str = ""
    versions: dict[str, str] = {}

    @classmethod
    def of(cls, model: Model[Any]) -> Self:
        """Return the provenance of an episode that is played now."""
        revision: Any = revision_of(model)
        return cls(revision, code_digest(model), dict(versions()))

    def changes(self, world: str, now: "Provenance") -> str:
        """Return what has changed in a world since, as the end of an error text, or nothing."""
        if revised := self.other_revision(world, now.revision):
            return revised
        if self.code != now.code:
            return f"; the code of {shortened(world)} has changed since it was recorded"
        then = {name: shortened(self.versions.get(name, "")) for name in now.versions}
        changed = [f"{name} {then[name]}" for name in then if then[name] != now.versions[name]]
        present = ", ".join(f"{name} {text}" for name, text in now.versions.items())
        return f"; recorded with {', '.join(changed)}; here are {present}" if changed else ""

    def other_revision(self, world: str, now: Revision | None) -> str:
        """Return both revisions if they differ, as the end of an error text."""
        if now is None or self.revision == now:
            return ""
        known = self.revision is not None and shortened(revision_text(self.revision))
        then, here = f"revision {known}" if known else "no revision", shortened(revision_text(now))
        return f"; recorded with {then} of {shortened(world)}, which has revision {here} here"


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of packages by name."""
    packages = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), **packages}


def code_digest(model: Model[Any]) -> str:
    """Return a digest of the source files of a world and its parts; empty if one has no file."""
    every = [_digest(cls) for cls in sorted({*_classes(model)}, key=spec_name)]
    return _short_sha("".join(every).encode()) if all(every) else ""


def _classes(model: Model[Any]) -> Iterator[type]:
    yield type(model)
    for part in model.models.values():
        yield from _classes(part)


# Read once, because each recorded episode asks for it.
@cache
def _digest(cls: type) -> str:
    file = Path(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")
    if not file.is_file():
        return ""
    folder = file.parent
    files = sorted(folder.rglob("*.py")) if "." in cls.__module__ else [file]
    contents = (f"{f.relative_to(folder).as_posix()}\0".encode() + f.read_bytes() for f in files)
    return _short_sha(b"\0".join(contents))


def _short_sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
