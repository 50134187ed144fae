"""`desim run --trace` and `--trace-events`."""

from pathlib import Path

from support.chrome_trace import events
from support.command_line import Desim, refused


def test_run_writes_a_trace_beside_its_output(desim: Desim, folder: Path) -> None:
    """The output is that of a run without a trace; an existing file is refused."""
    plain = desim("run", "beer_game", "--json")
    traced = desim("run", "beer_game", "--json", "--trace", "t.json.gz")
    assert (traced.code, traced.out, traced.err) == (0, plain.out, "")
    assert events(folder / "t.json.gz")
    refused(desim("run", "beer_game", "--trace", "t.json.gz"), says="exists")
    told = desim("run", "beer_game", "--trace", "u.json").err
    assert told == "traced in u.json, which https://ui.perfetto.dev opens\n"


def test_a_resumed_and_a_branched_episode_are_traced_whole(desim: Desim, folder: Path) -> None:
    """From the first event on, as the episode that they repeat."""
    desim("run", "beer_game", "--record", "r.jsonl", "--trace", "all.json")
    whole = events(folder / "all.json")
    lines = (folder / "r.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "cut.jsonl").write_text("".join(lines[:11]), encoding="utf-8")
    resumed = desim("resume", "cut.jsonl", "--trace", "resumed.json", "--json")
    assert (resumed.code, resumed.err) == (0, "")
    branched = desim("branch", "r.jsonl", "--at", "11", "--trace", "branched.json.gz")
    assert branched.err == "traced in branched.json.gz, which https://ui.perfetto.dev opens\n"
    assert events(folder / "resumed.json") == whole
    assert events(folder / "branched.json.gz") == whole


def test_a_trace_that_cannot_be_written_changes_nothing(desim: Desim, folder: Path) -> None:
    """An existing file and the trace of a whole record are refused."""
    desim("run", "beer_game", "--record", "r.jsonl")
    whole = (folder / "r.jsonl").read_bytes()
    cut = b"".join(whole.splitlines(keepends=True)[:5])
    (folder / "cut.jsonl").write_bytes(cut)
    (folder / "t.json").write_text("{}", encoding="utf-8")
    there = set(folder.iterdir())
    refused(desim("resume", "cut.jsonl", "--trace", "t.json"), says="t.json exists")
    refused(desim("resume", "r.jsonl", "--trace", "u.json"), says="desim export r.jsonl")
    branch = ("branch", "r.jsonl", "--at", "4")
    done = desim(*branch, "--trace", "t.json", "--record", "new.jsonl")
    refused(done, says="t.json exists")
    assert (folder / "cut.jsonl").read_bytes() == cut
    assert (folder / "r.jsonl").read_bytes() == whole
    assert set(folder.iterdir()) == there


def test_a_failure_prints_the_last_events_before_its_sentence(desim: Desim) -> None:
    """Of one episode and of a series; without the option there is the sentence alone."""
    limit = ("run", "beer_game", "--max-events", "9")
    for more in ((), ("--episodes", "2")):
        done = desim(*limit, *more, "--trace-events", "2")
        first, second, third, sentence = done.err.splitlines()
        assert (done.code, first) == (1, "the last 2 of 9 events:")
        assert second.startswith("  t=")
        assert third.startswith("  t=")
        assert sentence.startswith("desim: the limit of 9 events was reached")
    assert len(desim(*limit).err.splitlines()) == 1
    refused(desim("run", "beer_game", "--trace-events", "0"), says="--trace-events")
