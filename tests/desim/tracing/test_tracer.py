"""Traces: the rules of their format, what they show, and that they change nothing."""

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.cases import thinned
from support.chrome_trace import check, events, read
from support.workshop import Hire, Workshop

from desim import Run, catalog, play
from desim.catalog.model_finder import everything
from desim.core.reported import Time
from desim.episodes.driver import play_session
from desim.episodes.export import write_trace
from desim.episodes.lineup import resolve
from desim.episodes.session import EpisodeOptions, Session
from desim.errors import BadRecord, ModelFailed, UsageError
from desim.tracing.trace_file import save_trace
from desim.tracing.trace_time import MAX_TIME, TraceClock
from desim.tracing.tracer import Tracer


def three_jobs(_: Any) -> Hire:
    """Take on three jobs."""
    return Hire(3)


def names(trace: list[dict[str, Any]], what: str) -> dict[Any, str]:
    """Return the names of processes by pid, or of threads by pid and tid."""
    named = [event for event in trace if event["name"] == what]
    whole = what == "process_name"
    keys = [event["pid"] if whole else (event["pid"], event["tid"]) for event in named]
    return {key: event["args"]["name"] for key, event in zip(keys, named, strict=True)}


def on(trace: list[dict[str, Any]], section: str, thread: str = "") -> list[dict[str, Any]]:
    """Return the events of a section, or of a thread in it, without its name."""
    processes, threads = names(trace, "process_name"), names(trace, "thread_name")
    return [
        event
        for event in trace
        if event["ph"] != "M"
        if processes[event["pid"]] == section
        if not thread or threads.get((event["pid"], event["tid"])) == thread
    ]


def traced(model: Any, policy: Any, path: Path, **options: Any) -> list[dict[str, Any]]:
    """Return the checked events of an episode."""
    play(model, policy, trace=path, **options)
    return events(path)


# -- every world -----------------------------------------------------------------------------------


@pytest.mark.parametrize("world", thinned(everything(), 3))
def test_looking_changes_no_episode(world: str, tmp_path: Path) -> None:
    """Of every preset, composites too: traced, with series and last events, or without."""
    model, file = catalog.model(world), tmp_path / "run.trace.json"
    alone = play(world, "greedy")
    lineup = resolve(model, "greedy", 0)
    how = EpisodeOptions(series=True, keep_state=False, trace=file, last_events=5)
    with Session(model, lineup, 0, how=how) as session:
        looked_at = play_session(session)
    assert looked_at.steps == alone.steps
    assert looked_at.result == alone.result
    assert looked_at.ledger_digest == alone.ledger_digest
    trace = read(file)
    check(trace)
    # Decisions are slices of their roles; nothing is cut.
    shown = on(trace["traceEvents"], "decisions")
    assert sum(event["ph"] == "X" for event in shown) == len(alone.steps)
    assert "cut" not in trace["otherData"]


def test_a_year_of_a_startup_shows_its_tasks(tmp_path: Path) -> None:
    """A task under way is an async slice; the founder waits for what a variable holds."""
    trace = traced("yc_bench", "greedy", tmp_path / "y.json")
    episode = play("yc_bench", "greedy")
    dispatched = [step for step in episode.steps if type(step.action).__name__ == "TaskDispatch"]
    work = [event for event in on(trace, "processes") if event["ph"] == "b"]
    assert Counter(event["name"] == "work" for event in work)[True] == len(dispatched)
    # What the founder waits for has the name of the variable that holds it.
    waits = {event["name"] for event in on(trace, "processes", "founder")}
    assert waits == {"the answer of founder", "event wait"}
    # A tick is a microsecond of the year 2025.
    assert max(event["ts"] for event in trace) // (86_400 * 10**6) == 365


def test_counters_say_what_they_count(tmp_path: Path) -> None:
    """Units of goods and orders, balances of money."""
    trace = traced("beer_game", "greedy", tmp_path / "b.json")
    counters = [event for event in on(trace, "ledgers") if event["ph"] == "C"]
    found = {(event["name"].split()[0], *event["args"]) for event in counters}
    assert found == {("goods", "units"), ("orders", "units"), ("book", "balance")}


def test_counters_are_the_balances_of_the_ledger(tmp_path: Path) -> None:
    """The last value of each counter is the account's balance at the end, in money."""
    model, file = "enterprise_arena", tmp_path / "a.json"
    trace = traced(model, "raise_below", file)
    last = {e["name"]: e["args"]["balance"] for e in on(trace, "ledgers") if e["ph"] == "C"}
    episode = play(model, "raise_below")
    run = Run(episode.header.build(trust=True), 0, ["cfo"])
    steps = iter(episode.steps)
    while decisions := run.advance():
        for decision in decisions:
            run.answer(decision, next(steps).action)
    book = run.state.ledgers[0]
    for code, balance in book.balances().items():
        name = book.declared[code].name
        assert last.get(f"book {code} {name}", 0) == pytest.approx(book.money(balance)), code


# -- resources and processes -----------------------------------------------------------------------


def test_resources_are_followed_without_the_models_help(tmp_path: Path) -> None:
    """Queue and use of a preemptive resource, the level of a container, the items of a store."""
    trace = traced(Workshop(days=1), three_jobs, tmp_path / "w.json")
    shown = on(trace, "resources")
    spans = Counter(event["name"] for event in shown if event["ph"] == "b")
    # The first job holds the machine until the second preempts it, and the third the second.
    assert spans["machine in use"] == 3
    assert spans["shelf queue"] >= 1
    level = [event["args"] for event in shown if event["ph"] == "C" and event["name"] == "tank"]
    assert level[-1] == {"level": 1}
    interrupts = [event for event in on(trace, "processes") if event["ph"] == "i"]
    assert len(interrupts) == 2
    assert all(event["name"].startswith("interrupt Preempted") for event in interrupts)
    # The third job used the machine for four ticks of a millisecond.
    uses = [event for event in shown if event["name"] == "machine in use"]
    assert round((uses[-1]["ts"] - uses[-2]["ts"]) / 1000) == 4


def test_each_process_has_a_track_of_what_it_waits_for(tmp_path: Path) -> None:
    """Few processes of a function have a thread each, with the label of their arguments."""
    trace = traced(Workshop(days=1), three_jobs, tmp_path / "w.json")
    threads = set(names(trace, "thread_name").values())
    assert {"boss", "seller", "job 1.0, urgency=0", "job 1.1, urgency=-1"} <= threads
    waits = [event["name"] for event in on(trace, "processes", "seller")]
    assert waits[0] == "StoreGet shelf"
    assert "a timeout" in waits


def test_no_track_is_taken_for_a_main_thread(tmp_path: Path) -> None:
    """Perfetto moves a thread to the top that has the id of its process."""
    trace = traced(Workshop(days=1), three_jobs, tmp_path / "w.json")
    threads = names(trace, "thread_name")
    assert not [key for key in threads if key[0] == key[1]]
    assert len({tid for _, tid in threads}) == len(threads)


def test_many_processes_of_a_function_share_a_group(tmp_path: Path) -> None:
    """Sixty jobs are async slices of one name, not sixty tracks."""
    trace = traced(Workshop(days=20), three_jobs, tmp_path / "w.json")
    assert len(names(trace, "thread_name")) < 10
    jobs = [event for event in on(trace, "processes") if event["ph"] == "b"]
    assert Counter(event["name"] for event in jobs)["job"] == 60
    assert len({event["cat"] for event in jobs}) == 1


# -- files and limits ------------------------------------------------------------------------------


def test_a_replayed_record_has_the_trace_of_its_episode(tmp_path: Path) -> None:
    """Byte for byte, also compressed."""
    first, again = tmp_path / "one.json.gz", tmp_path / "two.json.gz"
    record = tmp_path / "run.jsonl"
    play("beer_game", "greedy", 3, record=record, trace=first)
    assert write_trace(record, again) == again
    assert first.read_bytes() == again.read_bytes()
    check(read(again))


def test_a_record_is_trusted_no_further_than_for_a_replay(tmp_path: Path) -> None:
    """A cut record that names another module imports it only on request."""
    record, out = tmp_path / "run.jsonl", tmp_path / "t.json"
    play(Workshop(), three_jobs, record=record)
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    record.write_text("".join(lines[:-1]), encoding="utf-8")
    check(read(write_trace(record, out, trust=True)))
    out.unlink()
    other = "".join(lines[:-1]).replace("support.workshop", "support.elsewhere")
    record.write_text(other, encoding="utf-8")
    with pytest.raises(UsageError, match=r"support\.elsewhere"):
        write_trace(record, out)
    assert not out.exists()


def test_a_record_that_does_not_replay_has_no_trace(tmp_path: Path) -> None:
    """The error is that of a replay, and no file is left."""
    record, out = tmp_path / "run.jsonl", tmp_path / "t.json"
    play("yc_bench", "greedy", record=record)
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = "".join(lines[:-1]).replace('"seed":0', '"seed":1')
    record.write_text(cut, encoding="utf-8")
    with pytest.raises(BadRecord, match="differs"):
        write_trace(record, out)
    assert not out.exists()


def test_a_trace_ends_where_it_is_full_and_says_so(tmp_path: Path) -> None:
    """What was before that is a whole trace."""
    tracer = Tracer(limit=50)
    run = Run(Workshop(days=20), observers=[tracer])
    while decisions := run.advance():
        run.answer(decisions[0], Hire(3))
    save_trace(tracer, tmp_path / "t.json")
    trace = read(tmp_path / "t.json")
    check(trace)
    assert "it keeps 50 events" in trace["otherData"]["cut"]
    assert [e["name"] for e in trace["traceEvents"] if e["ph"] == "i" and e["s"] == "g"] == [
        trace["otherData"]["cut"]
    ]
    assert len(trace["traceEvents"]) < 250


def test_an_episode_that_fails_is_traced_up_to_there(tmp_path: Path) -> None:
    """The trace of a failure is the one that is wanted most; the error keeps the last events."""
    file = tmp_path / "f.json"
    with pytest.raises(ModelFailed, match="the roof fell in") as failed:
        play(Workshop(fails_on=2), three_jobs, trace=file, last_events=3)
    trace = read(file)
    check(trace)
    assert trace["otherData"]["ended"] == "still running"
    assert len(on(trace["traceEvents"], "decisions", "boss")) >= 2
    (note,) = failed.value.__notes__
    assert note.splitlines()[0].startswith("the last 3 of ")
    assert note.splitlines()[2:] == [
        "  t=10 Decision of boss: Hire(jobs=3) resumes boss",
        "  t=10 Process boss failed",
    ]


def test_a_file_that_exists_is_refused_before_the_episode(tmp_path: Path) -> None:
    """Nothing is played and nothing written."""
    (tmp_path / "there.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="exists and is kept; choose another name"):
        play(Workshop(), lambda _: pytest.fail("played"), trace=tmp_path / "there.json")
    assert (tmp_path / "there.json").read_text(encoding="utf-8") == "{}"


@frozen
class Dates(Workshop):
    """A model with days instead of a calendar."""

    #: A day for each tick, up to the year 9999.
    time = Time(date=lambda tick: dt.date(2025, 1, 1) + dt.timedelta(days=tick))


def test_time_goes_on_from_event_to_event() -> None:
    """Ticks without a length are milliseconds; days are days; one instant is drawn in order."""
    plain, days = TraceClock(Workshop()), TraceClock(Dates())
    assert [plain.advance(tick) for tick in (0, 0, 0, 2, 2)] == [0, 1, 2, 2000, 2001]
    assert [days.advance(tick) for tick in (0, 1, 1)] == [0, 86_400 * 10**6, 86_400 * 10**6 + 1]
    for clock, tick in ((plain, MAX_TIME), (days, 366 * 290), (days, 366 * 9000)):
        with pytest.raises(OverflowError):
            clock.advance(tick)


def test_the_rules_of_the_format_can_be_broken(tmp_path: Path) -> None:
    """The check of the other tests notices a lost end and a wrong order."""
    traced(Workshop(days=2), three_jobs, tmp_path / "w.json")
    text = (tmp_path / "w.json").read_text(encoding="utf-8")
    broken = json.loads(text)
    lost = next(event for event in broken["traceEvents"] if event["ph"] == "e")
    broken["traceEvents"].remove(lost)
    with pytest.raises(AssertionError):
        check(broken)
    broken = json.loads(text)
    broken["traceEvents"][-1]["ts"] = 0
    with pytest.raises(AssertionError):
        check(broken)
