"""The endpoint: which requests are retried, how a failure is reported, where no key appears."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from support.stub import Served, Stub, message, serving, text

from desim import play
from desim.errors import PolicyFailed, UsageError
from policies.llm.wires.calling import Calling
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.wire import Request

HELLO = Request([{"role": "user", "content": "hello"}])
KEY = "sk-very-secret-0123456789"

#: Requests the shortest wait that there is.
SOON = {"Retry-After": "0.01"}


def endpoint(stub: Stub, **more: Any) -> Endpoint:
    """Return an endpoint for a stub."""
    return Endpoint(model="stub", base_url=stub.url, **more)


def calling(stub: Stub, timeout: float = 30, resends: int = 3) -> Calling:
    """Return a call of a stub's model."""
    server = endpoint(stub)
    return Calling(server, server.name, timeout, resends)


@pytest.mark.parametrize(
    "broken",
    [
        Served({"error": {"message": "slow down"}}, 429, SOON),
        Served({"error": {"message": "broken"}}, 500, SOON),
        Served(b"<html>busy</html>", 503, SOON),
        Served(text("lost").body, cut=True),
        Served(b'{"choices": [{"mess'),
        Served({"choices": []}),
        Served({"choices": [{"message": None}]}),
        Served([1, 2]),
    ],
    ids=["429", "500", "503", "cut", "malformed", "no-choice", "no-message", "a-list"],
)
def test_a_request_without_a_reply_is_sent_again(broken: Served) -> None:
    """Within the same call, after a short wait or the one that the server asks for."""
    with serving(broken, text("hello")) as stub:
        reply = calling(stub)(HELLO)
    assert (reply.text, len(stub.requests)) == ("hello", 2)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Served({"error": {"message": "no such model"}}, 404), "answered 404"),
        (Served({"error": {"message": "broken"}}, 500, SOON), "answered 500"),
        (Served(text("late").body, slow=0.5), "did not answer within 0.1 s"),
        (Served(text("lost").body, cut=True), "broke the connection"),
        (Served(b"no JSON"), "sent no chat completion: 'no JSON', 2 times"),
    ],
)
def test_an_endpoint_that_never_replies_ends_the_run_with_a_sentence(
    broken: Served, why: str
) -> None:
    """The error names the server; the record can be resumed once the server works again."""
    with serving(broken) as stub, pytest.raises(PolicyFailed, match=why) as error:
        calling(stub, timeout=0.1 if broken.slow else 30, resends=1)(HELLO)
    assert stub.url in str(error.value)


def test_a_server_that_does_not_run_is_reported() -> None:
    """By its address."""
    nowhere = Endpoint(model="stub", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(PolicyFailed, match=r"127\.0\.0\.1:9/v1 cannot be reached"):
        Calling(nowhere, nowhere.name, resends=0)(HELLO)


def test_missing_usage_is_estimated_from_lengths() -> None:
    """A limit of tokens holds even if the server does not count them; estimates are marked."""
    with serving(text("x" * 40, usage=None), text("x" * 40, usage={"prompt_tokens": "?"})) as stub:
        complete = endpoint(stub)
        replies = [complete(HELLO) for _ in range(2)]
    assert [r.completion_tokens for r in replies] == [10, 10]
    assert all(r.prompt_tokens > 0 and r.estimated for r in replies)


def test_tool_calls_come_in_order_and_with_names_of_their_own() -> None:
    """Missing and repeated ids are replaced; what is no call is skipped."""
    calls = [
        {"id": "a", "function": {"name": "one", "arguments": "{}"}},
        {"id": "a", "function": {"name": "two", "arguments": {"x": 1}}},
        {"function": {"name": None}},
        "nonsense",
    ]
    with serving(message(content=None, tool_calls=calls)) as stub:
        found = endpoint(stub)(HELLO).calls
    assert [(c.id, c.name, c.arguments) for c in found] == [
        ("a", "one", "{}"),
        ("call_2", "two", '{"x":1}'),
        ("call_3", "", ""),
    ]


def test_requests_contain_what_was_given() -> None:
    """Tools, schema and options are sent where they are given, and only then."""
    tool = {"type": "function", "function": {"name": "x", "parameters": {}}}
    with serving(text("hello")) as stub:
        request = evolve(HELLO, tools=[tool], schema={"type": "object"}, temperature=0.2)
        endpoint(stub, options={"seed": 7})(request)
        endpoint(stub, options={"temperature": 0.5})(evolve(HELLO, temperature=0.2))
    first, second = stub.requests
    assert (first["seed"], first["temperature"], first["tools"]) == (7, 0.2, [tool])
    assert first["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert second.keys() == {"model", "messages", "temperature"}
    assert second["temperature"] == 0.5


def test_a_key_is_sent_and_appears_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in the record, a log or an error, even if the server returns it."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    file = tmp_path / "game.jsonl"
    echo = text(json.dumps({"order_qty": 100, "note": f"your key is {KEY}"}))
    with serving(echo) as stub:
        spec = f"llm,model=stub,base_url={stub.url},key_env=MY_KEY"
        play("beer_game", spec, record=file)
        assert set(stub.keys) == {f"Bearer {KEY}"}
    assert KEY not in file.read_text()
    assert "your key is [key]" in file.read_text()
    with serving(Served({"error": {"message": f"bad key {KEY}"}}, 401)) as stub:
        spec = f"llm,model=stub,base_url={stub.url},key_env=MY_KEY"
        with pytest.raises(PolicyFailed, match=r"bad key \[key\]") as error:
            play("beer_game", spec)
    assert KEY not in repr(error.value) + caplog.text + repr(endpoint(stub, key=KEY))


def test_a_server_without_keys_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some servers refuse a request without one, so the word none is sent."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(text('{"order_qty": 100}')) as stub:
        play("beer_game", f"llm,model=stub,base_url={stub.url}")
    assert set(stub.keys) == {"Bearer none"}


@pytest.mark.parametrize(
    "address",
    [
        "http://me:hush-hush@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=hush-hush",
        "http://127.0.0.1/v1#hush-hush",
        "localhost:8000",
        "file:///v1",
        "http://[::1/v1",
    ],
)
def test_an_address_that_is_invalid_or_holds_a_secret_is_refused(
    address: str, tmp_path: Path
) -> None:
    """It would be in the record, so it is refused before there is one, and not repeated."""
    file = tmp_path / "game.jsonl"
    with pytest.raises(UsageError, match="base_url") as error:
        play("beer_game", f"llm,model=stub,base_url={address}", record=file)
    assert "hush-hush" not in str(error.value)
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("model=x", "OPENAI_API_KEY is not set and no base_url"),
        ("base_url=http://h/v1", "needs model"),
        ("model=x,base_url=http://h/v1,mode=tool", "did you mean 'tools'"),
        ("model=x,base_url=http://h/v1,method=self_refin", "did you mean 'self_refine'"),
        ("model=x,base_url=http://h/v1,retries=-1", "retries=-1 was given"),
        ("model=x,base_url=http://h/v1,max_calls=-1", "max_calls=-1 was given"),
        ("model=x,base_url=http://h/v1,max_cost=nan", "max_cost=nan was given"),
        ("model=x,base_url=http://h/v1,resends=-1", "resends=-1 was given"),
        ("model=x,base_url=http://h/v1,timeout=0", "timeout=0 was given; it is above 0"),
        ("model=x,base_url=http://h:99999/v1", "base_url is not an address"),
        ("model=x,base_url=http://h/v1,max_cost=1", "max_cost needs prices"),
        ("model=x,base_url=http://h/v1,max_call=1", "did you mean 'max_calls'"),
    ],
)
def test_invalid_arguments_are_refused(
    arguments: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one sentence, before any call."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match=why):
        play("beer_game", f"llm,{arguments}")
