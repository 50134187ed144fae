"""The requests of the page in a browser tab, without a browser."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from desim import play
from experiments.browser import tab

POLICY = (ROOT / "experiments" / "browser" / "policy.py").read_text("utf-8")


def ask(request: str, **given: str) -> Any:
    """Return the answer to a request, as the page reads it."""
    return json.loads(tab.answer(request, json.dumps(given)))


def played(preset: str = "poisson", role: str = "retailer", units: str = "4") -> Any:
    """Return the end of a game in which every order is the same."""
    shown = ask("begin", preset=preset, role=role, seed="1")
    while shown["stage"]:
        shown = ask("order", units=units)
    return shown


@pytest.fixture
def dropped(tmp_path: Path) -> Callable[[str, bytes], Any]:
    """Replays a file of a name and bytes."""

    def replayed(name: str, content: bytes) -> Any:
        file = tmp_path / "dropped"
        file.write_bytes(content)
        answer = ask("replay", name=name, file=str(file))
        assert not file.exists()
        return answer

    return replayed


@pytest.mark.parametrize(
    ("preset", "role"), [("poisson", "retailer"), ("classic", "factory"), ("firmbench", "brewery")]
)
def test_a_game_ends_as_the_episode_of_a_policy(preset: str, role: str) -> None:
    """Score and digest are those of the policy that orders the same, and the weeks are shown."""
    shown = played(preset, role)
    episode = play(f"beer_game/{preset}", {role: "constant,quantity=4"}, 1)
    assert shown["end"] == {"score": episode.score, "digest": episode.ledger_digest}
    assert len(shown["weeks"]) == shown["horizon"]
    assert shown["cost"] == -episode.score


def test_the_rules_play_the_same_game() -> None:
    """They are ranked by score, and say what they know."""
    played()
    lines = {line["rule"]: line for line in ask("rules")["lines"]}
    for rule in ("order_up_to", "sterman"):
        assert lines[rule]["score"] == play("beer_game/poisson", {"retailer": rule}, 1).score
    assert lines["foresight"]["knows"] == "reads the demand of the weeks to come"
    scores = [line["score"] for line in lines.values()]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "NaN", "abc", "1e3", "9" * 31, "<b>"])
def test_an_order_that_is_no_number_changes_nothing(text: str) -> None:
    """The sentence says what was given, and the week stays open."""
    ask("begin", preset="poisson", role="retailer", seed="1")
    error = ask("order", units=text)["error"]
    assert error.endswith("was given; an order is a whole number of at least 0")
    assert ask("order", units="4")["stage"]["week"] == 2


def test_an_order_beyond_the_largest_is_refused() -> None:
    """The limit of the action holds."""
    ask("begin", preset="poisson", role="retailer", seed="1")
    assert "quantity" in ask("order", units="9" * 30)["error"]


def test_no_order_follows_the_end() -> None:
    """The game that has ended stays as it is."""
    played()
    assert ask("order", units="4") == {"error": "the game has ended; begin another one"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"preset": "nope"}, "BeerGame has no preset 'nope'"),
        ({"role": "nobody"}, "there is no role 'nobody'"),
        ({"seed": "-1"}, "'-1' was given; a seed is a whole number of at least 0"),
    ],
)
def test_a_wrong_game_leaves_the_present_one(changed: dict[str, str], said: str) -> None:
    """It is refused with a sentence."""
    ask("begin", preset="poisson", role="retailer", seed="1")
    error = ask("begin", **{"preset": "poisson", "role": "retailer", "seed": "1"} | changed)
    assert error["error"].startswith(said)
    assert ask("order", units="4")["stage"]["week"] == 2


def test_the_record_of_a_game_replays(dropped: Callable[[str, bytes], Any]) -> None:
    """The sentence is that of `desim replay`, also of a compressed record."""
    shown = played()
    same = f"52 decisions replayed, all the same; score {shown['end']['score']:g}, ended horizon"
    record = shown["record"].encode()
    assert dropped(shown["file"], record) == {"said": f"{shown['file']}: {same}"}
    assert dropped("../a.jsonl.gz", gzip.compress(record)) == {"said": f"a.jsonl.gz: {same}"}
    assert dropped("--help.jsonl", record) == {"said": f"--help.jsonl: {same}"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.txt", b"", "notes.txt was given; the name of a record ends in .jsonl or .jsonl.gz"),
        ("a.jsonl", b"", "desim: a.jsonl: the file is empty; a record starts with a header"),
        ("a.jsonl", b"\x00\xff", "desim: a.jsonl: the file is no episode record"),
        ("a.jsonl.gz", b"\x1f\x8b\x08", "desim: a.jsonl.gz: "),
        ("a.jsonl", b" " * (tab.LARGEST_RECORD + 1), "a.jsonl has 8,000,001 bytes; a record of at"),
    ],
)
def test_a_wrong_file_is_one_sentence(
    dropped: Callable[[str, bytes], Any], name: str, content: bytes, said: str
) -> None:
    """Nothing of it is kept."""
    error = dropped(name, content)["error"]
    assert error.startswith(said)
    assert "\n" not in error


def test_a_record_imports_nothing(
    dropped: Callable[[str, bytes], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that would be imported is refused by name."""
    lines = played()["record"].splitlines()
    header = lines[0].replace('"model":"beer_game"', '"model":"this:Zen"')
    error = dropped("a.jsonl", "\n".join([header, *lines[1:-1], ""]).encode())["error"]
    assert error.startswith("desim: a.jsonl: ")
    assert "\n" not in error
    assert "beautiful" not in capsys.readouterr().out


def test_the_policy_of_the_page_is_compared_on_equal_seeds() -> None:
    """Scores and digests are those of `play`, for five seeds."""
    result = ask("run_policy", text=POLICY, preset="poisson")
    assert [line["seed"] for line in result["lines"]] == [0, 1, 2, 3, 4]
    known = play("beer_game/poisson", {"retailer": tab.TEXTBOOK}, 4).score
    assert result["lines"][4]["textbook"] == known
    assert (result["name"], result["lines"][0]["mine"]) == ("Cover", -171.5)


def test_what_a_policy_prints_is_shown_up_to_a_limit() -> None:
    """The rest is left out."""
    result = ask("run_policy", text=f"print('x' * 9000)\n{POLICY}", preset="classic")
    assert result["printed"] == "x" * tab.LONGEST_PRINT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the program defines no class with a method `decide`"),
        ("from models.beer_game import Order", "the program defines no class"),
        ("def f(:\n", r"line 1 \(def f\(:\): SyntaxError: "),
        ("\n\n1/0\n", r"line 3 \(1/0\): ZeroDivisionError: division by zero"),
        ("import nowhere_at_all", "line 1 .*: this needs nowhere_at_all, which this page was"),
        ("raise SystemExit(3)", "line 1 .*: SystemExit: 3"),
        (
            "class A:\n def decide(self, s):\n  return s.x",
            r"line 3 \(return s.x\): policy policy:A",
        ),
        ("class A:\n def decide(self, s): return 7", "'retailer' answered at t=1: 7; expected "),
        ("#" * 100_001, "the policy has 100,001 characters; at most 100,000"),
    ],
)
def test_a_wrong_policy_is_told_with_its_line(text: str, said: str) -> None:
    """One sentence, with the line and its code where there is one."""
    assert re.match(said, ask("run_policy", text=text, preset="poisson")["error"])
