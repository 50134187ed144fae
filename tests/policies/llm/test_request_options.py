"""Options of requests: which are sent, and which are refused in every world."""

import json
import re
from typing import Any

import pytest
from support.prompted_seats import CASES, Case
from support.stub import serving, text

from desim import play
from desim.errors import UsageError
from policies.llm.conversation import conversation_kind

NESTED = json.loads("[" * 500 + "]" * 500)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.seat)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_cost": 1.0}, "max_cost needs prices"),
        ({"extra_body": {"messages": []}}, "extra_body has 'messages'"),
        ({"extra_body": {"a": [{"API_KEY": "x"}]}}, "extra_body names a secret"),
        ({"extra_body": {"auth": {"access_token": "x"}}}, "extra_body names a secret"),
        ({"key_env": "sk-proj-1234"}, "key_env is no name of an environment variable"),
        ({"extra_body": {"a": NESTED}}, "or too deep"),
        ({"extra_body": {"a": float("nan")}}, "is no plain JSON"),
        ({"extra_body": {"a": "x" * 20_000}}, "at most 16384 are sent"),
    ],
)
def test_an_option_is_refused_in_every_world(
    case: Case, options: dict[str, Any], said: str
) -> None:
    """In one sentence that names it, before anything is sent."""
    with pytest.raises(UsageError, match=re.escape(said)):
        conversation_kind(type(case.model)).options(model="m", **options)


@pytest.mark.parametrize("given", ["[1]", '{"a":NaN}', '{"a":' * 2000])
def test_an_extra_body_that_is_no_object_is_refused(given: str) -> None:
    """As any other value that is not of its type."""
    quoted = '"' + given.replace('"', '""') + '"'
    with pytest.raises(UsageError, match="extra_body"):
        play("beer_game", f"llm,model=m,base_url=http://h/v1,extra_body={quoted}")


@pytest.mark.parametrize(
    "options",
    [
        'model=m,base_url=http://h/v1,extra_body={"user":"sk-0123456789"}',
        "model=sk-0123456789,base_url=http://h/v1",
    ],
)
def test_an_option_may_not_hold_the_key(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    """It would be in the record."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with pytest.raises(UsageError, match="an option holds the key that is in OPENAI_API_KEY"):
        play("beer_game", f"llm,{options}")


def test_each_option_has_its_field() -> None:
    """The further fields are sent beside the others; what is not given is not sent."""
    given = 'seed=3,reply_tokens=9000,extra_body={"user":"me"}'
    with serving(text('{"order_qty": 4}')) as stub:
        for options in (f",{given}", ""):
            play("beer_game/poisson", f"llm,model=m,base_url={stub.url},max_calls=1{options}")
    sent, plain = stub.requests
    assert (
        sent.items()
        >= {
            "seed": 3,
            "max_completion_tokens": 9000,
            "user": "me",
        }.items()
    )
    assert plain.keys() == {"model", "messages"}
