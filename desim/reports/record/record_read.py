"""One record of a report: its content, read in one pass, and the result of its replay."""

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim.records.episode import Episode
from desim.records.lines import Step
from desim.reports.page import clean
from desim.reports.record.replayed import Replayed, played_again
from desim.show.labels import NOTHING, label_text, value_text

#: Most decisions shown of all records of a page, fewest of each record, and the divisor that gives
#: the share of a record's last decisions among them.
MOST_DECISIONS, _FEWEST, _LAST = 300, 30, 6

#: Most characters of a parameter, and of an action on one line.
_LONGEST_VALUE, _ONE_LINE = 160, 90

#: The key of an action that names its class, if its role has several.
_TAG = "do"


@frozen
class ReadRecord:
    """A record, and the findings of one pass over its decisions.

    Attributes:
        name: The shortened name of its file.
        episode: The recorded episode.
        decisions: The number of its decisions.
        first: The first decisions, with their numbers from 1.
        last: The last decisions, without those of *first*.
        replayed: The result of its replay.
        path: The file.
    """

    name: str
    episode: Episode
    decisions: int
    first: Sequence[tuple[int, Step]]
    last: Sequence[tuple[int, Step]]
    replayed: Replayed
    path: Path

    @classmethod
    def of(cls, path: Path, name: str, records: int, *, trust: bool) -> "ReadRecord":
        """Read a record and play it again.

        Args:
            path: The file; it may be cut.
            name: The name of the record on the page.
            records: The number of records of the page.
            trust: See `played_again`.

        Raises:
            BadRecord: The record cannot be read.
        """
        episode = Episode.read(path, whole=False, keep_steps=False)
        most = max(_FEWEST, MOST_DECISIONS // records)
        first: list[tuple[int, Step]] = []
        last: deque[tuple[int, Step]] = deque(maxlen=most // _LAST)
        count = 0
        for count, step in enumerate(episode.steps, 1):
            if len(first) < most - most // _LAST:
                first.append((count, step))
            else:
                last.append((count, step))
        again = played_again(episode, trust=trust)
        return cls(name, episode, count, first, [*last], again, path)

    @property
    def letter(self) -> str:
        """The letter before its name, if the page has several records."""
        return self.name.partition(" ")[0]

    @property
    def score(self) -> float | None:
        """The score; None for a record without a result."""
        return self.episode.result.score if self.episode.result else None

    @property
    def score_text(self) -> str | None:
        """The score in the unit that the world declares; None for a record without a result."""
        return self.episode.score_text if self.episode.result else None

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The metrics; empty for a record without a result."""
        return self.episode.result.metrics if self.episode.result else {}

    @property
    def ended(self) -> str:
        """The reason for the episode's end, or the state of an unfinished record."""
        if self.episode.failure is not None:
            return f"failed: {self.episode.failure.error}"
        if self.episode.result is None:
            return "the record was cut"
        return self.episode.result.ended

    @property
    def policies(self) -> str:
        """The policies by role; one that plays all roles is named once."""
        return policies_text(self.episode.header.policies)

    def when(self, step: Step) -> str:
        """Return the time of a decision: a date, a period, or its tick."""
        series = self.replayed.series
        return series.timeline.text(step.t) if series else f"t={step.t:,}"


def policies_text(policies: Mapping[str, str]) -> str:
    """Return policies by role as text; one that plays all of several roles is named once."""
    if len(policies) > 1 and len({*policies.values()}) == 1:
        return f"{next(iter(policies.values()))} ({', '.join(policies)})"
    return ", ".join(f"{role}={label}" for role, label in policies.items()) or NOTHING


def short_value(value: Any, width: int = _LONGEST_VALUE) -> str:
    """Return a plain value as a short JSON text."""
    if value is None or value == "":
        return NOTHING
    return clean(value if isinstance(value, str) else msgspec.json.encode(value).decode(), width)


def readable(value: Any) -> str:
    """Return a plain value for display: a short one on one line, others with a line for each field.

    >>> readable({"do": "order", "quantity": 12})
    'order: quantity 12'
    """
    if not isinstance(value, Mapping):
        return value_text(value)
    kind = value.get(_TAG)
    head = [kind] if isinstance(kind, str) else []
    fields = {key: each for key, each in value.items() if not head or key != _TAG}
    line = ": ".join([*head, *[value_text(fields)] * bool(fields)])
    if len(line) <= _ONE_LINE:
        return line
    lines = (f"{label_text(str(key))}: {value_text(each)}" for key, each in fields.items())
    return "\n".join([*head, *lines])
