"""`desim baselines` as a table and as JSON; series and nested parameters on the command line."""

import json

import pytest
from support.command_line import Desim, refused
from support.known_worlds import MEASURED, ROUND, WRONG
from support.small_worlds import STRIDE, WALK

from desim.catalog import model_finder


def test_baselines_print_a_table_for_each_preset(desim: Desim) -> None:
    """With the notes that it needs, and each sentence of the legend once, at the end."""
    code, out, err = desim("baselines", WALK, "--seeds", "0:3", "--jobs", "1")
    assert (code, err) == (0, "")
    assert f"{WALK}/short: 6 episodes over 3 seeds" in out
    assert f"{WALK}/long: 6 episodes over 3 seeds" in out
    names = [line.split(":")[0].replace("\N{NO-BREAK SPACE}", " ") for line in out.splitlines()]
    assert (names.count("rank"), names.count("n to tell")) == (1, 1)


def test_without_a_model_every_world_has_a_line(
    desim: Desim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command of a newcomer: one screen, or an object for each world."""
    monkeypatch.setattr(model_finder, "models", lambda: (MEASURED, ROUND))
    code, out, err = desim("baselines", "--seeds", "0:3", "--jobs", "1")
    assert (code, err) == (0, "")
    assert out.startswith("2 worlds, default presets: the best rule's mean over 3 seeds\n")
    assert len(out.splitlines()) < 24
    _, out, _ = desim("baselines", "--seeds", "0:3", "--jobs", "1", "--json")
    assert [json.loads(line)["model"] for line in out.splitlines()] == [MEASURED, ROUND]


def test_all_prints_the_boards_of_every_world(
    desim: Desim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they end, with the legend below the last; no model goes with it."""
    monkeypatch.setattr(model_finder, "models", lambda: (WALK,))
    code, out, _ = desim("baselines", "--all", "--seeds", "0:2", "--jobs", "1")
    assert code == 0
    assert [f"{WALK}/{preset}: 4 episodes" in out for preset in ("short", "long")] == [True, True]
    refused(desim("baselines", WALK, "--all"), f"--all was given with {WALK}; it prints all worlds")


def test_baselines_as_json_are_one_line_a_preset(desim: Desim) -> None:
    """With the specs of each line, what they know, and what their episodes were."""
    code, out, err = desim("baselines", WALK, "--seeds", "0:3", "--jobs", "1", "--json")
    assert (code, err) == (0, "")
    boards = [json.loads(line) for line in out.splitlines()]
    assert [(one["model"], one["preset"]) for one in boards] == [(WALK, "short"), (WALK, "long")]
    line = next(one for one in boards[0]["lines"] if one["policies"] == ["greedy"])
    assert line["ranks"] == [1, 2]
    assert len(line["to_best"]) == 2
    assert line["may_be_best"] is True
    assert line["shape"]["n"] == 3
    assert (line["episodes"], line["failed"], line["knows"]) == (3, 0, "observation")
    assert line["estimate"]["n"] == 3
    assert line["ended"] == {"walked": 3}


def test_a_score_above_a_proved_bound_is_a_fault(desim: Desim) -> None:
    """The table is printed, and the exit code is 1."""
    code, out, err = desim("baselines", f"{WRONG}/short", "--seeds", "0:2", "--jobs", "1")
    assert (code, "FAULT: greedy scores more than the bound" in out) == (1, True)
    assert err.startswith(f"desim: greedy in {WRONG}/short")
    assert err.endswith("scores more than a bound that no policy can exceed\n")


def test_a_sweep_plays_until_intervals_are_narrow(desim: Desim) -> None:
    """And fails where the seeds do not suffice."""
    options = ("sweep", WALK, "--policy", f"{STRIDE},size=9", "--jobs", "1")
    code, out, _ = desim(*options, "--until", "5%")
    assert code == 0
    assert "within 5 % of the mean; together about 95 % if no outcome rarer than" in out
    code, out, err = desim(*options, "--until", "0.001", "--max-seeds", "60")
    assert (code, "60 seeds: not within ±0.001" in out) == (1, True)
    assert err.startswith(f"desim: 60 seeds: not within ±0.001: {STRIDE},size=9 (60: ±")
    code, out, _ = desim(*options, "--until", "20", "--range=-60:60", "--seeds", "0:30")
    assert (code, "whenever one stops (values are between -60 and 60)" in out) == (0, True)
    code, out, _ = desim(*options, "--until", "20", "--seeds", "0:299")
    assert (code, "\n299 seeds: within ±20" in out) == (0, True)


def test_a_sweep_selects_the_best(desim: Desim) -> None:
    """By a procedure; options that would have no effect are refused."""
    options = ("sweep", WALK, "--policy", STRIDE, "--set", "policy.size=1,9", "--jobs", "1")
    best = ("--delta", "2", "--range=-15:45")
    code, out, _ = desim(*options, *best)
    assert code == 0
    assert out.splitlines()[1].split()[:2] == [f"{STRIDE},size=9", "yes"]
    code, out, _ = desim(*options, *best, "--seeds", "3:43")
    assert code == 0
    assert out.splitlines()[1].split()[1:3] == ["yes", "40"]
    for wrong, text in [
        (("--range", "0:1"), "--range belongs to --until or --delta or --budget"),
        (("--until", "5%", "--max-seeds", "20"), "the first look has 20 seeds; at least 60"),
        (
            ("--until", "5%", "--budget", "9"),
            "--until and --budget were given; a sweep",
        ),
        (("--budget", "99", "--delta", "2"), "--delta and --budget were given"),
        (("--seeds", "5:2"), "seeds '5:2' were given; in A:B, A is below B"),
        (("--delta", "1", "--against", "x"), "--against belongs to plain sweeps or --until"),
        (("--until", "5%", "--series"), "--series belongs to plain sweeps"),
    ]:
        refused(desim(*options, *wrong), text)
