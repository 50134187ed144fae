"""The game in plain text, through the command line, in a pipe."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.failing_world import MILL
from support.forked import desim_process

from desim import Episode, play
from desim.cli.main import main


def typed(
    tmp_path: Path,
    *lines: str,
    options: str = "",
    model: str = "beer_game",
    hints: bool = True,
) -> Result:
    """Play with these lines typed, into `game.jsonl`; the options are shown unless told not to."""
    command = ["play", model, "--terminal", "--record", str(tmp_path / "game.jsonl")]
    command += ["--hints"] if hints else []
    return CliRunner().invoke(main, [*command, *options.split()], input="\n".join([*lines, ""]))


def kept(tmp_path: Path, *, whole: bool = False) -> Episode:
    """Read what was played."""
    return Episode.read(tmp_path / "game.jsonl", whole=whole)


def actions(tmp_path: Path) -> list[Any]:
    """The quantities ordered."""
    return [step.action["quantity"] for step in kept(tmp_path).steps]


def test_a_whole_game_in_a_pipe(tmp_path: Path) -> None:
    """Option 1 every week is greedy; the end is compared with the baselines; it replays."""
    done = typed(tmp_path, *["#1"] * 25, "ranking")
    assert done.exit_code == 0, done.output
    greedy = play("beer_game", "greedy", 0)
    assert f"The game has ended after 25 weeks. Score {greedy.score:,.0f}" in done.output
    assert "perfect" in done.output
    assert kept(tmp_path, whole=True).ledger_digest == greedy.ledger_digest
    replayed = CliRunner().invoke(main, ["replay", str(tmp_path / "game.jsonl")])
    assert (replayed.exit_code, "25 decisions replayed" in replayed.output) == (0, True)
    spec = f"replay,file={tmp_path / 'game.jsonl'}"
    assert play("beer_game", spec, 0).score == greedy.score


def test_answers_can_be_written_in_three_ways(tmp_path: Path) -> None:
    """An option's number, an action with values, or a tagged object."""
    done = typed(tmp_path, "#1", "order quantity=5", "order 6", '{"do": "order", "quantity": 7}')
    assert done.exit_code == 0, done.output
    assert actions(tmp_path) == [0, 5, 6, 7]


def test_a_number_alone_is_the_amount_of_the_only_action_that_has_one(tmp_path: Path) -> None:
    """The prompt says so, and the answer is printed as it was understood."""
    done = typed(tmp_path, "5", "1", "2.5", "1,000", "past")
    assert done.exit_code == 0, done.output
    assert actions(tmp_path) == [5, 1, 2.5, 1000]
    how = "A number alone is the quantity of order: 12 is `order quantity=12`; #1 takes an option."
    assert how in done.output
    assert [line for line in done.output.splitlines() if "Done: " in line] == [
        "> Done: Order: quantity 5 units",
        "> Done: Order: quantity 1 unit",
        "> Done: Order: quantity 2.5 units",
        "> Done: Order: quantity 1,000 units",
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("#9", "there is no option 9; there are 1"),
        ("odrer 5", "did you mean 'order'"),
        ("order quantity=many", "Quantity (units): type a number of units; 'many' was typed"),
        ("4,5", "type a number of units; '4,5' was typed: is it 4.5 or 45?"),
        ("order 1.200,50", "was typed: is it 1,200.5 or 1.2005?"),
        ("order pounds=3", "order has no 'pounds'"),
        ("order 3 4", None),
        ('order "3', "cannot be read"),
        ('{"do": "order"', "that is no JSON"),
        ('{"do": "fly"}', "fly"),
        ("undo", "start with --practice"),
        ("look money", "there is no table 'money'"),
    ],
)
def test_a_wrong_line_prints_its_error_and_changes_nothing(
    line: str, error: str | None, tmp_path: Path
) -> None:
    """The next line is read."""
    done = typed(tmp_path, line, "order 3")
    assert done.exit_code == 0, done.output
    assert (error or "") in done.output
    assert actions(tmp_path)[-1] in {3, 4}
    assert len(actions(tmp_path)) == (1 if error else 2)


def test_help_past_and_tables(tmp_path: Path) -> None:
    """The actions, the decisions so far, and the tables that the role may look up."""
    done = typed(tmp_path, "?", "order 17", "past", "look", "look weeks", "look costs")
    assert "Units to order this week; 0 orders nothing. (a number of units)" in done.output
    assert "Order: quantity 17" in done.output
    assert "Tables: weeks, stock_moves, costs" in done.output
    assert "Incoming delivery" in done.output
    assert "Holding" in done.output


def test_quit_keeps_the_game_and_the_next_start_continues_it(tmp_path: Path) -> None:
    """At the first decision that is not on record."""
    done = typed(tmp_path, "order 1", "quit", "order 9")
    assert "Your game is recorded in" in done.output
    done = typed(tmp_path, "order 2")
    assert "Decision 2, retailer" in done.output
    assert actions(tmp_path) == [1, 2]


def test_undo_in_practice(tmp_path: Path) -> None:
    """Also after the end, where the game would otherwise be over."""
    done = typed(tmp_path, "order 1", "order 2", "undo", "order 3", options="--practice")
    assert done.exit_code == 0, done.output
    assert actions(tmp_path) == [1, 3]
    typed(tmp_path, *["#1"] * 23, "undo", "order 4", options="--practice")
    assert actions(tmp_path)[-1] == 4
    assert kept(tmp_path, whole=True).result is not None


def test_a_seat_beside_policies(tmp_path: Path) -> None:
    """Other roles are named with their policies."""
    done = typed(tmp_path, "order 1", options="--seat wholesaler --policy retailer=typical")
    assert "you are wholesaler" in done.output
    assert kept(tmp_path).header.policies == {"wholesaler": "person", "retailer": "typical"}
    done = typed(tmp_path, "order 1", options="--policy typical")
    assert (done.exit_code, "write ROLE=typical" in done.output) == (2, True)


@pytest.mark.parametrize("model", ["edt", "edt/interactive", "yc_bench", "enterprise_arena"])
def test_every_world_is_played_by_numbers_alone(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an action of that world being typed."""
    monkeypatch.setattr("desim.catalog.baselines", lambda _: ())  # some search for seconds
    done = typed(tmp_path, *["1"] * 12, model=model)
    assert done.exit_code == 0, done.output
    assert len(kept(tmp_path).steps) in {1, 12}


def test_only_the_page_imports_nicegui() -> None:
    """Neither the command line nor the terminal does."""
    code = "import sys, desim.cli.main, desim.ui.terminal; print('nicegui' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_nicegui_the_page_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence, with the command that installs it."""
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.delitem(sys.modules, "desim.ui.browser.page_server", raising=False)
    done = CliRunner().invoke(main, ["play", "beer_game", "--record", str(tmp_path / "g.jsonl")])
    assert done.exit_code == 2
    assert "pip install 'desim[play]', or play with --terminal" in done.output


def test_options_are_behind_hint(tmp_path: Path) -> None:
    """Their numbers are not taken unseen; the next decision has its own hint."""
    lines = ("1", "hint", "2", "2", "nonsense")
    done = typed(tmp_path, *lines, model="enterprise_arena", hints=False)
    assert done.exit_code == 0, done.output
    unseen = "the options are not shown; `hint` shows them"
    assert done.output.count(unseen) == 2
    assert done.output.count("ask investors for 20 million") == 1
    assert [step.action["do"] for step in kept(tmp_path).steps] == ["pass"]


@pytest.mark.parametrize(
    ("line", "said"), [("1e3", "1,000 units"), ("-3", "-3 units"), ("order 99", "99 units")]
)
def test_an_unusual_number_is_confirmed_by_typing_it_again(
    line: str, said: str, tmp_path: Path
) -> None:
    """Anything else in between, and it is asked about again."""
    classic = "beer_game/classic"
    done = typed(tmp_path, line, "past", model=classic)
    assert f"Quantity: {said} is outside the usual 0 to 60." in done.output
    assert actions(tmp_path) == []
    typed(tmp_path, line, "77", line, model=classic)
    assert actions(tmp_path) == []
    typed(tmp_path, line, line, model=classic)
    assert len(actions(tmp_path)) == 1


def test_identifiers_are_chosen_by_number(tmp_path: Path) -> None:
    """From the lists that were observed; an action without one lists them."""
    lines = ("market_browse", "task_accept", "?", "task_accept #2", "employee_list")
    done = typed(tmp_path, *lines, "task_assign task_id=#1 employees=#1,#3", model="yc_bench")
    assert done.exit_code == 0, done.output
    assert "Task: type #1 Task-14 · Cortex Intelligence, #2 Task-47 · Equinox Labs" in done.output
    accept, _, assign = [step.action for step in kept(tmp_path).steps[1:4]]
    assert accept == {"do": "task_accept", "task_id": "Task-47"}
    assert assign["task_id"] == "Task-47"
    assert assign["employees"] == ["Emp_1", "Emp_3"]


# -- games that fail -------------------------------------------------------------------------------


def test_a_fault_of_the_model_is_an_error_and_no_finished_game(tmp_path: Path) -> None:
    """Exit 1 with one sentence; looking back still works; the next start shows the same error."""
    again = ("past", "order 3", "2")
    for lines in (("grind 2", "grind 13", *again), again):
        done = typed(tmp_path, *lines, model=MILL)
        assert done.exit_code == 1
        assert "model Mill failed at t=1 in Mill.grind (failing_world.py, line" in done.stdout
        assert "The fault came after decision 2 on record." in done.stdout
        assert f"desim branch {tmp_path / 'game.jsonl'} --at 2" in done.stdout
        assert done.stdout.count("the game has stopped") == 2
        assert "Score" not in done.stdout
        assert done.stderr.startswith("desim: model Mill failed at t=1")
        assert done.stderr.count("\n") == 1
        assert [step.action["sacks"] for step in kept(tmp_path).steps] == [2, 13]
        assert kept(tmp_path).result is None


def test_a_policy_that_failed_is_asked_again(tmp_path: Path) -> None:
    """Any line does; until then the person has no decision."""
    seats = "--seat miller --policy carter=support.failing_world:BadCarter"
    done = typed(tmp_path, "#1", "again", *["#1"] * 4, model=MILL, options=seats)
    assert done.exit_code == 0, done.output
    assert "A policy of another role failed: policy" in done.output
    assert "the line is dead" in done.output
    assert kept(tmp_path, whole=True).score == 15


#: A policy that computes until the process is stopped, once it has made the file `asked`.
BUSY = """
from desim import Policy
from pathlib import Path

class Busy(Policy):
    def decide(self, _):
        Path("asked").touch()
        while True:
            pass
"""


def _until_written(record: Path, ready: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until a game has a record and another file exists, or the game has ended."""
    while process.poll() is None:
        if record.exists() and record.stat().st_size and ready.exists():
            return
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("options", "ready"),
    [("", "game.jsonl"), ("--seat miller --policy carter=busy:Busy", "asked")],
    ids=["reading", "computing"],
)
def test_ctrl_c_stops_the_game_and_keeps_its_record(
    options: str, ready: str, tmp_path: Path
) -> None:
    """While a line is read, and while a policy of another role computes."""
    (tmp_path / "busy.py").write_text(BUSY)
    command = ("play", MILL, "--terminal", "--record", "game.jsonl", *options.split())
    process = desim_process(*command, cwd=tmp_path, stdin=subprocess.PIPE)
    try:
        _until_written(tmp_path / "game.jsonl", tmp_path / ready, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (
        130,
        "desim: stopped; the same command continues game.jsonl\n",
    )
    assert kept(tmp_path).header.policies["miller"] == "person"
