"""`desim run --trace`, `--trace-events` and `--log-level debug`."""

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


def test_a_series_has_no_trace(desim: Desim, folder: Path) -> None:
    """The error says what to leave out."""
    done = desim("run", "beer_game", "--episodes", "2", "--trace", "t.json")
    refused(done, says="leave out --episodes")
    assert not (folder / "t.json").exists()


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


def test_level_debug_tells_of_processes(shell: Desim) -> None:
    """With the simulated time; level info does not."""
    loud = shell("run", "beer_game", "--set", "horizon=2", "--log-level", "debug")
    assert "process started" in loud.err
    assert "process=weekly_work" in loud.err
    quiet = shell("run", "beer_game", "--set", "horizon=2", "--log-level", "info")
    assert "process" not in quiet.err
    assert quiet.out == loud.out
