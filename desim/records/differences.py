"""Where two records differ: header, decisions, requests to language models, replies, end.

Both are read as data; nothing that they name is imported, opened or contacted. Identifiers, times
and tokens of replies, what policies used, and requests that were interrupted are not compared.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from attrs import evolve, frozen

from desim.records.conversation import RecordedCall, calls_of, indented, message_text
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.schema import to_plain
from desim.short_repr import cut

T = TypeVar("T")

#: The fields of a reply that are compared.
_OF_REPLY = ("thinking", "text", "calls", "refusal", "malformed", "finish", "served")

#: Levels of objects whose keys are compared one by one.
_DEEPEST = 8

#: Notes on what was not compared.
_OTHER_WORLDS = "parameters, decisions and calls of different worlds are not compared"

_Numbered = tuple[int, Step]


@frozen
class DifferingPlace:
    """A place at which two records differ.

    Attributes:
        path: The place, such as `params.horizon`.
        a: What the first record has there; None if it has nothing.
        b: What the second one has.
    """

    path: str
    a: Any
    b: Any

    def plain(self) -> dict[str, Any]:
        """Return it as a plain object."""
        return {"path": self.path, "a": self.a, "b": self.b}


@frozen
class FirstDifference:
    """The first decision, request or reply that differs.

    Attributes:
        same: The number of those before it, which are the same.
        label: What it is, such as "decision 12, t=11, retailer".
        places: What differs in it; none if only one record has it.
        goes_on: "A" or "B" if only that record has it; empty if both do.
    """

    same: int
    label: str
    places: tuple[DifferingPlace, ...] = ()
    goes_on: str = ""

    def plain(self) -> dict[str, Any]:
        """Return it as a plain object."""
        places = [place.plain() for place in self.places]
        return {"same": self.same, "label": self.label, "goes_on": self.goes_on, "places": places}


@frozen
class RecordDifferences:
    """The differences of two records.

    Attributes:
        a: The first record; its steps stay in the file.
        b: The second one.
        header: The fields of the headers that differ.
        end: What differs in results or failures.
        decision: The first decision that differs.
        request: The first request to a language model that differs.
        reply: The first reply of a language model that differs.
        calls: The numbers of calls of the records.
        notes: Sentences on what was not compared.
    """

    a: Episode
    b: Episode
    header: tuple[DifferingPlace, ...]
    end: tuple[DifferingPlace, ...]
    decision: FirstDifference | None = None
    request: FirstDifference | None = None
    reply: FirstDifference | None = None
    calls: tuple[int, int] = (0, 0)
    notes: tuple[str, ...] = ()

    @property
    def is_models_choice(self) -> bool:
        """Whether a reply differs although its request is the same in both records."""
        if self.reply is None or self.reply.goes_on:
            return False
        return self.request is None or self.reply.same < self.request.same

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs that is compared."""
        return not (self.header or self.decision or self.request or self.reply or self.end)

    def plain(self) -> dict[str, Any]:
        """Return them as a plain object."""
        firsts = {"decision": self.decision, "request": self.request, "reply": self.reply}
        return {
            "equal": self.is_equal,
            "decisions": [len(self.a.steps), len(self.b.steps)],
            "calls": list(self.calls),
            "header": [each.plain() for each in self.header],
            **{name: first.plain() if first else None for name, first in firsts.items()},
            "end": [each.plain() for each in self.end],
            "notes": list(self.notes),
        }


def record_differences(a: str | Path, b: str | Path) -> RecordDifferences:
    """Compare two records, which may have been cut.

    Args:
        a: A record.
        b: Another one, or the same.

    Raises:
        BadRecord: One cannot be read.
    """
    paths = (Path(a), Path(b))
    first, second = (Episode.read(path, whole=False, keep_steps=False) for path in paths)
    is_one_world = first.header.model == second.header.model
    head_a, head_b = (_header(one, with_params=is_one_world) for one in (first, second))
    compared = partial(
        RecordDifferences,
        first,
        second,
        tuple(_differences(head_a, head_b)),
        tuple(_differences(*_ends(first, second))),
    )
    if not is_one_world:
        return compared(notes=(_OTHER_WORLDS,))
    return compared(
        decision=_first(_steps(first, second), _step_places, _step_label),
        **_of_calls(*paths),
    )


def _of_calls(a: Path, b: Path) -> dict[str, Any]:
    """Return what differs in calls, by the names of attributes, after one pass over both."""
    counts = [0, 0]
    request = reply = None
    for same, pair in enumerate(zip_longest(_sent_once(a), _sent_once(b))):
        counts = [n + (call is not None) for n, call in zip(counts, pair, strict=True)]
        request = request or _differing(same, pair, _request_places, _call_label)
        reply = reply or _differing(same, pair, _reply_places, _call_label)
    return {"request": request, "reply": reply, "calls": tuple(counts)}


def _sent_once(record: Path) -> Iterator[RecordedCall]:
    """Yield calls without requests that were interrupted before a reply and sent again."""
    for call, after in pairwise(chain(calls_of(record), [None])):
        assert call is not None
        open_ended = call.reply is None and not call.failure
        if not (open_ended and after and (call.role, call.digest) == (after.role, after.digest)):
            yield call


def different_place(a: Any, b: Any, path: str = "$") -> DifferingPlace:
    """Return the first place where two plain values differ, or the values if they do not."""
    while (key := _different_key(a, b)) is not None:
        if isinstance(a, dict):
            path, a, b = f"{path}.{cut(key)}", a.get(key), b.get(key)
        else:
            path, a, b = f"{path}[{key}]", a[key], b[key]
    return DifferingPlace(path, a, b)


def _different_key(a: Any, b: Any) -> Any:
    """Return the first key or index with different values; None for values of other kinds."""
    if isinstance(a, dict) and isinstance(b, dict):
        return next((key for key in [*a, *b] if a.get(key) != b.get(key)), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((at for at, old in enumerate(a) if old != b[at]), None)
    return None


def _differences(a: Any, b: Any, path: str = "", depth: int = 0) -> Iterator[DifferingPlace]:
    """Yield all places where two plain values differ; lists are compared as a whole."""
    if a == b:
        return
    if not all(isinstance(one, dict | None) for one in (a, b)) or depth == _DEEPEST:
        yield DifferingPlace(path, a, b)
        return
    a, b = a or {}, b or {}
    for key in dict.fromkeys([*a, *b]):
        name = cut(str(key))
        inner = f"{path}.{name}" if path else name
        yield from _differences(a.get(key), b.get(key), inner, depth + 1)


def _header(episode: Episode, *, with_params: bool) -> dict[str, Any]:
    head: dict[str, Any] = msgspec.to_builtins(episode.header)
    head.pop("id", None)  # of chance in a record with a key
    return head if with_params else {**head, "params": None}


def _ends(a: Episode, b: Episode) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how episodes ended as plain values, without what policies used.

    Of one that was cut or failed only this is compared.
    """
    if a.result is None or b.result is None:
        return {"ended": _ended(a)}, {"ended": _ended(b)}
    return to_plain(evolve(a.result, usage={})), to_plain(evolve(b.result, usage={}))


def _ended(episode: Episode) -> str:
    if episode.failure is not None:
        return f"failed: {episode.failure.error}"
    return episode.result.ended if episode.result is not None else "cut"


def _first(
    pairs: Iterable[tuple[T | None, T | None]],
    places: Callable[[T, T], Iterable[DifferingPlace]],
    label: Callable[[T], str],
) -> FirstDifference | None:
    """Return the first pair with different places, or of which only one exists."""
    found = (_differing(same, pair, places, label) for same, pair in enumerate(pairs))
    return next(filter(None, found), None)


def _differing(
    same: int,
    pair: tuple[T | None, T | None],
    places: Callable[[T, T], Iterable[DifferingPlace]],
    label: Callable[[T], str],
) -> FirstDifference | None:
    """Return what differs in a pair, *same* pairs after the first; None if nothing does."""
    a, b = pair
    if a is None or b is None:
        only, name = (b, "B") if a is None else (a, "A")
        assert only is not None
        return FirstDifference(same, label(only), goes_on=name)
    found = tuple(places(a, b))
    return FirstDifference(same, label(a), found) if found else None


# -- decisions -------------------------------------------------------------------------------------


def _steps(a: Episode, b: Episode) -> Iterator[tuple[_Numbered | None, _Numbered | None]]:
    return zip_longest(enumerate(a.steps, 1), enumerate(b.steps, 1))


def _step_label(numbered: _Numbered) -> str:
    number, step = numbered
    return f"decision {number:,}, t={step.t:,}, {step.role}"


def _step_places(a: _Numbered, b: _Numbered) -> Iterator[DifferingPlace]:
    before, after = a[1], b[1]
    for name in ("t", "role", "possible", "observation", "action"):
        mine, theirs = getattr(before, name), getattr(after, name)
        if mine != theirs:
            yield different_place(mine, theirs, name)


# -- calls -----------------------------------------------------------------------------------------


def _call_label(call: RecordedCall) -> str:
    phase = "" if call.phase == "step" else f" ({call.phase})"
    of = f"before decision {call.decision:,}" if call.decision else "after the last decision"
    return f"call {call.number:,} of {call.role}{phase}, {of}"


def _request_places(a: RecordedCall, b: RecordedCall) -> Iterator[DifferingPlace]:
    for name in ("role", "phase", "decision"):
        mine, theirs = getattr(a, name), getattr(b, name)
        # A record that was cut lacks the decision to which its last calls led.
        if mine != theirs and None not in (mine, theirs):
            yield DifferingPlace(name, mine, theirs)
    if a.digest == b.digest:
        return
    yield from _message_places(a.messages, b.messages)
    yield from _differences(dict(a.fields), dict(b.fields), "fields")
    if a.tools != b.tools:
        yield DifferingPlace("tools", indented(a.tools), indented(b.tools))


def _message_places(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> Iterator[DifferingPlace]:
    """Yield the first message that differs, and the numbers of messages if these differ."""
    for number, (mine, theirs) in enumerate(zip_longest(a, b), 1):
        if mine != theirs:
            roles = dict.fromkeys(str(each.get("role")) for each in (mine, theirs) if each)
            yield DifferingPlace(
                f"message {number} ({' or '.join(roles)})",
                None if mine is None else message_text(mine),
                None if theirs is None else message_text(theirs),
            )
            break
    if len(a) != len(b):
        yield DifferingPlace("number of messages", len(a), len(b))


def _reply_places(a: RecordedCall, b: RecordedCall) -> Iterator[DifferingPlace]:
    if (a.reply is None or b.reply is None) and a.reply is not b.reply:
        yield DifferingPlace("reply", _outcome(a), _outcome(b))
        return
    for name in _OF_REPLY:
        mine, theirs = ((each.reply or {}).get(name) for each in (a, b))
        if (mine or None) != (theirs or None):
            yield different_place(mine, theirs, name)


def _outcome(call: RecordedCall) -> str:
    if call.reply is None:
        return f"no reply: {call.failure}" if call.failure else "the record ends before it"
    return message_text({"content": call.reply.get("text"), "tool_calls": call.reply.get("calls")})
