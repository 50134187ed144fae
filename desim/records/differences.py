"""Where two records differ: header, first decision, end; not in what policies used or were sent."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.records.episode import Episode
from desim.schema import to_plain
from desim.short_repr import shortened

#: The compared parts of two decisions.
COMPARED = ("t", "role", "possible", "observation", "action")

#: Levels of objects and lists whose items are compared one by one.
_DEEPEST = 8


@frozen
class DifferingPlace:
    """A place, such as `params.horizon`, and what each of two records has there, or None."""

    path: str
    a: Any
    b: Any


@frozen
class FirstDifference:
    """The first decision that differs, after so many that are the *same*.

    Its label is such as "decision 12, t=11, retailer". If only one record, "A" or "B", has it, that
    one *goes on*, and there are no places.
    """

    same: int
    label: str
    places: tuple[DifferingPlace, ...] = ()
    goes_on: str = ""


@frozen
class RecordDifferences:
    """The differences of two records, whose steps stay in their files.

    Of records of different worlds neither parameters nor decisions are compared.
    """

    a: Episode
    b: Episode
    header: tuple[DifferingPlace, ...]
    end: tuple[DifferingPlace, ...]
    decision: FirstDifference | None = None

    @property
    def is_of_one_world(self) -> bool:
        """Whether both are records of the same model."""
        return self.a.header.model == self.b.header.model

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs that is compared."""
        return not (self.header or self.decision or self.end)

    def plain(self) -> dict[str, Any]:
        """Return them as a plain object."""
        return {
            "equal": self.is_equal,
            "decisions": [len(self.a.steps), len(self.b.steps)],
            "header": to_plain(self.header),
            "decision": to_plain(self.decision),
            "end": to_plain(self.end),
        }


def record_differences(a: str | Path, b: str | Path) -> RecordDifferences:
    """Compare two records, which may have been cut; a `BadRecord` if one cannot be read."""
    first, second = (Episode.read(path, whole=False, keep_steps=False) for path in (a, b))
    head, other = (msgspec.to_builtins(each.header) for each in (first, second))
    is_one_world = head["model"] == other["model"]
    end, other_end = _end(first), _end(second)
    if first.result is None or second.result is None:
        end, other_end = {"ended": end["ended"]}, {"ended": other_end["ended"]}
    if not is_one_world:
        head["params"] = other["params"] = None
    return RecordDifferences(
        first,
        second,
        tuple(differences(head, other, "")),
        tuple(differences(end, other_end, "")),
        _first_decision(first, second) if is_one_world else None,
    )


def differences(a: Any, b: Any, path: str, depth: int = 0) -> Iterator[DifferingPlace]:
    """Yield all places where two plain values differ; lists of other lengths are one place."""
    inside: list[tuple[str, Any, Any]] = []
    if depth < _DEEPEST and isinstance(a, dict | None) and isinstance(b, dict | None):
        mine, theirs = a or {}, b or {}
        keys = dict.fromkeys([*mine, *theirs])
        inside = [(f".{shortened(key)}", mine.get(key), theirs.get(key)) for key in keys]
    elif depth < _DEEPEST and isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        inside = [(f"[{at}]", *pair) for at, pair in enumerate(zip(a, b, strict=True))]
    elif a != b:
        yield DifferingPlace(path, a, b)
    for step, old, new in inside:
        if old != new:
            yield from differences(old, new, f"{path}{step}".removeprefix("."), depth + 1)


def _end(episode: Episode) -> dict[str, Any]:
    if episode.failure is not None:
        return {"ended": f"failed: {episode.failure.error}"}
    end: dict[str, Any] = to_plain(evolve(episode.result, usage={})) if episode.result else {}
    return {"ended": "cut"} | end


def _first_decision(a: Episode, b: Episode) -> FirstDifference | None:
    for same, (mine, theirs) in enumerate(zip_longest(a.steps, b.steps)):
        step = mine or theirs
        label = f"decision {same + 1:,}, t={step.t:,}, {step.role}"
        if mine is None or theirs is None:
            return FirstDifference(same, label, goes_on="A" if mine else "B")
        pairs = [(getattr(mine, name), getattr(theirs, name), name) for name in COMPARED]
        if places := tuple(next(differences(*pair)) for pair in pairs if pair[0] != pair[1]):
            return FirstDifference(same, label, places)
    return None
