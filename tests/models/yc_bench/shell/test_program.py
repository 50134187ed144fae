"""The console: founding, answers line by line, and the program's streams and exit codes."""

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import interruptible
from support.examples import examples
from support.paths import ROOT

from desim.errors import UsageError
from models.yc_bench import YCBench
from models.yc_bench.shell.program import Console, main
from models.yc_bench.shell.snapshot import snapshot

INIT = "yc-bench sim init --seed 2 --start-date 03/05/2026 --company-name Ours"
PROGRAM = [sys.executable, "-m", "models.yc_bench.shell.program"]
TEN = "\n".join(["yc-bench company status"] * 10)


def served(
    given: str | bytes, *arguments: str, code: int = 0
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the program's answers and the lines of its standard error."""
    data = given.encode() if isinstance(given, str) else given
    done = subprocess.run(
        [*PROGRAM, *arguments], input=data, capture_output=True, check=False, cwd=ROOT, timeout=60
    )
    assert done.returncode == code, done.stderr
    return [
        json.loads(line) for line in done.stdout.splitlines()
    ], done.stderr.decode().splitlines()


# -- founding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, 1])
def test_sim_init_as_the_first_command_founds_the_company(seed: int | None) -> None:
    """With its own options, even if a seed was given; a line that is no command does not count."""
    console = Console(YCBench(), seed)
    console.give("ls")
    answer = console.give(f"{INIT} --horizon-years 2 --employee-count 3 --market-task-count 50")
    assert answer["out"] == {
        "simulation_id": "<company>",
        "company_id": "<company>",
        "sim_time": "2026-03-05T09:00:00+00:00",
        "horizon_end": "2028-03-05T09:00:00+00:00",
        "company_name": "Ours",
        "seed": 2,
    }
    company = console.company
    assert company is not None
    assert (company.world.seed, len(company.employees), len(company.market)) == (2, 3, 50)
    assert answer["state"] == snapshot(company)


@pytest.mark.parametrize("first", ["yc-bench company status", INIT])
def test_a_second_founding_is_refused(first: str) -> None:
    """Also after a first look at a company that a seed has founded."""
    console = Console(YCBench(), 1)
    before = console.give(first)
    answer = console.give(INIT)
    assert answer["exit_code"] == 1
    assert answer["out"]["error"].startswith("A simulation already exists.")
    assert answer["state"] == before["state"]


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--horizon-years 0", "horizon_years"),
        ("--employee-count 0", "num_employees"),
        ("--market-task-count -1", "num_market_tasks"),
        ("--seed -1", "seed -1"),
        ("--start-date 01/01/0001", "start_date='0001-01-01'"),
    ],
)
def test_options_no_world_can_have_are_refused(option: str, why: str) -> None:
    """In one sentence, and there is no company; a better founding follows."""
    console = Console(YCBench())
    answer = console.give(f"{INIT} {option}")
    assert (answer["exit_code"], answer["out"], answer["state"]) == (2, None, None)
    assert answer["stderr"].startswith("Invalid value: ")
    assert why in answer["stderr"]
    assert "\n" not in answer["stderr"]
    assert console.give(INIT)["exit_code"] == 0


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("employee list", {"error": "No simulation found."}),
        ("task list --status bogus", {"error": "No simulation found."}),
        (
            "scratchpad clear",
            {"error": "No simulation found. Run `yc-bench sim init` first."},
        ),
        ("task inspect --task-id x", {"error": "Task 'x' not found."}),
        ("market browse --offset 3", {"total": 0, "offset": 3, "limit": 50, "tasks": []}),
    ],
)
def test_without_a_company_commands_say_so(command: str, out: dict[str, Any]) -> None:
    """Each in its published way; the market is empty."""
    answer = Console(YCBench()).give(f"yc-bench {command}")
    assert (answer["out"], answer["state"]) == (out, None)
    assert answer["exit_code"] == ("error" in out)


def test_assign_all_is_refused_alike_with_a_company_and_without() -> None:
    """It never looks at one."""
    line = "yc-bench task assign-all --task-id x"
    without, with_one = Console(YCBench()).give(line), Console(YCBench(), 1).give(line)
    assert without["out"] == with_one["out"]
    assert without["exit_code"] == with_one["exit_code"] == 1


def test_a_negative_seed_is_refused() -> None:
    """As everywhere."""
    with pytest.raises(UsageError, match="seed -1 was given"):
        Console(YCBench(), -1)


# -- playing ---------------------------------------------------------------------------------------


def test_the_console_goes_on_after_bankruptcy() -> None:
    """As the published store does, whatever `plays_on` is."""
    console = Console(YCBench(initial_funds_cents=0), 1)
    for words in (
        "task accept --task-id Task-88",
        "task assign --task-id Task-88 --employees Emp_5",
        "task dispatch --task-id Task-88",
    ):
        assert console.give(f"yc-bench {words}")["exit_code"] == 0
    ends = [console.give("yc-bench sim resume")["out"]["terminal_reason"] for _ in range(4)]
    assert ends == ["bankruptcy"] * 4


def test_a_transcript_may_be_long() -> None:
    """The framework's limit of questions at one tick does not apply to a console."""
    console = Console(YCBench(max_questions_per_tick=3), 1)
    answers = [console.give("yc-bench scratchpad read")["exit_code"] for _ in range(50)]
    assert answers == [0] * 50


@examples(30)
@given(st.lists(st.text(alphabet=st.characters(codec=None)) | st.just("\ud800"), max_size=5))
def test_no_text_breaks_the_console(lines: list[str]) -> None:
    """Every line gets an answer that is JSON; one that is no command changes nothing."""
    console = Console(YCBench(num_market_tasks=3), 1)
    state = console.give("yc-bench company status")["state"]
    for line in lines:
        answer = console.give(f"yc-bench {line}")
        assert json.loads(json.dumps(answer)) == answer
        assert answer["state"] == state


# -- the program -----------------------------------------------------------------------------------


def test_each_line_is_answered_with_one_line() -> None:
    """Blank lines and lines that are no commands too; the last needs no line break."""
    lines = b"yc-bench company status\r\n\n\xff\x00\nyc-bench scratchpad write --content \xc3\xa9"
    answers, stderr = served(lines, "--seed", "1")
    assert [answer["exit_code"] for answer in answers] == [0, 2, 2, 0]
    assert [*answers[0]] == ["command", "exit_code", "out", "stderr", "state"]
    assert answers[0]["command"] == "yc-bench company status"
    assert answers[3]["out"]["content"] == "é"
    assert stderr == []


def test_the_program_takes_a_world_a_preset_and_parameters(tmp_path: Path) -> None:
    """Parameters over the preset's; no input, no answer."""
    arguments = ["--seed", "1", "--preset", "direct", "--set", "company_name=Ours"]
    answers, _ = served("yc-bench company status\nyc-bench market browse", *arguments)
    assert answers[0]["out"]["company_name"] == "Ours"
    assert answers[1]["out"]["limit"] == 200
    assert served("", *arguments) == ([], [])


@pytest.mark.traces("ycbench/traces/world_seed01.json.gz")
def test_a_world_from_a_file_is_the_world_drawn(trace: Path, tmp_path: Path) -> None:
    """Packed or not, with a seed or founded later."""
    plain = tmp_path / "world.json"
    plain.write_bytes(gzip.decompress(trace.read_bytes()))
    browse = "yc-bench market browse --limit 200"
    [drawn], _ = served(browse, "--seed", "1")
    for file in (plain, trace):
        assert served(browse, "--seed", "1", "--world", str(file))[0] == [drawn]
    founded = f"{INIT.replace('seed 2', 'seed 1').replace('03/05/2026', '01/01/2025')}\n{browse}"
    assert served(founded, "--world", str(plain))[0][1] == drawn


@pytest.mark.parametrize(
    "arguments",
    [
        ["--seed", "x"],
        ["--seed", "-1"],
        ["--world", "no/such/file"],
        ["--preset", "nightmare"],
        ["--set", "tax=1"],
        ["--set", "max_questions_per_tick"],
        ["--set", "horizon_years=0"],
        ["--bogus"],
        ["extra"],
    ],
)
def test_wrong_usage_is_told_in_one_sentence(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with exit code 2."""
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1


def test_help_is_printed_and_nothing_is_read(capfd: pytest.CaptureFixture[str]) -> None:
    """It is no fault."""
    assert main(["--help"]) == 0
    assert "--world FILE" in capfd.readouterr().out


@pytest.fixture
def running() -> Iterator[subprocess.Popen[bytes]]:
    """The program with its pipes open."""
    with interruptible(
        [*PROGRAM, "--seed", "1"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        yield process
        process.kill()


def test_an_answer_comes_before_the_next_line(running: "subprocess.Popen[bytes]") -> None:
    """Each is flushed, so that a reader can wait for it."""
    assert running.stdin is not None
    assert running.stdout is not None
    for _ in range(2):
        running.stdin.write(b"yc-bench company status\n")
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["exit_code"] == 0


def test_ctrl_c_stops_it_in_one_sentence(running: "subprocess.Popen[bytes]") -> None:
    """With exit code 130."""
    assert running.stdin is not None
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdin.write(b"yc-bench company status\n")
    running.stdin.flush()
    running.stdout.readline()
    time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130
    assert running.stderr.read() == b"console: stopped\n"


def test_it_stops_quietly_when_nobody_reads(running: "subprocess.Popen[bytes]") -> None:
    """As a program in a pipe before `head`."""
    assert running.stdin is not None
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.close()
    running.stdin.write(TEN.encode())
    running.stdin.close()
    assert running.wait(30) == 1
    assert running.stderr.read() == b""
