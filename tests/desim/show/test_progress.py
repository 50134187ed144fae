"""Progress is shown to somebody who watches, with the first failure of each cause."""

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import desim
from desim import Policy
from desim.errors import UsageError
from desim.show import progress as progress_module
from desim.show.progress import shown_progress
from models.beer_game import BeerGame


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


class Fails(Policy):
    """A policy that fails in every episode, for one of two reasons."""

    def __init__(self, reason: str = "no stock") -> None:
        self.reason = reason

    def decide(self, observation: Any) -> Any:
        """Raise an error whose text differs from episode to episode by a number."""
        raise ValueError(f"{self.reason} at {id(observation)}")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars are shown at once, and each count is drawn."""
    for name in ("_PATIENCE", "_PACE", "_LINE_PACE"):
        monkeypatch.setattr(progress_module, name, 0.0)


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal that standard error is from now on; pytest resets what fixtures set."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "300")
    return found


def swept(**how: Any) -> desim.Rows:
    """Sweep a policy that fails for two reasons, on three seeds."""
    reasons = {"policy.reason": ["no stock", "no truck"]}
    return desim.sweep(BeerGame(), Fails, range(3), set=reasons, **how)


def test_a_terminal_shows_a_bar_and_the_first_failure_of_each_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Errors that differ in numbers alone have one cause."""
    terminal = watched(monkeypatch)
    assert len(swept().failed) == 6
    said = [line for line in terminal.getvalue().splitlines() if "failed: " in line]
    assert len(said) == 2
    assert "Fails,reason=no stock in beer_game" in said[0].replace("'", "")
    assert "with seed 0: " in said[0]
    assert "of 6 episodes" in terminal.getvalue()


def test_progress_false_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a bar nor failures."""
    terminal = watched(monkeypatch)
    swept(progress=False)
    assert terminal.getvalue() == ""


def test_a_pipe_receives_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Unless progress is wanted: then lines."""
    swept()
    assert capsys.readouterr().err == ""
    swept(progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0 of 6 episodes"
    assert sum(line.startswith("failed: ") for line in lines) == 2
    assert lines[-1].startswith("6 of 6 episodes, ")


def test_a_function_receives_counts_and_a_terminal_failures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No bar is shown."""
    terminal = watched(monkeypatch)
    counts: list[tuple[int, int]] = []
    swept(progress=lambda *now: counts.append(now))
    assert counts[0] == (0, 6)
    assert counts[-1] == (6, 6)
    assert all(line.startswith("failed: ") for line in terminal.getvalue().splitlines())


def test_failures_steer_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of an error comes from a policy."""
    terminal = watched(monkeypatch)
    with shown_progress(progress=True) as shown:
        shown.say("failed: \x1b]0;title\x07", "")
    assert r"failed: \x1b]0;title\x07" in terminal.getvalue()


def test_only_so_many_sentences_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A thousand causes would hide everything else."""
    with shown_progress(progress=True) as shown:
        for number in range(1_000):
            shown.say(f"failed: {number}", "x" * number)
    assert len(capsys.readouterr().err.splitlines()) == 10


def test_progress_is_none_of_what_is_possible() -> None:
    """The error says what is."""
    with pytest.raises(UsageError, match="progress='yes' was given; possible: True, False, None"):
        swept(progress="yes")


def test_a_notebook_shows_the_last_line_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each replaces the one before."""
    kernel: Any = ModuleType("IPython")
    kernel.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    desim.play_series(BeerGame(), "greedy", range(2))
    *shown, after = capsys.readouterr().err.split("\r")
    assert shown[0] == "0 of 2 episodes"
    assert shown[-1].startswith("2 of 2 episodes, ")
    assert after == ""
