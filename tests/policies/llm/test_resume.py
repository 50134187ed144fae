"""Killed and resumed: no call is made twice, and the sums are what they would have been."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from support.forked import desim_process, ended
from support.scripted import Scripted, player, seat_of, worded
from support.stub import Served, call, serving, text

from desim import Episode, play, play_branch, play_series, replay, resume
from policies.llm.wires.wire import ModelReply

from desim import catalog  # isort: skip


class Killed(BaseException):
    """The process ends here."""


def orders(number: int) -> ModelReply:
    """Order a different quantity every week, with an invalid reply now and then."""
    return worded("hm" if number % 4 == 2 else f'{{"order_qty": {100 + number}}}', seconds=0.1)


@pytest.mark.parametrize("dies", [1, 3, 4, 9])
def test_no_call_is_made_twice(dies: int, tmp_path: Path) -> None:
    """Whether the process ends in the first call of a decision or in a later one."""
    model = catalog.model("beer_game", changes={"horizon": "8"})
    file, whole = tmp_path / "cut.jsonl", tmp_path / "whole.jsonl"
    llm, undisturbed = player(seat_of(model), orders)
    expected = play(model, {"retailer": llm}, record=whole)

    def dying(number: int) -> ModelReply:
        if number == dies:
            raise Killed
        return orders(number)

    llm, before = player(seat_of(model), dying)
    with pytest.raises(Killed):
        play(model, {"retailer": llm}, record=file)
    llm, after = player(seat_of(model), lambda number: orders(number + dies))
    resumed = resume(file, {"retailer": llm})
    assert dies + len(after.sent) == len(undisturbed.sent)
    assert before.sent[:-1] + after.sent == undisturbed.sent
    assert resumed.result is not None
    assert expected.result is not None
    # The request in which the process ended was sent, so it is counted, though it brought nothing.
    usage, before_it = resumed.result.usage["retailer"], expected.result.usage["retailer"]
    assert usage == before_it | {"calls": before_it["calls"] + 1}
    assert evolve(resumed.result, usage={}) == evolve(expected.result, usage={})
    assert [s.action for s in Episode.read(file).steps] == [
        s.action for s in Episode.read(whole).steps
    ]
    assert replay(file).ledger_digest == expected.ledger_digest


def test_a_resumed_conversation_continues_where_it_was_cut(tmp_path: Path) -> None:
    """History, running turns and notes of a start-up are rebuilt from the record."""
    model = catalog.model("yc_bench", changes={"max_turns": "6"})
    answers = [
        call(("market_browse", {"limit": 1}), ("scratchpad_write", {"content": "Task-14"})),
        call(("task_accept", {"task_id": "Task-14"}), ("company_status", {})),
    ]

    def script(_: int, body: dict[str, Any]) -> Served:
        """Answer by the turn, as a request may be sent again."""
        return answers[sum(m["role"] == "user" for m in body["messages"]) % 2 - 1]

    with serving(script) as stub:
        spec = f"llm,model=stub,base_url={stub.url}"
        whole = play(model, spec, record=tmp_path / "whole.jsonl")
        requests = list(stub.requests)
        lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
        for cut in range(2, len(lines) - 1):
            sent, replied = (
                sum(b'"entry":{"%b":' % kind in line for line in lines[:cut])
                for kind in (b"request", b"reply")
            )
            stub.requests[:] = requests[:sent]
            file = tmp_path / f"cut{cut}.jsonl"
            file.write_bytes(b"".join(lines[:cut]))
            resumed = resume(file, trust=True)
            # A request without a reply on record is sent again, and counted twice.
            assert stub.requests == requests[:sent] + requests[replied:]
            assert resumed.score == whole.score
            assert calls_of(resumed) == len(stub.requests)
            assert calls_of(whole) == len(requests)


def calls_of(episode: Episode, role: str = "founder") -> int:
    """Return how many calls an episode took."""
    assert episode.result is not None
    return int(episode.result.usage[role]["calls"])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise here")
def test_a_process_that_was_killed_is_resumed_from_the_command_line(tmp_path: Path) -> None:
    """Kill -9 in the middle of a call; the same server counts one request for every other week."""
    file = tmp_path / "game.jsonl.gz"
    running: list[subprocess.Popen[str]] = []

    def script(number: int, _: dict[str, Any]) -> Served:
        if number == 10 and running:
            running.pop().send_signal(signal.SIGKILL)
        return text(f'{{"order_qty": {number}}}')

    with serving(script) as stub:
        spec = f"llm,model=stub,base_url={stub.url},price_in=1,price_out=1"
        command = ("run", "beer_game", "--policy", spec, "--record", str(file))
        running.append(first := desim_process(*command, cwd=tmp_path))
        assert ended(first).code == -signal.SIGKILL
        cut = Episode.read(file, whole=False)
        assert (len(cut.steps), len(cut.transcript), len(stub.requests)) == (10, 32, 11)
        again = ended(desim_process("resume", str(file), "--trust", cwd=tmp_path))
        assert again.code == 0
    # The call in which the process was killed brought no reply, so it alone was made again.
    weeks = [body["messages"][-1]["content"] for body in stub.requests]
    assert len(weeks) == 26
    assert weeks[10] == weeks[11]
    assert len(set(weeks)) == 25
    done = Episode.read(file)
    assert done.result is not None
    usage = done.result.usage["retailer"]
    assert (usage["calls"], usage["replies"], usage["prompt_tokens"]) == (26, 25, 250)
    assert usage["cost"] == pytest.approx(25 * 15 / 1e6, rel=1e-12)
    assert replay(file).score == done.score


def test_what_was_learned_in_earlier_episodes_is_in_the_record(tmp_path: Path) -> None:
    """A later episode of a series resumes with the feedback it began with."""
    plan = worded('{"C": 9, "R": 0, "P": [[1, 0, 95], 0, 0, 0, 0, 0, 0, 0, 0, 0]}')
    model = catalog.model("edt")
    llm, scripted = player(seat_of(model), lambda _: plan)
    play_series(model, {"manager": llm}, range(2), record=tmp_path)
    file = tmp_path / "episode-002.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    entries = Episode.read(file).transcript[:4]
    kinds = [next(iter(each.entry)) for each in entries]
    assert kinds == ["memory", "texts", "request", "reply"]
    assert all(line.startswith(b'{"line":"transcript"') for line in lines[1:5])
    file.write_bytes(b"".join(lines[:2]))
    llm, again = player(seat_of(model), lambda _: plan)
    resume(file, {"manager": llm})
    assert isinstance(again, Scripted)
    assert again.sent == scripted.sent[1:]


def test_a_written_episode_is_the_record_line_for_line(tmp_path: Path) -> None:
    """Requests and replies stand before their decision, so that a branch keeps its own alone."""
    file, written, branched = (tmp_path / name for name in ("run", "written", "branch"))
    with serving(text('{"order_qty": 7}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url}"
        played = play("beer_game/poisson", {"retailer": spec}, 1, set={"horizon": 9}, record=file)
        played.write(written)
        Episode.read(file).write(tmp_path / "read")
        kinds = [
            [json.loads(line)["line"] for line in path.read_text().splitlines()]
            for path in (file, written, tmp_path / "read")
        ]
        assert kinds[0] == kinds[1] == kinds[2]
        sent = len(stub.requests)
        played_on = play_branch(written, 5, record=branched, trust=True)
        assert len(stub.requests) == sent + 4
    assert len(played_on.steps) == 9
    said = Episode.read(written, decisions=2, whole=False).transcript
    assert all(one.after <= 2 for one in said)


def test_a_limit_includes_what_was_used_before_a_kill(tmp_path: Path) -> None:
    """The requests and replies of the record count, also one whose reply was lost."""
    file = tmp_path / "game.jsonl"
    with serving(text('{"order_qty": 100}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url},max_calls=5"
        whole = play("beer_game", spec, record=file)
        lines = file.read_bytes().splitlines(keepends=True)
        # The header, four weeks of texts, request, reply and order, and two or three lines more.
        for cut, orders, sent in ((20, 5, 0), (19, 4, 0)):
            del stub.requests[:]
            file.write_bytes(b"".join(lines[:cut]))
            resumed = resume(file, trust=True)
            assert len(stub.requests) == sent
            assert (resumed.score == whole.score) == (orders == 5)
            assert [s.notes.get("default_action", "") for s in resumed.steps if s.notes] == [
                ""
            ] * orders + ["max_calls=5 reached for this seat and episode"] * (25 - orders)
            assert calls_of(resumed, "retailer") == 5
