"""`desim regret`."""

import json
from pathlib import Path

import pytest
from support.command_line import Desim, refused

from desim.studies.regret import Decisions, Judged, Question


@pytest.fixture
def record(desim: Desim) -> str:
    """Record a short game, played at random."""
    given = ("--preset", "poisson", "--set", "horizon=8", "--policy", "random", "--seed", "2")
    assert desim("run", "beer_game", *given, "--record", "game.jsonl").code == 0
    return "game.jsonl"


def test_the_dearest_decisions_are_printed(desim: Desim, record: str) -> None:
    """As a table and as JSON, which has them all; twice the same."""
    given = ("regret", record, "--then", "order_up_to", "--futures", "6", "--jobs", "1")
    table = desim(*given, "--top", "2")
    assert table.code == 0, table.err
    assert table.out.count(" order quantity=") == 4
    assert "2 of 8 decisions, the dearest first" in table.out
    plain = desim(*given, "--json", "--decisions", "3:9:3")
    assert [line["at"] for line in json.loads(plain.out)["decisions"]] == [3, 6]
    assert desim(*given, "--json", "--decisions", "3:9:3").out == plain.out
    again = desim(*given, "--against", "options", "--top", "2")
    assert again.out == table.out
    seen = desim(*given[:4], "--hindsight", "--against", "sterman")
    assert "hindsight: " in seen.out


def test_a_folder_keeps_what_was_judged(
    desim: Desim, record: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C the same command goes on, and `--restart` judges anew."""
    given = ("regret", record, "--then", "order_up_to", "--futures", "2", "--jobs", "1")
    kept = (*given, "--do", "order", "--out", "judged")
    whole = desim(*given, "--json")
    with monkeypatch.context() as patched:
        before = Decisions.judged

        def judged(self: Decisions, question: Question) -> Judged:
            if question.at == 3:
                raise KeyboardInterrupt
            return before(self, question)

        patched.setattr(Decisions, "judged", judged)
        stopped = desim(*kept)
    assert stopped.code == 130
    assert "of 8; the same command goes on from there" in stopped.err
    assert desim(*kept, "--json").out == whole.out
    restarted = desim(*kept, "--restart", "--json")
    assert restarted.out == whole.out
    assert "8 rows were discarded" in restarted.err
    refused(desim(*given, "--restart"), "restart needs the folder")


def test_the_picture(desim: Desim, record: str, tmp_path: Path) -> None:
    """A new file, refused before anything is played otherwise."""
    given = (
        "regret",
        record,
        "--then",
        "order_up_to",
        "--futures",
        "4",
        "--jobs",
        "1",
        "--decisions",
        "3:5",
    )
    for name, start in (("cost.svg", b"<?xml"), ("cost.png", b"\x89PNG")):
        done = desim(*given, "--plot", name)
        assert (done.code, done.err) == (0, f"drawn in {name}\n")
        assert (tmp_path / name).read_bytes().startswith(start)
    refused(desim(*given, "--plot", "cost.png"), "cost.png exists; choose another name")
    refused(desim(*given, "--plot", "cost.gif"), "cost.gif is no .png, .svg or .pdf file")
    refused(desim(*given, "--plot", "none/cost.svg"), "there is no folder none")


def test_an_action_is_compared(desim: Desim, record: str) -> None:
    """With what was recorded, over futures."""
    given = ("regret", record, "--then", "order_up_to", "--decisions", "4:5", "--jobs", "1")
    action = ("--against", '{"do": "order", "quantity": 12}')
    plain = json.loads(desim(*given, *action, "--futures", "5", "--json").out)
    assert plain["against"] == '{"do":"order","quantity":12}'
    assert [(line["at"], line["n"]) for line in plain["decisions"]] == [(4, 5)]
    refused(desim(*given, "--against", '{"do": "fly"}'), "the action for 'retailer' does not fit")


def test_options_that_do_not_fit(desim: Desim, record: str) -> None:
    """One sentence, exit code 2."""
    refused(desim("regret", record), "--then SPEC")
    refused(desim("regret", record, "--then", "sterman", "--decisions", "9:"), "it has 8: 1 to 8")
    refused(desim("regret", record, "--then", "a=sterman"), "no policy plays 'a' in the record")
    refused(desim("regret", "none.jsonl", "--then", "sterman"), "none.jsonl")
