"""The files of a sample, so that no reply of a model is paid for twice."""

import hashlib
import re
from pathlib import Path
from typing import Any, Self

from attrs import frozen
from inspect_ai.model import ModelOutput

from desim.adapters.seat.setup import Setup
from desim.catalog.policy_spec import label as label_of
from desim.errors import BadRecord, UsageError
from desim.records.lines import Header

#: The model's name as a policy, in records.
LABEL = "external"

#: Characters of a file's name that are not written as they are.
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


@frozen
class SampleFiles:
    """The files of one sample: its record, and its replies until it is finished.

    A record without a file of replies is that of a finished sample: `earlier` makes the file before
    the record begins, so that a sample whose first call fails is not taken for a finished one.
    """

    record: Path
    replies: Path

    @classmethod
    def of(cls, folder: str, setup: Setup, state: Any) -> Self:
        """Return the files of a sample's `TaskState`; the folder is made.

        They are named by the world, the evaluated model, the sample, the epoch, and a digest of
        parameters, seats and policies.
        """
        labels = {role: label_of(policy) for role, policy in setup.others.items()}
        header = Header.of(setup.model, 0, {**dict.fromkeys(setup.seats, LABEL), **labels})
        place = Path(
            folder, *(_NOT_PLAIN.sub("-", str(one)) for one in (header.model, state.model))
        )
        place.mkdir(parents=True, exist_ok=True)
        played = repr((header.params, header.policies, setup.starts))
        digest = hashlib.sha256(played.encode()).hexdigest()[:8]
        name = _NOT_PLAIN.sub("-", f"{state.sample_id}-{state.epoch}-{digest}")
        return cls(place / f"{name}.jsonl.gz", place / f"{name}.replies.jsonl")

    def earlier(self) -> list[Any]:
        """Return the replies of an unfinished attempt; its record is removed.

        The record is written anew from its first decision while the replies are given again. A new
        sample gets an empty file of replies.

        Raises:
            UsageError: The sample is finished: there is a record and no file of replies.
            BadRecord: The file of replies is damaged before its last line.
        """
        if not self.replies.exists():
            if self.record.exists():
                raise UsageError(f"{self.record} exists; name another folder, or remove it")
            self.replies.touch()
            return []
        self.record.unlink(missing_ok=True)
        return _replies_in(self.replies)

    def keep(self, reply: Any) -> None:
        """Append a reply of the model to its file."""
        with self.replies.open("a", encoding="utf-8") as file:
            file.write(reply.model_dump_json(exclude_none=True) + "\n")

    def finished(self) -> None:
        """Remove the file of replies, so that another evaluation does not reuse them."""
        self.replies.unlink(missing_ok=True)


def _replies_in(file: Path) -> list[Any]:
    """Return the replies of a file; a last line that was cut while it was written is removed."""
    text = file.read_text(encoding="utf-8", errors="replace")
    whole, newline, cut = text.rpartition("\n")
    if cut:
        file.write_text(whole + newline, encoding="utf-8")
    found: list[Any] = []
    for number, line in enumerate(whole.splitlines() if newline else (), 1):
        try:
            found.append(ModelOutput.model_validate_json(line))
        except ValueError:
            found.append(None)
        if not (found[-1] and found[-1].choices):
            raise BadRecord(f"line {number} of {file} is no reply of a model")
    return found
