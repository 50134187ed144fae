"""The manifest of an entry: what a submitter says about one entry of a suite.

Nothing in it is believed: `verify` derives every field again from the suite and the records.
"""

from typing import Annotated, Any, Literal, Self

import msgspec

from desim.core.roles import Knowledge
from desim.errors import BadRecord
from desim.short_repr import shown
from desim.verification.signed.canonical import canonical, converted, read_canonical

#: The format of an entry, counted up when the meaning of its files changes.
FORMAT = "desim-entry/1"

#: Most bytes of a manifest.
MAX_MANIFEST_BYTES = 8_000_000

#: The class of the seeds: they are the suite's; drawn after the commitment; or
#: drawn by a server that kept them.
Seeds = Literal["public", "fresh", "sealed"]

_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Text = Annotated[str, msgspec.Meta(max_length=500)]


#: The first characters of a formula in a spreadsheet, which reads a board's CSV.
_FORMULA = ("=", "+", "-", "@")


def is_plain_name(text: str) -> bool:
    r"""Return whether a name can be printed on a board as it is.

    >>> [is_plain_name(text) for text in ("a b", " a", "=A1", "a\u202eb", "")]
    [True, False, False, False, True]
    """
    return text.isprintable() and text == text.strip() and not text.startswith(_FORMULA)


class ResultText(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The figures of an entry in one world; decimal numbers are texts.

    Attributes:
        n: Episodes in the means.
        cut: Those that a limit has cut.
        training: Those that the policies only learned from.
        not_played: Those of language models that mostly took the default action.
        failed: Those that failed.
        open: Those that are missing.
        defaults: The share of default actions.
        columns: By column the mean and the ends of its interval.
    """

    n: int
    cut: int = 0
    training: int = 0
    not_played: int = 0
    failed: int = 0
    open: int = 0
    defaults: str | None = None
    columns: dict[str, dict[str, str | None]] = {}


class EntryManifest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The manifest of an entry.

    Attributes:
        format: `FORMAT`.
        entry: The entry's name in the suite.
        name: Its name on a board.
        submitter: The name of the submitter; not proved by anything.
        key: The public key that signs it; empty for an entry without a signature.
        suite: The digest of the suite's worlds, seeds and columns, which its entries share.
        suite_file: The SHA-256 of the suite's file.
        seeds: The class of the seeds.
        worlds: The revision of each world in words.
        knows: The most that the policies know, by world.
        records: The content digest of each record, by its path below the entry's folder. Records
            of rules may be left out of the folder, as anybody plays them again.
        results: The figures by world.
        used: Calls, tokens and cost as texts, as the records of language models sum them.
        made_with: The versions of desim, Python and packages.
        commitment: The digest of the commitment of fresh seeds; empty without one.
        session: The identifier of the sealed session; empty without one.
        attempts: How often the submitter says that he has played it; not proved by anything.
        tuned_on: The seeds on which it was tuned, as the suite's file says; empty if it does not.
        code: The digest of the files of code of its own rules; empty without any.
    """

    format: str
    entry: _Name
    name: _Name
    suite: _Digest
    suite_file: _Digest
    worlds: dict[str, str]
    records: dict[str, _Digest]
    results: dict[str, ResultText]
    submitter: _Text = ""
    key: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    seeds: Seeds = "public"
    knows: dict[str, Knowledge] = {}
    used: dict[str, str] = {}
    made_with: dict[str, str] = {}
    commitment: str = ""
    session: str = ""
    attempts: Annotated[int, msgspec.Meta(ge=1)] = 1
    tuned_on: _Text = ""
    code: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""

    @property
    def content(self) -> bytes:
        """The bytes of its file."""
        return canonical(msgspec.to_builtins(self))

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Return the manifest of a file's bytes.

        Raises:
            BadRecord: They are not canonical JSON, or no manifest of this format.
        """
        plain: Any = read_canonical(content, "the manifest")
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise BadRecord(f"the manifest is not of the format {FORMAT}")
        made = converted(plain, cls, "the manifest")
        if made.content != content:
            raise BadRecord("the manifest is not canonical JSON")
        for text in (made.name, made.submitter):
            if not is_plain_name(text):
                raise BadRecord(
                    f"the name {shown(text)} has characters that are not printed, spaces at an "
                    "end, or the beginning of a formula (= + - @)"
                )
        return made
