"""Invalid replies and limits: what is asked again, and which action is taken in the end."""

import json
from typing import Any

import pytest
from support.scripted import player, seat_of, usage_of, worded
from support.stub import USAGE, Served, Stub, call, message, serving, text

from desim import catalog, play, play_series
from desim.errors import BadRecord
from policies.llm.wires.budget import CallLimits, Metered
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.transcript import SentRequest
from policies.llm.wires.wire import ModelReply, Request

PLAN = {"C": 9, "R": 0, "P": [[1, 0, 95]] * 10}


# -- invalid replies -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (text(""), "your reply was empty"),
        (text("", finish="length"), "ran into the limit of tokens"),
        (message(content=None, refusal="I will not"), "you refused"),
        (text("Let me think."), "your reply calls no tool"),
        (call(("hire", {"consultants": 1}), ("wait", {})), "you called 2 tools"),
        (call(("fire", {"consultants": 1})), "there is no tool 'fire'; did you mean 'hire'"),
        (call(("hire", {"consultants": "one"})), "Expected `int`, got `str`"),
        (call(("hire", '{"consultants": 1')), "are no JSON"),
    ],
)
def test_an_invalid_reply_is_reported_to_the_model_and_asked_again(bad: Served, why: str) -> None:
    """The next request contains the reply and the parser's error; the next answer counts."""
    with serving(bad, call(("hire", {"consultants": 2})), call(("wait", {}))) as stub:
        episode = play("edt/interactive", f"llm,model=stub,base_url={stub.url}")
    again = stub.requests[1]["messages"]
    assert why in again[-1]["content"]
    assert again[-1]["role"] == ("tool" if again[2].get("tool_calls") else "user")
    calls = [one["id"] for one in again[2].get("tool_calls", ())]
    assert calls == [m["tool_call_id"] for m in again if m["role"] == "tool"]
    assert [step.notes["usage"]["bad_replies"] for step in episode.steps[:3] if step.notes] == [
        1,
        0,
        0,
    ]
    # An invalid reply is not kept once a valid one has come.
    assert why not in json.dumps(stub.requests[2]["messages"])
    assert usage_of(episode)["default_actions"] == 0


def test_after_the_last_invalid_reply_the_default_action_is_taken() -> None:
    """The record has the last reason, and the action is counted."""
    with serving(text("hm")) as stub:
        episode = play("edt/interactive", f"llm,model=stub,base_url={stub.url},retries=1")
    first = episode.steps[0]
    assert type(first.action).__name__ == "Wait"
    assert first.notes is not None
    assert first.notes["default_action"] == (
        "2 replies were no answer, the last because your reply calls no tool"
    )
    assert len(stub.requests) == 2 * len(episode.steps)
    usage = usage_of(episode)
    assert (usage["default_actions"], usage["bad_replies"]) == (
        len(episode.steps),
        len(stub.requests),
    )


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "calls", "why"),
    [
        (CallLimits(max_calls=3), 3, "max_calls=3 reached"),
        (CallLimits(max_calls=0), 0, "max_calls=0 reached"),
        (CallLimits(max_tokens=31), 3, "max_tokens=31 reached"),
        (CallLimits(max_cost=0.05, price_in=1000, price_out=3000), 2, "max_cost=0.05 reached"),
    ],
)
def test_a_limit_ends_the_models_play(limit: CallLimits, calls: int, why: str) -> None:
    """From then on the default action, the incoming order, is taken and marked."""
    model = catalog.model("beer_game")
    llm, scripted = player(seat_of(model), lambda _: worded('{"order_qty": 1000}'), limit)
    episode = play(model, {"retailer": llm})
    assert len(scripted.sent) == calls
    reason = f"{why} for this seat and episode"
    for number, step in enumerate(episode.steps):
        kept = step.notes or {}
        assert kept.get("default_action") == (reason if number >= calls else None)
        own = 1000 if number < calls else step.observation.incoming_order
        assert step.action.quantity == own
    assert usage_of(episode)["default_actions"] == 25 - calls


#: What a server reports beside the tokens, what is read of it, and the cost of the reply.
REPORTS = [
    ({"prompt_tokens_details": {"cached_tokens": 4}}, 4, None, (6 * 3 + 4 * 1 + 5 * 15) / 1e6),
    ({"prompt_cache_hit_tokens": 10}, 10, None, (10 * 1 + 5 * 15) / 1e6),
    ({"prompt_tokens_details": {"cached_tokens": -1}}, 0, None, 105 / 1e6),
    ({"prompt_tokens_details": {"cached_tokens": True}}, 0, None, 105 / 1e6),
    ({"cost": 0.5}, 0, 0.5, 0.5),
    ({"cost": 1e-6}, 0, 1e-6, 105 / 1e6),
    ({"cost": -0.5}, 0, None, 105 / 1e6),
    ({"cost": 1e9}, 0, None, 105 / 1e6),
    ({"cost": True}, 0, None, 105 / 1e6),
]


@pytest.mark.parametrize(("report", "cached", "reported", "cost"), REPORTS)
def test_cached_tokens_have_a_price_and_a_larger_reported_cost_counts(
    report: dict[str, Any], cached: int, reported: float | None, cost: float
) -> None:
    """What is no count or no amount is left out; no more is cached than was read."""
    limits = CallLimits(price_in=3, price_out=15, price_cached=1)
    usage = {"prompt_tokens": 10, "completion_tokens": 5, **report}
    with serving(text("hello", usage=usage)) as stub:
        metered = Metered(Endpoint(model="m", base_url=stub.url), limits)
        reply = metered(Request([{"role": "user", "content": "hello"}]), 30)
    assert (reply.cached_tokens, reply.reported_cost) == (cached, reported)
    used = metered.episode
    assert (used["cached_tokens"], used["reported_cost"]) == (cached, reported or 0)
    assert used["cost"] == pytest.approx(cost, rel=1e-12)


def test_a_seat_does_not_send_a_call_that_may_cost_more_than_is_left() -> None:
    """Its prompt is at most a token for every two bytes, its reply `reply_tokens`."""
    with serving(text('{"order_qty": 100}')) as stub:
        spec = f"llm,model=m,base_url={stub.url},price_in=1000,price_out=1000,reply_tokens=5"
        most = len(json.dumps(sent_by(stub, spec)).encode()) / 2 / 1000 + 0.02
        episode = play("beer_game", f"{spec},max_cost={most}")
    assert 0 < usage_of(episode)["cost"] <= most
    assert usage_of(episode)["default_actions"] > 0
    assert episode.steps[-1].notes is not None
    assert "and a call can cost" in episode.steps[-1].notes["default_action"]


def sent_by(stub: Stub, spec: str) -> dict[str, Any]:
    """Return the first request of a policy."""
    play("beer_game", f"{spec},max_calls=1")
    return stub.requests.pop()


def test_limits_of_money_need_no_prices_where_the_server_reports_its_cost() -> None:
    """Nothing is sent for it; and cached tokens cost what others do, without a price."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.5, "prompt_cache_hit_tokens": 5}
    with serving(text('{"order_qty": 100}', usage=usage)) as stub:
        spec = f"llm,model=m,base_url={stub.url}"
        episode = play("beer_game", f"{spec},reported_cost=true,max_cost=1")
        assert len(stub.requests) == 2
        assert all("usage" not in body for body in stub.requests)
        assert usage_of(episode)["reported_cost"] == usage_of(episode)["cost"] == 1
    reply = ModelReply(prompt_tokens=10, cached_tokens=5)
    assert CallLimits(price_in=3).cost(reply) == 10 * 3 / 1e6


@pytest.mark.parametrize(("reported", "counted"), [(3, 3), (99, 5)])
def test_reasoning_is_summed_as_a_part_of_what_was_written(reported: int, counted: int) -> None:
    """A server that reports more reasoning than it wrote has all of it counted as reasoning."""
    details = {"completion_tokens_details": {"reasoning_tokens": reported}}
    with serving(text('{"order_qty": 100}', usage=USAGE | details)) as stub:
        episode = play("beer_game", f"llm,model=m,base_url={stub.url},max_calls=2")
    used = usage_of(episode)
    assert (used["reasoning_tokens"], used["completion_tokens"]) == (2 * counted, 10)
    assert "cache_written_tokens" not in used
    assert all("further" not in step.notes["usage"] for step in episode.steps)


@pytest.mark.parametrize(
    "altered",
    [
        {"cached_tokens": 11},
        {"cached_tokens": -1},
        {"reported_cost": -1},
        {"reported_cost": 1e9},
        {"prompt_tokens": -5},
        {"completion_tokens": 10**10},
        {"reasoning_tokens": -1},
        {"cache_written_tokens": 10**10},
        {"seconds": -1},
    ],
)
def test_a_record_with_impossible_figures_is_refused(altered: dict[str, Any]) -> None:
    """Limits of money rest on them. A record of before has none of the later ones."""
    before = {"text": "x", "prompt_tokens": 10, "completion_tokens": 5, "seconds": 0.1}

    def send(*_: Any, **__: Any) -> ModelReply:
        return ModelReply()

    metered, request = Metered(send, CallLimits()), Request([])
    asked = SentRequest.of(request, request.fields()).entry(1)
    metered.restore([asked, {"reply": before}])
    assert metered(Request([])).text == "x"
    with pytest.raises(BadRecord, match=next(iter(altered))):
        metered.restore([asked, {"reply": before | altered}])


def test_limits_hold_for_one_episode() -> None:
    """The next episode of a series begins with the whole budget."""
    with serving(text(json.dumps(PLAN))) as stub:
        play_series("edt", f"llm,model=stub,base_url={stub.url},max_calls=1", range(3))
    assert len(stub.requests) == 3
