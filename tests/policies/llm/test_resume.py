"""Killed and resumed: no call is made twice, and the sums are what they would have been."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from desim import Episode, play, play_series, replay, resume
from policies.llm.wire import Reply
from tests.policies.llm.scripted import Scripted, player, seat_of, worded
from tests.policies.llm.stub import Served, call, serving, text

from desim import catalog  # isort: skip


class Killed(BaseException):
    """The process dies here."""


def orders(number: int) -> Reply:
    """Order something else every week, with a bad reply now and then."""
    return worded("hm" if number % 4 == 2 else f'{{"order_qty": {100 + number}}}', seconds=0.1)


@pytest.mark.parametrize("dies", [1, 3, 4, 9])
def test_no_call_is_made_twice(dies: int, tmp_path: Path) -> None:
    """Whether the process dies in the first try of a decision or in a later one."""
    model = catalog.model("beer_game", changes={"horizon": "8"})
    file, whole = tmp_path / "cut.jsonl", tmp_path / "whole.jsonl"
    llm, undisturbed = player(seat_of(model), orders)
    expected = play(model, {"retailer": llm}, record=whole)

    def dying(number: int) -> Reply:
        if number == dies:
            raise Killed
        return orders(number)

    llm, before = player(seat_of(model), dying)
    with pytest.raises(Killed):
        play(model, {"retailer": llm}, record=file)
    llm, after = player(seat_of(model), lambda number: orders(number + dies))
    resumed = resume(file, {"retailer": llm})
    assert dies + len(after.heard) == len(undisturbed.heard)
    assert before.heard[:-1] + after.heard == undisturbed.heard
    assert resumed.result == expected.result
    assert Episode.read(file).steps == Episode.read(whole).steps
    assert replay(file).result == expected.result


def test_a_conversation_goes_on_where_it_was(tmp_path: Path) -> None:
    """History, running turns and notes of a start-up are rebuilt from the record."""
    model = catalog.model("yc_bench", changes={"max_turns": "6"})
    answers = [
        call(("market_browse", {"limit": 1}), ("scratchpad_write", {"content": "Task-14"})),
        call(("task_accept", {"task_id": "Task-14"}), ("company_status", {})),
    ]
    with serving(lambda number, _: answers[number % 2]) as stub:
        spec = f"llm,model=stub,base_url={stub.url}"
        whole = play(model, spec, record=tmp_path / "whole.jsonl")
        asked = list(stub.asked)
        lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
        for cut in range(2, len(lines) - 1):
            stub.asked[:] = asked[: sum(line.startswith(b'{"said"') for line in lines[:cut])]
            file = tmp_path / f"cut{cut}.jsonl"
            file.write_bytes(b"".join(lines[:cut]))
            resumed = resume(file)
            assert stub.asked == asked
            assert resumed.score == whole.score
            assert calls_of(resumed) == calls_of(whole) == len(asked)


def calls_of(episode: Episode) -> int:
    """Return how many calls an episode took."""
    assert episode.result is not None
    return int(episode.result.usage["founder"]["calls"])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise here")
def test_a_process_that_was_killed_is_resumed_from_the_command_line(tmp_path: Path) -> None:
    """Kill -9 in the middle of a call; the same server counts, and every week is asked for once."""
    file = tmp_path / "game.jsonl.gz"
    running: list[subprocess.Popen[bytes]] = []

    def script(number: int, _: dict[str, Any]) -> Served:
        if number == 10 and running:
            running.pop().send_signal(signal.SIGKILL)
        return text(f'{{"order_qty": {number}}}')

    with serving(script) as stub:
        spec = f"llm,model=stub,base_url={stub.url},price_in=1,price_out=1"
        command = [sys.executable, "-m", "desim", "run", "beer_game", "--policy", spec]
        running.append(subprocess.Popen([*command, "--record", str(file)], env=os.environ.copy()))
        assert running[0].wait(60) == -signal.SIGKILL
        cut = Episode.read(file, whole=False)
        assert (len(cut.steps), len(cut.said), len(stub.asked)) == (10, 10, 11)
        again = [sys.executable, "-m", "desim", "resume", str(file)]
        subprocess.run(again, check=True, capture_output=True, env=os.environ.copy())
    # The call in which the process died brought nothing, so it alone was made again.
    weeks = [body["messages"][-1]["content"] for body in stub.asked]
    assert len(weeks) == 26
    assert weeks[10] == weeks[11]
    assert len(set(weeks)) == 25
    done = Episode.read(file)
    assert done.result is not None
    usage = done.result.usage["retailer"]
    assert (usage["calls"], usage["prompt_tokens"]) == (25, 250)
    assert usage["cost"] == pytest.approx(25 * 15 / 1e6, rel=1e-12)
    assert replay(file).score == done.score


def test_a_limit_holds_over_a_kill(tmp_path: Path) -> None:
    """What was used before the kill counts."""
    file = tmp_path / "game.jsonl"
    with serving(text('{"order_qty": 100}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url},max_calls=5"
        whole = play("beer_game", spec, record=file)
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:8]))
        resumed = resume(file)
    assert len(stub.asked) == 5 + 1
    assert resumed.score == whole.score
    assert [s.notes.get("neutral", "") for s in resumed.steps if s.notes] == [""] * 5 + [
        "max_calls=5 reached"
    ] * 20


def test_what_was_learned_before_is_on_record(tmp_path: Path) -> None:
    """A later episode of a series resumes with the feedback it began with."""
    plan = worded('{"C": 9, "R": 0, "P": [[1, 0, 95], 0, 0, 0, 0, 0, 0, 0, 0, 0]}')
    model = catalog.model("edt")
    llm, asked = player(seat_of(model), lambda _: plan)
    play_series(model, {"manager": llm}, range(2), record=tmp_path)
    file = tmp_path / "episode-002.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    assert [line[:18] for line in lines[1:3]] == [b'{"said":{"memory":', b'{"said":{"reply":{']
    file.write_bytes(b"".join(lines[:2]))
    llm, again = player(seat_of(model), lambda _: plan)
    resume(file, {"manager": llm})
    assert isinstance(again, Scripted)
    assert again.heard == asked.heard[1:]
