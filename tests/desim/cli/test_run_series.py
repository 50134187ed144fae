"""`desim run --episodes`: a line for each episode, a folder of records, and what is refused."""

import json
from pathlib import Path
from statistics import mean, stdev

import pytest
from support.command_line import Desim, refused
from support.recorded import played_lines
from support.stub import Served, serving, text

RUN = ("run", "beer_game", "--preset", "poisson", "--set", "horizon=5", "--policy", "benchmark")


def test_every_episode_is_a_line(desim: Desim, folder: Path) -> None:
    """Consecutive seeds, as single runs would play them; the last line sums up."""
    done = desim(*RUN, "--seed", "3", "--episodes", "3")
    assert (done.code, done.err) == (0, "")
    scores = [
        json.loads(desim(*RUN, "--seed", seed, "--json").out)["score"] for seed in ("3", "4", "5")
    ]
    lines = done.out.splitlines()
    assert lines[0] == f"episode 1 of 3: score {scores[0]:,g}, horizon, seed 3, 20 decisions"
    assert [line.split(", ")[2] for line in lines[:3]] == ["seed 3", "seed 4", "seed 5"]
    assert lines[3].startswith("3 episodes: mean score ")
    assert f"from {min(scores):,g} to {max(scores):,g}" in lines[3]
    assert list(folder.iterdir()) == [folder / "mine.py"]


def test_the_same_command_goes_on(desim: Desim, folder: Path) -> None:
    """Records that are there are not played again; one that was cut is played to its end."""
    first = desim(*RUN, "--episodes", "2", "--record", "s")
    assert (first.code, first.err) == (0, "recorded in s\n")
    third = desim(*RUN, "--episodes", "3", "--record", "s").out.splitlines()
    assert [line.endswith("on record already") for line in third] == [True, True, False, False]
    record = folder / "s" / "episode-003.jsonl"
    whole = played_lines(record)
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:4]))
    assert desim(*RUN, "--episodes", "3", "--record", "s").out.splitlines() == third
    assert played_lines(record) == whole
    assert desim("replay", "s/episode-003.jsonl").code == 0


def test_a_series_is_json_lines(desim: Desim, folder: Path) -> None:
    """The summary of `run --json` with the place in the series, and then one object for all."""
    lines = desim(*RUN, "--episodes", "2", "--record", "s", "--json").out.splitlines()
    *plain, total = [json.loads(line) for line in lines]
    assert [(one["episode"], one["seed"], one["was_recorded"]) for one in plain] == [
        (1, 0, False), (2, 1, False),
    ]  # fmt: skip
    assert [one["record"] for one in plain] == ["s/episode-001.jsonl", "s/episode-002.jsonl"]
    alone = json.loads(desim(*RUN, "--json").out)
    assert {key: plain[0][key] for key in alone} == alone
    scores = [one["score"] for one in plain]
    assert total == {
        "episodes": 2,
        "score": {
            "mean": pytest.approx(mean(scores)),
            "sd": pytest.approx(stdev(scores)),
            "min": min(scores),
            "max": max(scores),
        },
        "usage": {},
    }
    again = desim(*RUN, "--episodes", "2", "--record", "s", "--json").out.splitlines()
    assert [json.loads(line)["was_recorded"] for line in again[:2]] == [True, True]
    assert json.loads(again[2]) == total
    assert (folder / "s").is_dir()


def test_a_language_model_learns_in_a_series(desim: Desim) -> None:
    """Calls and money of every episode, and of all; what was learned is in the memory."""
    with serving(text('{"order_qty": 4, "note": "n"}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method=reflexion,memory=m,price_in=1000"
        command = ("run", "beer_game", "--set", "horizon=2", "--policy", spec, "--episodes", "2")
        done = desim(*command, "--record", "s")
        sent = len(stub.requests)
        assert desim(*command, "--record", "s").code == 0
        assert len(stub.requests) == sent
    assert done.code == 0
    *episodes, total = done.out.splitlines()
    assert f"{sent} calls, {15 * sent} tokens, cost {sent / 100:g}" in total
    assert all(" calls, " in line and " tokens, cost " in line for line in episodes)
    shown = desim("memory", "m")
    assert shown.out.splitlines()[0] == "memory of reflexion: retailer after 2 episodes"


def test_an_outage_or_a_limit_ends_the_series_and_the_same_command_goes_on(desim: Desim) -> None:
    """Exit code 1; replies that were paid for are not asked for again."""
    order, down = text('{"order_qty": 4, "note": "n"}'), Served({}, status=503)
    is_down = {5, 6}
    with serving(lambda number, _: down if number in is_down else order) as stub:
        spec = f"llm,model=stub,base_url={stub.url},resends=0"
        command = ("run", "beer_game", "--set", "horizon=4", "--policy", spec, "--episodes", "3")
        command = (*command, "--record", "s")
        for _ in is_down:
            ended = desim(*command)
            assert (ended.code, ended.err.count("\n")) == (1, 1)
            assert "503" in ended.err
            assert "the same command goes on, and pays for no reply twice" in ended.err
        stopped = desim(*command, "--max-calls", "2")
        assert stopped.code == 1
        assert "max-calls" in stopped.err
        assert "the same command goes on, and pays for no reply twice" in stopped.err
        assert desim(*command).code == 0
        assert len(stub.requests) == 3 * 4 + len(is_down)
        is_down.add(len(stub.requests))
        unrecorded = desim(*command[:-2])
        assert (unrecorded.code, unrecorded.err.count("\n")) == (1, 1)
        assert "nothing was recorded: with --record DIR the same command goes on" in unrecorded.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--episodes", "0"), "0 is not in the range 1<=x<=999"),
        (("--episodes", "2", "--record", "mine.py"), "mine.py is a file; a series writes one"),
        (("--record", "."), "'.' is a directory; --episodes N records a series there"),
        (("--episodes", "2", "--seed", "9", "--record", "s"), "$.seed was 0, now 9"),
    ],
)
def test_what_is_no_series_is_refused(more: tuple[str, ...], says: str, desim: Desim) -> None:
    """One sentence; what is there is kept."""
    assert desim(*RUN, "--episodes", "1", "--record", "s").code == 0
    refused(desim(*RUN, *more), says)
