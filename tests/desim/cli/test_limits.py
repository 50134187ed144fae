"""`--time-limit`, `--max-events` and `--max-decisions`: read by all commands, kept by sweeps."""

import json
import sys
from pathlib import Path

import click
import pytest
from attrs import frozen
from click.testing import CliRunner
from support.command_line import Desim, refused

from desim.cli.options import command
from desim.core.limits import Limits


@frozen
class Limited:
    """A command's options.

    Attributes:
        limits: The limits of an episode.
    """

    limits: Limits | None = None


@command("shows")
def shows(options: Limited) -> None:
    """Print the limits."""
    click.echo(repr(options.limits))


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        ([], None),
        (["--time-limit", "2.5"], Limits(2.5)),
        (["--max-events", "7", "--max-decisions", "3"], Limits(None, 7, 3)),
    ],
)
def test_options_become_limits(arguments: list[str], limits: Limits | None) -> None:
    """Without any of them there are no limits."""
    assert CliRunner().invoke(shows, arguments).stdout == f"{limits!r}\n"


#: A world with a baseline that ends as it should and three that do not.
LANE = """
import os
import time
from desim import Policy
from support.small_worlds import Go, Walk


class Lane(Walk):
    pass


class Steady(Policy):
    def decide(self, spot):
        return Go(1)


class Loops(Policy):
    def decide(self, spot):
        while True:
            pass


class Catches(Policy):
    def decide(self, spot):
        while True:
            try:
                time.sleep(1)
            except BaseException:
                pass


class Ends(Policy):
    def decide(self, spot):
        os._exit(3)
"""


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        (["--max-decisions", "2"], "LimitReached: the limit of 2 decisions was reached at t=2"),
        (["--max-events", "2"], "LimitReached: the limit of 2 events was reached at t="),
    ],
)
def test_an_episode_beyond_a_limit_is_a_failed_row(
    desim: Desim, limit: list[str], says: str
) -> None:
    """The command plays the others, prints all rows, and exits with 1."""
    ended = desim("sweep", "beer_game", "--seeds", "0:2", "--jobs", "1", *limit, "--json")
    assert ended.code == 1
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert [row["seed"] for row in rows] == [0, 1]
    assert all(row["error"].startswith(says) for row in rows)
    assert ended.err.startswith("desim: 2 of 2 episodes failed, the first is ")
    assert ended.err.count("\n") == 1


def test_a_policy_that_ends_its_process_is_a_failed_row_with_one_job(
    desim: Desim, folder: Path
) -> None:
    """The command itself goes on."""
    (folder / "mine.py").write_text(LANE)
    ended = desim("sweep", "mine:Lane", "--policy", "mine:Ends", "--seeds", "0:1", "--jobs", "1")
    assert ended.code == 1
    assert ended.err == (
        "desim: 1 of 1 episodes failed, the first is mine:Ends in mine:Lane/short with seed 0: "
        "worker process died (exit code 3)\n"
    )


@pytest.mark.slow
def test_no_baseline_holds_up_the_board(shell: Desim, folder: Path) -> None:
    """One loops, one catches every exception, one ends its process; the others are ranked."""
    (folder / "mine.py").write_text(LANE)
    rules = folder / "policies" / "heuristics"
    rules.mkdir(parents=True)
    names = tuple(f"mine:{name}" for name in ("Steady", "Loops", "Catches", "Ends"))
    (rules / "mine.py").write_text(f"def baselines(model):\n    return {names}\n")
    limit = ("--seeds", "0:1", "--jobs", "1", "--time-limit", "1")
    ended = shell("baselines", "mine:Lane/short", *limit)
    ends = {line.split()[0]: line.split()[-1] for line in ended.out.splitlines() if "mine:" in line}
    assert ends["mine:Steady"] == "walked"
    assert [ends[name] for name in names[1:]] == ["failed"] * 3
    assert ended.code == 1
    assert ended.err.startswith("desim: 3 of 6 episodes failed, the first is mine:Loops in ")


SPIN = """
from models.beer_game import BeerGame


class Spin(BeerGame):
    def begin(self, world):
        world.process(spin(world))
        return super().begin(world)


def spin(world):
    yield world.timeout(3)
    while True:
        yield world.timeout(0) | world.timeout(9)


def pair():
    from desim.composition import Composite

    return Composite({"one": BeerGame(), "two": Spin()})
"""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("spinning:Spin",),
            "desim: process 'spin' in spin (spinning.py, line 14) goes on at t=3 ",
        ),
        (("spinning:pair",), "(in part 'two' at its t=3)"),
        (
            ("spinning:Spin", "--max-events", "90"),
            "at t=3, before process 'spin' in spin (spinning",
        ),
    ],
)
def test_a_loop_that_lets_no_time_pass_is_named(
    desim: Desim,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    """By the limit of events at one tick, which needs no option, and by that of the episode."""
    monkeypatch.setattr("desim.core.world.MAX_EVENTS_PER_TICK", 3_000)
    (folder / "spinning.py").write_text(SPIN)
    refused(desim("run", *arguments), says, 1)
    sys.modules.pop("spinning", None)
