"""The attacks of `experiments/attack_*.py` in small; the scripts run them in full."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.paths import PYTHONPATH

from experiments import attack_actions, attack_programs, attack_replies, attack_writers
from experiments.attack_suites import Attacks
from experiments.attack_sweeps import class_findings, data_findings, seed_findings
from experiments.attack_writers import Killing
from experiments.attacks import endpoint

#: Processes that the test kills; `DESIM_KILLS` raises it.
KILLS = int(os.environ.get("DESIM_KILLS", "8"))


@pytest.mark.slow
def test_killed_sweeps_end_with_the_same_bytes(tmp_path: Path) -> None:
    """Whenever they are killed, also beside another process and while they write their rows."""
    killing = Killing(tmp_path, random.Random(3)).run(KILLS)  # noqa: S311 (moments)
    assert killing.kills.total() >= KILLS
    assert killing.bytes > 0
    assert killing.wrong == 0


@pytest.mark.parametrize("mode", attack_programs.MODES)
def test_no_program_gets_out_of_the_sandbox(mode: str) -> None:
    """In any of its modes; in the one in which nothing confines a program none is run."""
    tally = attack_programs.attacked(mode, 3)
    assert tally.holes == []
    assert tally.ended == {("refused" if mode == "hook alone" else "run"): 4}


@pytest.mark.slow
def test_no_record_imports_what_it_names(tmp_path: Path) -> None:
    """In a process of its own, because what is imported stays; every 150th module alone."""
    script = Path(attack_writers.__file__).with_name("attack_records.py")
    command = [sys.executable, str(script), "--every", "150"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": PYTHONPATH},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    holes = [line.split()[-1] for line in done.stdout.splitlines()[1:]]
    assert holes == ["holes", *["0"] * 11]


@pytest.mark.slow
@pytest.mark.parametrize("kind", attack_writers.KINDS)
def test_two_processes_lose_nothing(kind: str) -> None:
    """Each ends as if it were alone, or is refused with the name of the file."""
    tally = attack_writers.attacked(kind, 1)
    assert tally.holes == []
    assert tally.ended["whole"] >= 1


@pytest.mark.slow
def test_attacked_suites_change_nothing_in_silence(tmp_path: Path) -> None:
    """Killed and edited, damaged in each file, two at once, on a full disk."""
    with endpoint(8) as url:
        attacks = Attacks(tmp_path, url, random.Random(5), seeds=4)  # noqa: S311 (moments)
        attacks.prepare()
        attacks.kills(2)
        attacks.flips(1)
        attacks.pairs(1)
        attacks.disks(2)
    assert sum(each.ended.total() for each in attacks.tallies.values()) >= 2 * 2 + 9 + 1 + 2 * 2
    assert [hole for each in attacks.tallies.values() for hole in each.holes] == []


def test_the_attack_of_actions_prints_its_counts() -> None:
    """One line a role, and a total."""
    done = CliRunner().invoke(attack_actions.main, ["beer_game/classic", "--actions", "20"])
    assert done.exit_code == 0
    head, *_, total = done.output.splitlines()
    assert head.split() == ["world", "role", "actions", "accepted", "wrong", "faults"]
    assert total.split()[0] == "all"
    assert total.split()[-1] == "0"


def test_the_attack_of_replies_finds_no_hole() -> None:
    """A line a world, and no draft that is read as a decision."""
    done = CliRunner().invoke(attack_replies.main)
    assert done.exit_code == 0, done.output
    head, *worlds = done.output.splitlines()
    assert head.split()[:3] == ["seat", "replies", "holes"]
    assert {case.world for case in attack_replies.CASES} <= {line.split()[0] for line in worlds}


@pytest.mark.slow
def test_the_attacks_of_sweeps_find_no_hole() -> None:
    """A few of each kind; the script makes every call in every form."""
    found = [
        *class_findings(["standard input"], ["sweep, arguments"]),
        *data_findings(["Imported"], [1]),
        *seed_findings(range(3)),
    ]
    assert [one for one in found if one.hole] == []
    assert len(found) == 4
