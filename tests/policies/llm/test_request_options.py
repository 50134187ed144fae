"""Options of requests: which are sent in which API, and which do not go together."""

import json
import re
from typing import Any

import pytest
from support.stub import serving, text

from desim import play
from desim.errors import UsageError
from policies.llm.options import LLMOptions
from policies.llm.wires.endpoint import Endpoint

ORDER = text('{"order_qty": 4}')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"effort": "much"}, "effort=much was given; "),
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
        ("reply_tokens=9,top_p=0.5", {"max_completion_tokens": 9, "top_p": 0.5}),
        ('extra_body="{""a"": {""b"": [1, 2]}}"', {"a": {"b": [1, 2]}}),
    ],
)
def test_options_are_sent_as_the_api_names_them(options: str, fields: dict[str, Any]) -> None:
    """A field of the user's own goes before one that desim writes."""
    sent = body(options)
    assert {name: sent.get(name) for name in fields} == fields


def test_the_server_and_its_key_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A missing key is named, and a server of the environment needs none."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert Endpoint(model="m").server == "https://api.openai.com/v1"
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        Endpoint.of("m", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h:1/v1/")
    assert Endpoint.of("m", "").server == "http://h:1/v1"
