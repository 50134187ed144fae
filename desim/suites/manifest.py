"""`suite.json`: the suite that a folder holds, as data from which its results can be printed.

Beside the suite's file it keeps what only the classes say that the file names: which entries
contact a host, how long they are trained, and the published numbers. So printing results imports
and opens nothing that a folder names, which may come from a stranger.
"""

import hashlib
from pathlib import Path
from typing import Self

import msgspec

from desim.errors import UsageError
from desim.suites.plan import Plan, plan_to_print
from desim.suites.published import published_text

__all__ = ["FILE_NAME", "Manifest", "read_manifest"]

#: The file's name in the folder of a suite.
FILE_NAME = "suite.json"

#: The format of the folder, counted up when its meaning changes.
FORMAT = "desim-suite/2"

#: Bytes of a manifest that are read at most.
_MAX_BYTES = 64_000_000


class _Entry(msgspec.Struct, frozen=True):
    host: str = ""
    training: int = 0


class _Published(msgspec.Struct, frozen=True):
    world: str
    entry: str
    column: str
    text: str


class Manifest(msgspec.Struct, frozen=True):
    """The suite in a folder.

    Attributes:
        format: `FORMAT`.
        file: The path of the suite's file; it is shown and never opened.
        text: What the file held.
        entries: By name, what the classes of their policies declare.
        published: The published numbers in the suite's columns.
        checksum: SHA-256 of the manifest with an empty checksum.
    """

    format: str
    file: str
    text: str
    entries: dict[str, _Entry]
    published: tuple[_Published, ...]
    checksum: str = ""

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the manifest of a suite that is about to be played.

        Raises:
            UsageError: The suite's file cannot be read.
        """
        try:
            text = plan.path.read_text(encoding="utf-8")
        except OSError as fault:
            raise UsageError(f"cannot read {plan.path}: {fault.strerror}") from None
        entries = {name: _Entry(one.host, one.training) for name, one in plan.entries.items()}
        made = cls(FORMAT, str(plan.path.resolve()), text, entries, tuple(_published(plan)))
        return msgspec.structs.replace(made, checksum=made.sum())

    def sum(self) -> str:
        """Return the checksum that the manifest should have."""
        return hashlib.sha256(
            msgspec.json.encode(msgspec.structs.replace(self, checksum=""))
        ).hexdigest()

    def plan(self) -> Plan:
        """Return the plan to print.

        Raises:
            UsageError: The text does not describe a suite.
        """
        played = {name: (one.host, one.training) for name, one in self.entries.items()}
        numbers = {(one.world, one.entry, one.column): one.text for one in self.published}
        return plan_to_print(Path(self.file), self.text.encode(), played, numbers)


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in a folder; None without the file.

    Raises:
        UsageError: It cannot be read, is damaged, or has another format.
    """
    path = folder / FILE_NAME
    try:
        content = _content(path)
        form = msgspec.json.decode(content, type=_Format).format
        if form != FORMAT:
            raise UsageError(_other_format(path, form))
        manifest = msgspec.json.decode(content, type=Manifest)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise UsageError(f"{folder} is no folder") from None
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} is damaged: {fault}; {_AGAIN}") from None
    if manifest.sum() != manifest.checksum:
        raise UsageError(f"{path} is damaged: it does not fit its checksum; {_AGAIN}")
    return manifest


_AGAIN = "the command that plays the suite writes it anew"


class _Format(msgspec.Struct):
    format: str


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no regular file")
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise UsageError(f"{path} is larger than {_MAX_BYTES:,} bytes, the limit")
    return content


def _other_format(path: Path, form: str) -> str:
    if form == "desim-suite/1":
        return (
            f"{path} is of an earlier desim, which did not keep the code that its episodes were "
            "played with, so they cannot be continued; choose another folder (--out), or discard "
            "them (--restart)"
        )
    return f"{path} has the format {form!r}; this desim reads {FORMAT!r}"


def _published(plan: Plan) -> list[_Published]:
    columns = ((world, column) for world in plan.worlds.values() for column in world.table.columns)
    found = (
        (world.name, entry, column.published, published_text(plan, world, entry, column.published))
        for world, column in columns
        for entry in plan.entries
    )
    return [_Published(*one) for one in found if one[-1]]
