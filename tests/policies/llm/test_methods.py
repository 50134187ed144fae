"""Methods at a seat: every method in every world, recorded, cut, resumed, and with a memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from attrs import field, frozen
from support.cases import thinned
from support.method_traces import answer_stream, asking
from support.paths import PYTHONPATH
from support.scripted import called, player, seat_of, worded
from support.stub import Served, serving, text

from desim import Episode, catalog, play, play_series, replay, resume
from desim.errors import BadRecord, UsageError
from policies.llm.conversation import Conversation
from policies.llm.messages import user
from policies.llm.methods.build import METHODS, check_method, learning_at, method_class
from policies.llm.methods.items import Item, Outcome, Setting
from policies.llm.methods.memory_file import MAX_BYTES, read_memories, shown_memory
from policies.llm.options import LLMOptions
from policies.llm.wires.budget import CallLimits
from policies.llm.wires.wire import ModelReply, Request

#: Empty, broken, huge, and what makes a careless pattern search for hours.
BAD = (
    "",
    "{" * 3_000,
    '{"order_qty": ' + "9" * 100_000,
    "```json\n" * 4_000 + "<cheatsheet>" * 4_000,
    "[lof-00001]" * 4_000 + '"bullet_tags": [' * 4_000,
)

WITH_MEMORY = ("reflexion", "amem", "dynamic_cheatsheet", "gepa", "ace")

#: Every method; quick are one with lessons, one with several speakers, and one with bullets.
SOME_QUICK = [
    each if each in ("reflexion", "debate", "ace") else pytest.param(each, marks=pytest.mark.slow)
    for each in METHODS
]

#: The file of a role's memory, with a place for it.
REFLEXION = b'{"format":"desim-memory/1","method":"reflexion","roles":{"manager":%b}}'

#: A decision of each world, and the mode in which it is written.
WORLDS = {
    "beer_game": ("json", worded('{"order_qty": 2, "note": "steady"}')),
    "edt": ("json", worded('{"C": 2, "R": 0.5, "P": [[1, 0, 95], 0, 0, 0, 0, 0, 0, 0, 0, 0]}')),
    "edt/interactive": ("tools", called(("hire", '{"consultants": 1}'), text="more hands")),
    "enterprise_arena": ("json", worded('{"type": "action", "name": "pass"}')),
    "yc_bench": ("tools", called(("client_list", "{}"), text="who is there")),
}


def seated(world: str, method: str, **more: Any) -> tuple[Any, Any, Any]:
    """Return a world, a policy with a method, and the script of its model."""
    changes = {"max_turns": "2"} if world == "yc_bench" else {}
    model = catalog.model(world, changes=changes)
    seat = seat_of(model)
    mode, reply = WORLDS[world]
    limits = more.pop("limits", CallLimits(max_calls=30))
    llm, scripted = player(seat, lambda _: reply, limits, mode=mode)
    options = LLMOptions(model="scripted", method=method, **more)
    llm.learning = learning_at(options, seat, llm.conversation, llm.metered)
    assert llm.learning is not None
    llm.complete = llm.learning.method
    return model, llm, scripted


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_usable_in_every_world(world: str, method: str) -> None:
    """The first decision is the model's, and every call of it is counted."""
    model, llm, scripted = seated(world, method)
    role = seat_of(model).role
    step = play(model, {role: llm}).steps[0]
    mode, reply = WORLDS[world]
    plain, _ = player(seat_of(model), lambda _: reply, CallLimits(max_calls=1), mode=mode)
    assert step.action == play(model, {role: plain}).steps[0].action
    assert step.notes is not None
    assert step.notes["usage"]["default_actions"] == 0
    assert 1 <= step.notes["usage"]["calls"] <= len(scripted.sent) <= 30


@pytest.mark.parametrize("calls", [1, 2, 4])
@pytest.mark.parametrize("method", METHODS)
def test_a_limit_between_the_calls_leaves_the_last_answer(method: str, calls: int) -> None:
    """An answer that was paid for is used, whatever call the limit is reached before."""
    model, llm, scripted = seated("beer_game", method, limits=CallLimits(max_calls=calls))
    first = play(model, {"retailer": llm}).steps[0]
    assert first.action.quantity == 2
    assert len(scripted.sent) == calls
    assert first.notes is not None
    assert first.notes["usage"]["default_actions"] == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", thinned(BAD, 3), ids=range(len(BAD)))
def test_no_method_stumbles_over_a_bad_reply(method: str, bad: str) -> None:
    """Empty, garbage, broken and huge replies lead to the world's fallback or a cut order."""
    _, llm, _ = seated("beer_game", method, limits=CallLimits(max_calls=300))
    llm.metered.send.script = lambda _: ModelReply(bad)
    episode = play(catalog.model("beer_game", changes={"horizon": "3"}), {"retailer": llm})
    assert len(episode.steps) == 3


@pytest.mark.parametrize("method", SOME_QUICK)
def test_a_cut_record_is_resumed_without_a_call_made_twice(method: str, tmp_path: Path) -> None:
    """Cut after every line of its transcript; the last request alone may be sent again."""

    def script(number: int, _: dict[str, Any]) -> Served:
        return text(json.dumps({"order_qty": number % 7, "note": f"n{number}"}))

    model = catalog.model("beer_game", changes={"horizon": "6"})
    memory = f",memory={tmp_path / 'm.json'}" if method in WITH_MEMORY else ""
    with serving(script) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method={method}{memory}"
        whole = play(model, spec, record=tmp_path / "whole.jsonl")
        sent = list(stub.requests)
        lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
        for cut in range(2, len(lines) - 1, 3):
            requests, replies = (
                sum(b'"entry":{"%b":' % kind in line for line in lines[:cut])
                for kind in (b"request", b"reply")
            )
            # The stub goes on with the reply to the request that is sent next.
            stub.requests[:] = sent[:replies]
            file = tmp_path / f"cut{cut}.jsonl"
            file.write_bytes(b"".join(lines[:cut]))
            resumed = resume(file, trust=True)
            assert stub.requests == sent
            assert resumed.score == whole.score
            assert replay(file).ledger_digest == whole.ledger_digest
            assert requests - replies in (0, 1)


# -- series and memory -----------------------------------------------------------------------------


def test_an_episode_is_learned_from_in_the_record_of_the_next(tmp_path: Path) -> None:
    """The lesson's call is in the second record, before its decision, and can be resumed."""
    model, llm, scripted = seated("edt", "reflexion")
    play_series(model, {"manager": llm}, range(3), record=tmp_path)
    assert llm.learning is not None
    calls = [
        [next(iter(each.entry)) for each in Episode.read(file).transcript]
        for file in sorted(tmp_path.iterdir())
        if file.suffix == ".jsonl"
    ]
    once = ["texts", "request", "reply"]
    assert calls == [
        ["learned", *once],
        ["memory", "learned", *once * 2],
        ["memory", "learned", *once * 2],
    ]
    assert len(llm.learning.method.memory.lessons) == 2
    assert len(llm.learning.pending) == 1

    second = tmp_path / "episode-002.jsonl"
    lines = second.read_bytes().splitlines(keepends=True)
    for cut in range(3, 7):
        second.write_bytes(b"".join(lines[:cut]))
        _, again, sent = seated("edt", "reflexion")
        resume(second, {"manager": again})
        replies = sum(b'"reply"' in line for line in lines[:cut])
        assert sent.sent == scripted.sent[1 + replies : 3]
        assert again.learning is not None
        assert len(again.learning.method.memory.lessons) == 1


@pytest.mark.parametrize("method", WITH_MEMORY)
def test_a_memory_is_carried_in_a_file(method: str, tmp_path: Path) -> None:
    """A second process goes on with what the first one learned, and the file is a table."""
    file = str(tmp_path / "memory.json")
    model, llm, _ = seated("beer_game", method, memory=file, limits=CallLimits(max_calls=500))
    llm.metered.send.script = lambda n: worded(f'{{"order_qty": {n % 5}, "note": "n{n}"}}')
    play_series(model, {"retailer": llm}, range(2))
    assert llm.learning is not None
    _, other, _ = seated("beer_game", method, memory=file)
    assert other.learning is not None
    assert other.learning.plain == llm.learning.plain
    assert other.learning.episodes == 2
    assert other.learning.method.memory == llm.learning.method.memory
    shown = shown_memory(file)
    rows = shown.rows
    assert (shown.method, shown.episodes) == (method, {"retailer": 2})
    assert {row["role"] for row in rows} == {"retailer"}
    assert any("pending episode" in row for row in rows)
    # Another role has a memory of its own in the same file.
    assert "factory" not in read_memories(file, method)


def test_a_memory_does_not_change_in_an_evaluation(tmp_path: Path) -> None:
    """eval_only uses what was learned; offline learns in its first episodes."""
    file = str(tmp_path / "memory.json")
    model, llm, _ = seated("edt", "reflexion", memory=file)
    play_series(model, {"manager": llm}, range(3))
    before = Path(file).read_bytes()
    _, evaluated, scripted = seated("edt", "reflexion", memory=file, learning="eval_only")
    play_series(model, {"manager": evaluated}, range(2))
    assert evaluated.learning is not None
    assert len(evaluated.learning.method.memory.lessons) == 2
    assert len(scripted.sent) == 2
    assert Path(file).read_bytes() == before
    _, offline, scripted = seated("edt", "reflexion", learning="offline", train=1)
    play_series(model, {"manager": offline}, range(3))
    assert offline.learning is not None
    assert offline.learning.method.memory.written == 1
    assert len(scripted.sent) == 4
    assert offline.learning.pending == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{}", "no memory in the format"),
        (b"[" * 100_000, "no memory in the format"),
        (b'{"format":"desim-memory/1","method":"ace","roles":{}}', "of method 'ace'"),
        (REFLEXION % b'{"state":{"lessons":[5],"written":0}}', "no valid memory"),
        (REFLEXION % b"[]", "no valid memory"),
        (b" " * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_a_strangers_file_is_checked(content: bytes, why: str, tmp_path: Path) -> None:
    """One sentence says what is wrong; the file is left as it is."""
    file = tmp_path / "memory.json"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        seated("edt", "reflexion", memory=str(file))
    assert file.read_bytes() == content


def test_a_folder_is_no_memory_and_a_missing_folder_takes_none(tmp_path: Path) -> None:
    """Found before the first call, or when the memory is written."""
    with pytest.raises(UsageError, match="cannot be read"):
        seated("edt", "reflexion", memory=str(tmp_path))
    model, llm, _ = seated("edt", "reflexion", memory=str(tmp_path / "no" / "memory.json"))
    with pytest.raises(UsageError, match=r"cannot write .*memory.json: No such file"):
        play_series(model, {"manager": llm}, [0])
    with pytest.raises(UsageError, match="there is no file"):
        shown_memory(tmp_path / "none.json")


#: Holds the lock of a file until its input ends.
HOLDER = """
import sys
from policies.llm.methods.memory_file import memory_lock
lock = memory_lock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_does_not_learn_into_a_file(tmp_path: Path) -> None:
    """It is refused before its first call with the name of the file; a reader is not."""
    file = str(tmp_path / "memory.json")
    model, llm, scripted = seated("edt", "reflexion", memory=file)
    command, environment = (
        [sys.executable, "-c", HOLDER, file],
        os.environ | {"PYTHONPATH": PYTHONPATH},
    )
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match=f"{file} is being learned into elsewhere"):
            play_series(model, {"manager": llm}, range(2))
        assert scripted.sent == []
        _, reader, _ = seated("edt", "reflexion", memory=file, learning="eval_only")
        assert play(model, {"manager": reader}).result is not None
    assert len(play_series(model, {"manager": llm}, range(2))) == 2


def test_what_another_process_has_learned_meanwhile_is_kept(tmp_path: Path) -> None:
    """A policy reads the file again when it begins to learn; two of a process share the lock."""
    file = str(tmp_path / "memory.json")
    model, late, _ = seated("edt", "reflexion", memory=file)
    _, first, _ = seated("edt", "reflexion", memory=file)
    play_series(model, {"manager": first}, range(3))
    play_series(model, {"manager": late}, range(3))
    assert shown_memory(file).episodes == {"manager": 6}
    assert late.learning.method.memory.written == 5


def test_a_recorded_memory_is_checked() -> None:
    """A record from a stranger, too."""
    _, llm, _ = seated("edt", "reflexion")
    with pytest.raises(BadRecord, match="learned"):
        llm.resume([{"learned": {"state": {"lessons": "x"}}}], print)
    assert llm.complete.memory.lessons == ()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"method": "reflection"}, "did you mean 'reflexion'"),
        ({"method": "cot", "memory": "m"}, "method 'cot' has no memory"),
        ({"memory": "m"}, "no method"),
        ({"method": "ace", "learning": "sometimes"}, "learning=sometimes"),
        ({"method": "ace", "train": 3}, "needs learning=offline"),
        ({"method": "ace", "rounds": -1}, "rounds=-1"),
    ],
)
def test_wrong_options_are_refused(given: dict[str, Any], why: str) -> None:
    """Before anything is sent."""
    with pytest.raises(UsageError, match=why):
        check_method(LLMOptions(model="scripted", **given))


def test_offline_learning_needs_something_to_learn_from() -> None:
    """A number of episodes, in a world without training questions."""
    with pytest.raises(UsageError, match="learning=offline needs train"):
        seated("beer_game", "ace", learning="offline")


@frozen
class Quiz(Conversation):
    """A conversation of questions that knows the right answers."""

    setting: Setting = field(default=Setting(task="questions"))

    def grade(self, item: Item, reply: ModelReply) -> Outcome:
        """Every answer is wrong."""
        return Outcome(answer=reply.text, correct=False, gold=f"gold of {item.question}")


@pytest.mark.parametrize(("method", "calls"), [("reflexion", 15 * 5), ("amem", 20 * 3)])
def test_questions_of_a_world_are_learned_from_by_windows(method: str, calls: int) -> None:
    """A window as published: the memory changes once it is full, in the decision that fills it."""
    model = catalog.model("beer_game")
    seat = seat_of(model)
    _, scripted = player(seat, lambda n: worded(f"reply {n}"))
    options = LLMOptions(model="scripted", method=method)
    learning = learning_at(options, seat, Quiz(), scripted)
    assert learning is not None
    size = learning.method.WINDOW
    for number in range(1, size + 1):
        assert learning.method.memory == METHODS[method].MEMORY()
        messages = [user(f"context {number}"), user(f"question {number}")]
        learning.begin(Request(messages))
        reply = learning.method(Request(messages))
        learning.decided(Request(messages), reply)
    assert len(scripted.sent) == calls
    kept = str(learning.method.memory)
    assert f"reply {5 * size - 2}" in kept or f"gold of question {size}" in kept


@pytest.mark.parametrize(
    ("method", "phases"),
    [
        ("cot", set()),
        ("debate", {"judge"}),
        ("dynamic_cheatsheet", {"memory"}),
        ("ace", {"judge", "memory"}),
    ],
)
def test_usage_is_summed_by_phase(method: str, phases: set[str]) -> None:
    """Calls, tokens and cost of judging and of the memory are sums of their own within all."""
    _, llm, scripted = seated("beer_game", method, limits=CallLimits(price_in=1, price_out=2))
    model = catalog.model("beer_game", changes={"horizon": "6"})
    usage = play(model, {"retailer": llm}).result.usage["retailer"]
    found = {name.removesuffix("_calls") for name in usage if name.endswith("_calls")}
    assert found == phases
    for phase in phases:
        calls = usage[f"{phase}_calls"]
        assert 0 < calls < usage["calls"] == len(scripted.sent)
        assert usage[f"{phase}_prompt_tokens"] == 10 * calls
        assert usage[f"{phase}_completion_tokens"] == 5 * calls
        assert usage[f"{phase}_cost"] == pytest.approx(20e-6 * calls)


def test_answers_to_learn_from_are_calls_of_the_memory() -> None:
    """GEPA scores prompts by answers that are reported nowhere; they are counted as its memory."""
    method = method_class("gepa")()
    method.complete = lambda r: phases.append(r.phase) or ModelReply("4")
    phases: list[str] = []
    items = [asking(f"{n} + 1?", number=n) for n in range(1, 4)]
    method.setting = Setting(task="questions")
    answer_stream(method, items, lambda *_: Outcome(correct=False))
    assert phases[:3] == ["step"] * 3
    assert {*phases[3:]} == {"memory"}
