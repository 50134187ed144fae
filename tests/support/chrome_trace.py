"""The rules of the Chrome trace event format, as far as desim uses it."""

import gzip
import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

#: The members that every event of a phase has, beside those of all events.
MEMBERS = {
    "M": {"args"},
    "X": {"dur"},
    "b": {"cat", "id2"},
    "e": {"cat", "id2"},
    "i": {"s"},
    "C": {"args"},
}
#: The members of every event, and those that some have.
ALWAYS, SOMETIMES = {"ph", "name", "pid", "tid", "ts"}, {"args"}
METADATA = {
    "process_name": "name",
    "process_sort_index": "sort_index",
    "thread_name": "name",
    "thread_sort_index": "sort_index",
}


def read(path: Path) -> dict[str, Any]:
    """Return a trace, read as strict JSON: no NaN, no infinity, no key twice."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.name.endswith(".gz") else data).decode()

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs), pairs
        return dict(pairs)

    trace: dict[str, Any] = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    return trace


def events(path: Path) -> list[dict[str, Any]]:
    """Return the events of a trace that follows the rules."""
    trace = read(path)
    check(trace)
    return list(trace["traceEvents"])


def check(trace: dict[str, Any]) -> None:
    """Fail at the first rule that a trace breaks."""
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert trace["otherData"]["time"], "says what a microsecond is"
    everything = trace["traceEvents"]
    for event in everything:
        _check_members(event)
    timed = [event for event in everything if event["ph"] != "M"]
    times = [event["ts"] for event in timed]
    assert times == sorted(times), "events are in the order of time"
    _check_names(everything)
    _check_slices(timed)
    _check_async(timed)


def _check_members(event: dict[str, Any]) -> None:
    needed = ALWAYS | MEMBERS[event["ph"]]
    assert needed <= set(event) <= needed | SOMETIMES, event
    for member in ("pid", "tid", "ts"):
        assert type(event[member]) is int, event
        assert 0 <= event[member] < 2**53, event
    assert isinstance(event["name"], str), event
    assert event["name"], event
    if event["ph"] == "X":
        assert type(event["dur"]) is int, event
        assert event["dur"] >= 0, event
    if event["ph"] == "i":
        assert event["s"] in ("g", "p", "t"), event
    if event["ph"] == "C":
        assert event["args"], event
        for value in event["args"].values():
            assert type(value) in (int, float), event
            assert math.isfinite(value), event


def _check_names(everything: list[dict[str, Any]]) -> None:
    """Every process and thread with events has one name; no two threads have the same."""
    metadata = [event for event in everything if event["ph"] == "M"]
    assert everything[: len(metadata)] == metadata, "names come first"
    for event in metadata:
        assert list(event["args"]) == [METADATA[event["name"]]], event
    processes = Counter(event["pid"] for event in metadata if event["name"] == "process_name")
    threads = Counter(
        (event["pid"], event["tid"]) for event in metadata if event["name"] == "thread_name"
    )
    assert set(processes.values()) <= {1}
    assert set(threads.values()) <= {1}
    for event in everything:
        if event["ph"] == "i" and event["s"] == "g":
            continue
        assert event["pid"] in processes, event
        assert (event["pid"], event["tid"]) in threads or event["ph"] in "MbeC", event
    names = Counter(
        (event["pid"], event["args"]["name"])
        for event in metadata
        if event["name"] == "thread_name"
    )
    assert set(names.values()) <= {1}, names


def _check_slices(timed: list[dict[str, Any]]) -> None:
    """Slices of one thread lie inside each other or apart."""
    open_: dict[tuple[int, int], list[int]] = defaultdict(list)
    for event in timed:
        if event["ph"] == "X":
            ends = open_[event["pid"], event["tid"]]
            while ends and ends[-1] <= event["ts"]:
                ends.pop()
            end = event["ts"] + event["dur"]
            assert not ends or end <= ends[-1], event
            ends.append(end)


def _check_async(timed: list[dict[str, Any]]) -> None:
    """Every async slice ends, after those inside it and not before it has begun."""
    open_: dict[Any, list[tuple[str, int]]] = defaultdict(list)
    for event in timed:
        key = event["pid"], event.get("cat"), str(event.get("id2"))
        if event["ph"] == "b":
            open_[key].append((event["name"], event["ts"]))
        elif event["ph"] == "e":
            name, since = open_[key].pop()
            assert name == event["name"], event
            assert since < event["ts"], event
    assert not any(open_.values()), open_
