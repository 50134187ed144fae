"""The folder of a board: its key, its log, and the entries that it has accepted.

board.json                 title and public key
log.jsonl                  events, in signed lines; see `board_log`
entries/DIGEST/            an entry as it was submitted, and verdict.json
"""

from pathlib import Path
from typing import Annotated, Literal, Self

import msgspec
from attrs import frozen

from desim.errors import BadRecord, UsageError
from desim.show.files import new_folder, read_regular, write_whole
from desim.suites.suite_file import Suite, parsed_suite
from desim.verification.boards.board_log import BoardLog, SignedLine
from desim.verification.boards.commitment import Commitment
from desim.verification.entries.entry_folder import MANIFEST, MAX_SUITE_BYTES, SUITE
from desim.verification.entries.entry_manifest import MAX_MANIFEST_BYTES, EntryManifest
from desim.verification.signed.canonical import canonical, converted, digest, read_canonical
from desim.verification.signed.keys import PrivateKey, PublicKey

FORMAT = "desim-board/1"

#: Names of files.
BOARD, LOG, ENTRIES, VERDICT = "board.json", "log.jsonl", "entries", "verdict.json"

#: Digits of an entry's digest in the name of its folder.
SHORT = 16

#: Most bytes of a verdict.
MAX_VERDICT_BYTES = 64_000_000

#: Events that end an entry.
_ENDS = ("withdrawal", "removal")

_MAX_BYTES = 10_000

#: A finite decimal number as `repr` writes it.
_Number = Annotated[str, msgspec.Meta(pattern=r"^-?\d{1,320}(\.\d{1,320})?(e[+-]\d{1,3})?$")]


class BoardFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file of a board.

    Attributes:
        format: `FORMAT`.
        title: Its title.
        key: Its public key.
    """

    format: str
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class VerdictFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The verdict on an entry, whose digest is in the log.

    Attributes:
        actions: How its actions were derived again.
        scores: By world the scores of each seed, as texts.
        warnings: What a reader is to know of it.
        counted: Which session or commitment of its key it is; empty for public seeds.
    """

    actions: Literal["asked again", "parsed again", "repeated"]
    scores: dict[str, dict[str, list[_Number]]]
    warnings: list[str] = []
    counted: str = ""

    @property
    def content(self) -> bytes:
        """The bytes of its file."""
        return canonical(msgspec.to_builtins(self))

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Return the verdict of a file's bytes.

        Raises:
            BadRecord: They have another form.
        """
        return converted(read_canonical(content, VERDICT), cls, VERDICT)


@frozen
class EnteredEntry:
    """An entry of a board.

    Attributes:
        manifest: What its submitter says, as it was verified.
        suite: The suite that it played.
        line: The line of the log that entered it.
        verdict: The verdict.
        ended: The line that withdrew or removed it; None if none did.
    """

    manifest: EntryManifest
    suite: Suite
    line: SignedLine
    verdict: VerdictFile
    ended: SignedLine | None = None

    @property
    def digest(self) -> str:
        """The digest of its manifest."""
        return self.line.line.subject


@frozen
class EntryBoard:
    """A board.

    Attributes:
        path: Its folder.
        title: Its title.
        log: Its log.
    """

    path: Path
    title: str
    log: BoardLog

    def receive(self, commitment: bytes, signature: bytes, key: PrivateKey) -> SignedLine:
        """Enter a commitment in the log, and return the line, which is its receipt.

        Raises:
            BadRecord: It has another form, or is not signed by its key.
            UsageError: It was received before, or the key is not the board's.
        """
        made = Commitment.read(commitment, signature)
        if any(each.line.subject == made.digest for each in self.log.of("commitment")):
            raise UsageError("the commitment was received before; its receipt is in the log")
        return self.log.add("commitment", made.digest, key, sender=made.key)

    def entries(self) -> list[EnteredEntry]:
        """Return the entries in the order of the log, with what happened to them since.

        Raises:
            BadRecord: The log names an entry that is not in the folder, or another one.
        """
        return [self._entered(line) for line in self.log.of("entry")]

    def check_entries(self) -> None:
        """Check that the folder holds the entries that the log names, and no other.

        Raises:
            BadRecord: It does not.
        """
        named = {one.digest[:SHORT] for one in self.entries()}
        folder = self.path / ENTRIES
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name not in named and not path.name.startswith("."):
                raise BadRecord(
                    f"the board has an entry {path.name!r}, which the log does not name"
                )

    def _entered(self, line: SignedLine) -> EnteredEntry:
        subject = line.line.subject
        folder = self.path / ENTRIES / subject[:SHORT]
        try:
            content = read_regular(folder / MANIFEST, MAX_MANIFEST_BYTES)
            verdict = read_regular(folder / VERDICT, MAX_VERDICT_BYTES)
            suite = read_regular(folder / SUITE, MAX_SUITE_BYTES)
        except OSError as fault:
            raise BadRecord(f"entry {subject[:SHORT]} of the log: {fault.strerror}") from None
        manifest = EntryManifest.read(content)
        if (digest(content), digest(suite)) != (subject, manifest.suite_file):
            raise BadRecord(f"entry {subject[:SHORT]} is not the one in the log")
        if digest(verdict) != line.line.verdict:
            raise BadRecord(f"the verdict on entry {subject[:SHORT]} is not the one in the log")
        later = [e for e in self.log.lines if e.line.subject == subject and e.line.event in _ENDS]
        played = parsed_suite(Path(SUITE), suite, [])
        end = later[-1] if later else None
        return EnteredEntry(manifest, played, line, VerdictFile.read(verdict), end)

    def draw(self, key: PrivateKey) -> SignedLine:
        """Enter a beacon in the log, and return its line, whose signature is the randomness.

        Raises:
            UsageError: The key is not the board's.
        """
        return self.log.add("beacon", "", key)


def new_board(path: Path, title: str, key: PrivateKey) -> EntryBoard:
    """Make the folder of a board.

    Raises:
        UsageError: The folder exists or cannot be made, or the title is empty or too long.
    """
    plain = {"format": FORMAT, "title": title, "key": key.public.hex}
    try:
        content = canonical(msgspec.to_builtins(msgspec.convert(plain, BoardFile)))
    except msgspec.ValidationError:
        raise UsageError(f"a title has 1 to 200 characters; {len(title):,} were given") from None
    new_folder(path)
    write_whole(path / BOARD, [content])
    return EntryBoard(path, title, BoardLog(path / LOG, key.public))


def read_board(path: Path) -> EntryBoard:
    """Return the board of a folder, whose log is checked.

    Raises:
        UsageError: The folder holds no board, or cannot be read.
        BadRecord: A line of the log is false.
    """
    try:
        content = read_regular(path / BOARD, _MAX_BYTES)
        read = msgspec.convert(read_canonical(content, BOARD), BoardFile)
    except OSError as fault:
        raise UsageError(f"{path} holds no board: {BOARD}: {fault.strerror}") from None
    except msgspec.ValidationError as fault:
        raise UsageError(f"{path / BOARD} is not valid: {fault}") from None
    if read.format != FORMAT:
        raise UsageError(f"{path / BOARD} is not of the format {FORMAT}")
    key = PublicKey(bytes.fromhex(read.key), read.title)
    return EntryBoard(path, read.title, BoardLog(path / LOG, key))
