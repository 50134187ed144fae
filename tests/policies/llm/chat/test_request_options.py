"""Options of requests: which are sent in which API, and which do not go together."""

import json
import re
from typing import Any

import pytest
from support.stub import serving, text

from desim import play
from desim.errors import UsageError
from policies.llm.chat.options import LLMOptions
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.forms.apis import form_of

ORDER = text('{"order_qty": 4}')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"api": "message"}, "api=message was given; did you mean 'messages'?"),
        ({"api_version": "2023-06-01"}, "only api=messages has versions"),
        ({"api": "messages", "api_version": "latest"}, "it is a date such as 2026-10-21"),
        ({"api": "messages", "temperature": 0.5}, "api=messages takes none from version 2026-10"),
        ({"api": "messages", "top_p": 0.5}, "top_p=0.5 was given; api=messages takes none"),
        (
            {"api": "messages", "api_version": "2023-06-01", "top_p": 0.5, "effort": "low"},
            "api=messages takes none with reasoning",
        ),
        ({"api": "messages", "seed": 1}, "seed=1 was given; api=messages takes none"),
        ({"api": "responses", "seed": 1}, "seed=1 was given; api=responses takes none"),
        ({"api": "messages", "effort": "minimal"}, "effort=minimal was given; "),
        ({"effort": "much"}, "effort=much was given; "),
        ({"thinking_tokens": 2000}, "only api=messages takes it; give effort="),
        ({"api": "messages", "thinking_tokens": 100}, "it is at least 1024"),
        (
            {"api": "messages", "thinking_tokens": 2000, "reply_tokens": 2000},
            "it is below reply_tokens=2000",
        ),
        ({"api": "messages", "thinking_tokens": 2000, "effort": "none"}, "leave out one of them"),
        ({"api": "messages", "service_tier": "flex"}, "Possible: auto, standard_only"),
        ({"service_tier": "standard_only"}, "Possible: auto, default, flex"),
        ({"api": "messages", "embed": "e"}, "api=messages has no vectors"),
        ({"top_p": 0.0}, "above 0 and at most 1"),
        ({"top_p": float("nan")}, "above 0 and at most 1"),
        ({"extra_body": {"messages": []}}, "extra_body has 'messages'"),
        ({"extra_body": {"n": 4}}, "extra_body has 'n'"),
        ({"extra_body": {"a": [{"API_KEY": "x"}]}}, "extra_body names a secret"),
        ({"extra_body": {"token": "x"}}, "extra_body names a secret"),
        ({"extra_body": {"auth": {"access_token": "x"}}}, "extra_body names a secret"),
        ({"key_env": "sk-proj-1234"}, "key_env is no name of an environment variable"),
        ({"extra_body": {"a": json.loads("[" * 500 + "]" * 500)}}, "or too deep"),
        ({"extra_body": {"a": float("nan")}}, "is no plain JSON"),
        ({"extra_body": {"a": "x" * 20_000}}, "at most 16384 are sent"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], said: str) -> None:
    """In one sentence that names them, before anything is sent."""
    with pytest.raises(UsageError, match=re.escape(said)):
        LLMOptions(model="m", **options)


@pytest.mark.parametrize("given", ["[1]", "7", '{"a":NaN}', "{", '{"a":' * 2000, ""])
def test_an_extra_body_that_is_no_object_is_refused(given: str) -> None:
    """As any other value that is not of its type."""
    quoted = '"' + given.replace('"', '""') + '"'
    with pytest.raises(UsageError, match="extra_body"):
        play("beer_game", f"llm,model=m,base_url=http://h/v1,extra_body={quoted}")


@pytest.mark.parametrize(
    "options",
    [
        'model=m,base_url=http://h/v1,extra_body={"user":"sk-0123456789"}',
        "model=m,base_url=http://h/sk-0123456789/v1",
        "model=sk-0123456789,base_url=http://h/v1",
    ],
)
def test_an_option_may_not_hold_the_key(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    """It would be in the record."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with pytest.raises(UsageError, match="an option holds the key that is in OPENAI_API_KEY"):
        play("beer_game", f"llm,{options}")


def body(options: str) -> dict[str, Any]:
    """Return the first request of a policy."""
    with serving(ORDER) as stub:
        play("beer_game/poisson", f"llm,model=m,base_url={stub.url},max_calls=1,{options}")
        return stub.requests[0]


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ("effort=high", {"reasoning_effort": "high"}),
        ("effort=high,api=responses", {"reasoning": {"effort": "high"}}),
        (
            "effort=high,api=messages",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
        ("effort=none,api=messages", {"thinking": {"type": "disabled"}}),
        (
            "thinking_tokens=20000,api=messages",
            {"thinking": {"type": "enabled", "budget_tokens": 20_000}, "max_tokens": 24_000},
        ),
        ("reply_tokens=9,top_p=0.5", {"max_completion_tokens": 9, "top_p": 0.5}),
        ("reply_tokens=9,top_p=0.5,api=responses", {"max_output_tokens": 9, "top_p": 0.5}),
        ("reply_tokens=9,api=messages", {"max_tokens": 9}),
        ('extra_body="{""a"": {""b"": [1, 2]}}"', {"a": {"b": [1, 2]}}),
        ('extra_body={"a":1},api=responses', {"a": 1}),
        ('extra_body={"max_tokens":5},api=messages', {"max_tokens": 5}),
    ],
)
def test_options_are_sent_as_the_api_names_them(options: str, fields: dict[str, Any]) -> None:
    """A field of the user's own goes before one that desim writes."""
    sent = body(options)
    assert {name: sent.get(name) for name in fields} == fields


def test_requests_that_begin_alike_have_one_cache_key() -> None:
    """In the APIs of OpenAI; Messages marks the ends of what stays."""
    keys = {body(f"cache=true,api={api}")["prompt_cache_key"] for api in ("chat", "responses")}
    assert len(keys) == 1
    assert "prompt_cache_key" not in body("api=chat")
    marked = body("cache=true,api=messages,mode=tools")
    for end in (marked["system"][-1], marked["tools"][-1], marked["messages"][-1]["content"][-1]):
        assert end["cache_control"] == {"type": "ephemeral"}
    assert json.dumps(marked).count("cache_control") == 3


@pytest.mark.parametrize(
    ("api", "url", "server"),
    [
        ("chat", "", "https://api.openai.com/v1"),
        ("messages", "", "https://api.anthropic.com"),
        ("messages", "http://h:1/v1/", "http://h:1"),
        ("messages", "http://h:1", "http://h:1"),
        ("responses", "http://h:1/v1/", "http://h:1/v1"),
    ],
)
def test_every_api_has_a_server_of_its_own(
    api: str, url: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anthropic's is given with or without the version of its paths."""
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert Endpoint(model="m", base_url=url, form=form_of(api)).server == server


def test_every_api_has_a_variable_for_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named where it is missing, and a server of the environment needs none."""
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY is not set"):
        Endpoint.of("m", "", form=form_of("messages"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://h:1")
    assert Endpoint.of("m", "", form=form_of("messages")).server == "http://h:1"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    with serving(ORDER) as stub:
        play("beer_game", f"llm,model=m,base_url={stub.url},api=messages")
    assert set(stub.keys) == {"sk-ant-0123456789"}
