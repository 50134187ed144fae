"""`desim verify`: an honest folder is accepted, a false one refused at its first false place."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.forked import desim_process, ended
from support.stub import serving
from support.suites import answer, bench, record_of, suite_file

from desim.cli.main import main

BEER = '[worlds.beer]\nmodel = "beer_game/poisson"\nset = { horizon = 6 }'

RULE = """
from desim import Policy
from models.beer_game import Order, Stage


class Mine(Policy):
    def decide(self, stage: Stage) -> Order:
        return Order(4)
"""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite of two rules, one of them a user's, on two seeds."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "mine.py").write_text(RULE)
    entries = {"rule": 'policy = "order_up_to"', "mine": 'policy = "mine:Mine"'}
    suite = suite_file(folder, "", BEER, 'seeds = "0:2"', model="", **entries)
    assert bench(suite, folder / "out")[0] == 0
    return folder


@pytest.fixture
def copied(honest: Path, tmp_path: Path) -> Path:
    """A copy of it, in which something is changed."""
    shutil.copytree(honest, tmp_path / "copy")
    return tmp_path / "copy"


def verified(folder: Path, *options: str) -> tuple[int, list[str], str]:
    """Run `desim verify` on the results in a folder; its exit code, lines and errors."""
    done = ended(desim_process("verify", "out", *options, cwd=folder))
    return done.code, done.out.splitlines(), done.err


def test_a_copy_with_line_ends_of_windows_is_accepted(copied: Path) -> None:
    """Records, tables and the suite in the folder."""
    for file in (copied / "out").rglob("*"):
        if file.suffix in (".json", ".jsonl", ".csv", ".md"):
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    code, lines, errors = verified(copied, "--trust")
    assert (code, errors) == (0, "")
    assert lines == ["out: 4 episodes played again; all as recorded"]


def test_an_honest_folder_is_accepted(honest: Path) -> None:
    """A rule of one's own is imported with --trust alone."""
    code, lines, _ = verified(honest, "--trust")
    assert (code, lines) == (0, ["out: 4 episodes played again; all as recorded"])
    code, lines, errors = verified(honest)
    assert (code, lines) == (2, [])
    assert "the suite would import mine:Mine. Nothing was done; --trust allows it" in errors


def swap(folder: Path) -> None:
    """Put one record into the place of another."""
    out = folder / "out"
    shutil.copy(record_of(out, "beer__rule__seed1__1"), record_of(out, "beer__rule__seed0__1"))


def remove(folder: Path) -> None:
    """Remove a record."""
    record_of(folder / "out", "beer__mine__seed0__1").unlink()


def replace(name: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    """Return a change of the first of some bytes in a file."""

    def change(folder: Path) -> None:
        file = folder / name if "." in name else record_of(folder / "out", name)
        content = file.read_bytes()
        assert old in content
        file.write_bytes(content.replace(old, new, 1))

    return change


FALSE: dict[str, tuple[Callable[[Path], None], str]] = {
    "score": (
        replace("beer__rule__seed1__1", b'"score":-', b'"score":-1'),
        "beer__rule__seed1__1: ",
    ),
    "swapped": (swap, "beer__rule__seed0__1: "),
    "missing": (remove, "is missing, and its outcome is not"),
    "parameter": (
        replace("beer__rule__seed0__1", b'"horizon":6', b'"horizon":7'),
        "beer__rule__seed0__1: ",
    ),
    "code": (
        replace("mine.py", b"Order(4)", b"Order(9)"),
        "decision 1, t=1, ",
    ),
    "table": (replace("out/table.csv", b"rule", b"mule"), "table.csv is not what the outcomes"),
    "results": (replace("out/rows.csv", b"beer", b"bear"), "rows.csv is not what the"),
}


@pytest.mark.parametrize("kind", FALSE)
def test_a_false_folder_is_refused_at_its_place(copied: Path, kind: str) -> None:
    """The line names the episode and what differs."""
    change, says = FALSE[kind]
    change(copied)
    code, lines, errors = verified(copied, "--trust")
    assert code == 1, errors
    assert any(says in line for line in lines), lines
    assert lines[-1].endswith("see above")


def test_replies_of_a_language_model_are_read_again(tmp_path: Path) -> None:
    """No request is sent, and a reply that was altered is found."""
    with serving(answer) as stub:
        suite = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:1"')
        assert bench(suite, tmp_path / "out")[0] == 0
        sent = len(stub.requests)
        assert verified(tmp_path)[0] == 0
        assert len(stub.requests) == sent
    (record,) = (tmp_path / "out" / "records").glob("*.jsonl*")
    record.write_bytes(record.read_bytes().replace(b"order_qty", b"other_qty", 1))
    code, lines, _ = verified(tmp_path)
    assert (code, len(lines) > 1) == (1, True)


def test_what_is_no_suite_is_one_sentence(tmp_path: Path) -> None:
    """Exit code 2."""
    for path, says in ((tmp_path, "holds no suite"), (tmp_path / "none", "none holds no suite")):
        done = CliRunner().invoke(main, ["verify", str(path)])
        assert (done.exit_code, says in done.stderr) == (2, True)
