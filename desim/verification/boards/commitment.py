"""A commitment: which entry will be played, published before its seeds exist.

A board receives its digest, and says so in a signed line of its log, the receipt. Then a beacon
draws randomness, from which the seeds follow. What was committed could not be fitted to them.

Source: reference `verification.md`, section 4.4. Left out as heavier than its use: the digests of
shipped code, because shipped rules are asked again with it, and the memory before the first
episode, because entries of suites begin without one.
"""

import secrets
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from attrs import frozen

from desim.errors import BadRecord, UsageError
from desim.show.files import new_folder, read_regular, write_whole
from desim.suites.fresh_seeds import FreshSeeds, is_scope
from desim.suites.suite_file import Suite
from desim.verification.boards.board_log import BoardLog, SignedLine
from desim.verification.boards.drand import checked_randomness, time_of
from desim.verification.entries.entry_folder import entry_digest, suite_digest, without_seeds
from desim.verification.signed.canonical import canonical, converted, digest, read_canonical
from desim.verification.signed.keys import PrivateKey, PublicKey

FORMAT = "desim-commitment/1"

#: Most bytes of one of its files.
_MAX_BYTES = 100_000

#: Seconds that a drand round lies after the receipt, at least.
LEAST_WAIT = 600

#: Where the randomness of a commitment comes from: a drand round, or the board.
BeaconKind = Literal["drand", "board"]

#: Names of the files, in a folder of a commitment and in an entry.
COMMITMENT, SIGNATURE = "commitment.json", "commitment.sig"
RECEIPT, BEACON = "receipt.json", "beacon.json"

_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Commitment(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The content of a commitment.

    Attributes:
        format: `FORMAT`.
        suite: The digest of the suite's worlds without seeds.
        entry: The name of the entry in the suite.
        entry_digest: The digest of its table: policy, model, method and options.
        count: Seeds of each world.
        scope: The season that shares the seeds.
        beacon: "drand", or "board" for the first beacon in the board's log.
        at: The drand round; or UTC seconds, before which the board's beacon does not count.
        nonce: 32 random bytes, so that a digest says nothing of its content.
        key: The public key that signs it.
        code: The digest of the code of its own rules; empty without any.
    """

    format: str
    suite: _Digest
    entry: str
    entry_digest: _Digest
    count: Annotated[int, msgspec.Meta(ge=1, le=100_000)]
    scope: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9._-]{1,64}$")]
    beacon: BeaconKind
    at: Annotated[int, msgspec.Meta(ge=1)]
    nonce: _Digest
    key: _Digest
    code: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""

    @property
    def content(self) -> bytes:
        """The bytes of its file."""
        return canonical(msgspec.to_builtins(self))

    @property
    def digest(self) -> str:
        """Its digest, which alone is published."""
        return digest(self.content)

    @property
    def earliest(self) -> int:
        """When its beacon appears at the earliest, in UTC seconds."""
        return time_of(self.at) if self.beacon == "drand" else self.at

    @classmethod
    def read(cls, content: bytes, signature: bytes) -> "Commitment":
        """Return the commitment of these bytes, after a check of its signature.

        Raises:
            BadRecord: They have another form, or are not signed by its key.
        """
        made = converted(read_canonical(content, "the commitment"), cls, "the commitment")
        if made.format != FORMAT or made.content != content:
            raise BadRecord(f"the commitment is not of the format {FORMAT}")
        key = PublicKey(bytes.fromhex(made.key))
        key.check("commitment", content, signature, "the commitment")
        return made


def new_commitment(
    suite: Suite,
    entry: str,
    count: int,
    scope: str,
    beacon: BeaconKind,
    at: int,
    key: PrivateKey,
    code: str = "",
) -> Commitment:
    """Return the commitment of an entry of a suite; *code* is the digest of its own rules.

    Raises:
        UsageError: The suite has no such entry, or the season has other characters.
    """
    if entry not in suite.entries:
        raise UsageError(f"the suite has no entry {entry!r}; it has {', '.join(suite.entries)}")
    if not is_scope(scope):
        raise UsageError(
            f"the season {scope!r} was given; it has letters, digits, '.', '_' and '-', at most 64"
        )
    return Commitment(
        FORMAT,
        suite_digest(without_seeds(suite)),
        entry,
        entry_digest(suite.entries[entry]),
        count,
        scope,
        beacon,
        at,
        secrets.token_hex(32),
        key.public.hex,
        code,
    )


@frozen
class Opened:
    """A commitment whose beacon has appeared.

    Attributes:
        commitment: The commitment.
        receipt: The line of the board's log that received it.
        randomness: The 32 bytes of the beacon.
    """

    commitment: Commitment
    receipt: SignedLine
    randomness: bytes

    @property
    def seeds(self) -> FreshSeeds:
        """The seeds that follow from it."""
        return FreshSeeds(self.commitment.count, self.commitment.scope, self.randomness)


def opened(files: dict[str, bytes], log: BoardLog) -> Opened:
    """Return a commitment with its seeds, after a check of receipt and beacon.

    Args:
        files: The content of `COMMITMENT`, `SIGNATURE`, `RECEIPT` and `BEACON`.
        log: The log of the board that received it.

    Raises:
        BadRecord: One of them is missing, false, or of another commitment.
    """
    for name in (COMMITMENT, SIGNATURE, RECEIPT, BEACON):
        if name not in files:
            raise BadRecord(f"{name} is missing, which fresh seeds need")
    commitment = Commitment.read(files[COMMITMENT], files[SIGNATURE])
    receipt = SignedLine.read(files[RECEIPT], log.key, "the receipt")
    if (receipt.line.event, receipt.line.subject) != ("commitment", commitment.digest):
        raise BadRecord("the receipt is of another commitment")
    if all(each.content != receipt.content for each in log.lines):
        raise BadRecord("the receipt is not in the log of the board")
    if receipt.line.time + LEAST_WAIT > commitment.earliest:
        raise BadRecord("the commitment was published less than ten minutes before its beacon")
    return Opened(commitment, receipt, _randomness(commitment, files[BEACON], log))


def _randomness(commitment: Commitment, content: bytes, log: BoardLog) -> bytes:
    """Return what the beacon draws.

    Raises:
        BadRecord: It is not the beacon of the commitment.
    """
    if commitment.beacon == "board":
        beacon = SignedLine.read(content, log.key, "the beacon")
        first = next((b for b in log.of("beacon") if b.line.time >= commitment.at), None)
        if first is None or first.content != beacon.content:
            raise BadRecord("the beacon is not the board's first after the time of the commitment")
        return beacon.randomness
    plain: Any = read_canonical(content, "the beacon")
    match plain:
        case {"round": int(number), "signature": str(text)}:
            if number != commitment.at:
                raise BadRecord("the beacon is of another round than the commitment names")
            try:
                return checked_randomness(number, bytes.fromhex(text))
            except ValueError:
                pass
    raise BadRecord("the beacon is no round of the network with its signature")


def write_commitment(commitment: Commitment, key: PrivateKey, folder: Path) -> None:
    """Write a commitment and its signature into a new folder.

    Raises:
        UsageError: The folder exists, or cannot be made.
    """
    new_folder(folder)
    write_whole(folder / SIGNATURE, [key.sign("commitment", commitment.content)])
    write_whole(folder / COMMITMENT, [commitment.content])


def write_drand(folder: Path, signature: str) -> None:
    """Write the beacon of a commitment from the signature of its drand round.

    Raises:
        UsageError: The commitment names the board's beacon, or the text is not hexadecimal.
        BadRecord: The signature is not the network's for that round.
    """
    commitment = Commitment.read(*read_commitment(folder))
    if commitment.beacon != "drand":
        raise UsageError("the commitment names the board's beacon, and no drand round")
    try:
        raw = bytes.fromhex(signature)
    except ValueError:
        raise UsageError("the signature has 96 hexadecimal digits") from None
    checked_randomness(commitment.at, raw)
    content = canonical({"round": commitment.at, "signature": raw.hex()})
    write_whole(folder / BEACON, [content])


def read_commitment(folder: Path) -> tuple[bytes, bytes]:
    """Return the content of a commitment and of its signature.

    Raises:
        UsageError: The folder has none.
    """
    found = files_of(folder)
    if not {COMMITMENT, SIGNATURE} <= found.keys():
        raise UsageError(
            f"{folder} has no {COMMITMENT} with {SIGNATURE}; desim commit new writes them"
        )
    return found[COMMITMENT], found[SIGNATURE]


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of the files of a commitment in a folder.

    Raises:
        UsageError: One cannot be read, or is beyond the limit.
    """
    found = {}
    for name in (COMMITMENT, SIGNATURE, RECEIPT, BEACON):
        try:
            found[name] = read_regular(folder / name, _MAX_BYTES)
        except FileNotFoundError:
            continue
        except OSError as fault:
            raise UsageError(f"cannot read {folder / name}: {fault.strerror}") from None
    return found
