"""Errors of servers: which are final, how long is waited, what the sentence says."""

from typing import Any

import pytest
from support.stub import Served, serving, text

from desim.errors import PolicyFailed
from policies.llm.wires.calling import Calling, Gate
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.wire import Request

HELLO = Request([{"role": "user", "content": "hello"}])
SOON = {"retry-after-ms": "1"}


def failing(error: Any, status: int = 400, **headers: str) -> tuple[str, int]:
    """Return the sentence of a call whose server always gives an error, and the requests sent."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with serving(Served(error, status, SOON | sent)) as stub:
        endpoint = Endpoint(model="m", base_url=stub.url)
        with pytest.raises(PolicyFailed) as fault:
            Calling(endpoint, "model 'm'", resends=1, gate=Gate())(HELLO)
    return str(fault.value), len(stub.requests)


def openai_error(**error: Any) -> dict[str, Any]:
    """Return an error in OpenAI's form."""
    return {"error": {"message": "no", "type": None, "param": None, "code": None, **error}}


@pytest.mark.parametrize(
    "error",
    [
        openai_error(type="insufficient_quota", code="credit_balance_exhausted"),
        openai_error(type="insufficient_quota", code="insufficient_quota"),
        openai_error(code="project_spend_limit_exceeded"),
    ],
)
def test_a_429_without_money_is_final(error: dict[str, Any]) -> None:
    """It is not sent again, even where the server says that it may be."""
    sentence, requests = failing(error, 429, x_should_retry="true")
    assert requests == 1
    assert "has no money left for this key, or a limit of spending is reached (" in sentence


def test_a_server_without_money_does_not_hold_up_other_calls() -> None:
    """It is not busy: the gate stays open."""
    gate = Gate()
    error = openai_error(type="insufficient_quota")
    with serving(Served(error, 429, {"retry-after": "30"}), text("hello")) as stub:
        endpoint = Endpoint(model="m", base_url=stub.url)
        with pytest.raises(PolicyFailed):
            Calling(endpoint, "m", gate=gate)(HELLO)
        assert gate.seconds_closed == 0
        assert Calling(endpoint, "m", gate=gate)(HELLO).text == "hello"


#: A vendor's table: the status, the type, how often a request is sent that may be resent once.
TABLE = [
    (400, "invalid_request_error", 1),
    (401, "authentication_error", 1),
    (402, "billing_error", 1),
    (403, "permission_error", 1),
    (404, "not_found_error", 1),
    (408, "timeout_error", 2),
    (409, "conflict_error", 2),
    (413, "request_too_large", 1),
    (429, "rate_limit_error", 2),
    (500, "api_error", 2),
    (504, "timeout_error", 2),
    (529, "overloaded_error", 2),
]


@pytest.mark.parametrize(("status", "kind", "times"), TABLE)
def test_statuses_say_whether_a_request_is_sent_again(status: int, kind: str, times: int) -> None:
    """Unless the header `x-should-retry` says otherwise."""
    error = openai_error(type=kind)
    assert failing(error, status)[1] == times
    if status != 402:
        flipped = "false" if times == 2 else "true"
        assert failing(error, status, x_should_retry=flipped)[1] == 3 - times


def test_the_wait_of_a_server_may_be_in_milliseconds() -> None:
    """It goes before the seconds of another header."""
    busy = Served(openai_error(code="rate_limit_exceeded"), 429)
    busy.headers |= {"retry-after-ms": "20", "retry-after": "3600"}
    with serving(busy, text("hello")) as stub:
        endpoint = Endpoint(model="m", base_url=stub.url)
        assert Calling(endpoint, "m", gate=Gate(), timeout=30)(HELLO).text == "hello"


@pytest.mark.parametrize(
    ("body", "times", "said"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, 2, "answered 429: slow down"),
        ({"error": {"code": "502", "message": "bad"}}, 2, "answered 502: bad"),
        ({"error": {"code": 401, "message": "who?"}}, 1, "answered 401: who?"),
        ({"error": "broken"}, 2, "answered with an error: broken"),
        ([{"error": {"code": 400, "message": "no"}}], 1, "answered 400: no"),
        ({"error": {"code": "invalid_prompt", "message": "no"}}, 2, "with an error: no"),
        ({"error": {"code": "rate_limit_exceeded"}}, 2, "an error: rate_limit_exceeded"),
        ({"error": {"code": 10**400, "message": "?"}}, 2, "with an error: ?"),
        ({"error": {"code": [], "message": {}}}, 2, "answered with an error"),
    ],
)
def test_an_error_within_a_success_is_an_error(body: Any, times: int, said: str) -> None:
    """With the number in it as its status, where it has one."""
    sentence, requests = failing(body, 200)
    assert said in sentence
    assert requests == times


def test_a_choice_may_be_an_error() -> None:
    """As OpenRouter reports a model that breaks off."""
    choice = {"finish_reason": "error", "message": {"content": "Fo"}, "error": {"code": 502}}
    assert failing({"choices": [choice]}, 200)[1] == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"param": "reasoning_effort"}, "; give another extra_body="),
        ({"param": "temperature"}, "answered 400: no; leave out temperature="),
        ({"code": "context_length_exceeded"}, "; keep fewer rounds with history="),
        ({"param": "max_completion_tokens"}, "; give another reply_tokens="),
    ],
)
def test_a_refused_option_is_named(error: dict[str, Any], said: str) -> None:
    """With what to do instead, where the server says which field it refuses."""
    assert said in failing(openai_error(**error))[0]


@pytest.mark.parametrize("body", [b"", b"[", b"[" * 100_000, {"error": []}, [], None, 7, "gone"])
def test_an_error_may_hold_anything(body: Any) -> None:
    """The sentence then has the status, and the beginning of the text."""
    assert failing(body, 400)[0].startswith("model 'm' answered 400")
