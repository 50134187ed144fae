"""Replies that are no answer, and limits: what is asked again, and who decides then."""

import json
from typing import Any

import pytest

from desim import catalog, play, play_series
from policies.llm.budget import Limits
from tests.policies.llm.scripted import player, seat_of, usage_of, worded
from tests.policies.llm.stub import Served, call, message, serving, text

ORDER = text('{"order_qty": 400, "note": "as last week"}')
PLAN = {"C": 9, "R": 0, "P": [[1, 0, 95]] * 10}


# -- what is no answer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (text(""), "your reply was empty"),
        (text(None), "your reply was empty"),
        (text("", finish="length"), "ran into the limit of tokens"),
        (message(content=None, refusal="I will not"), "you refused"),
        (text("Let me think."), "holds no JSON object"),
        (call(("hire", {"consultants": 1}), ("wait", {})), "you called 2 tools"),
        (call(("fire", {"consultants": 1})), "did you mean 'hire'"),
        (call(("hire", {"consultants": "one"})), "Expected `int`, got `str`"),
        (call(("hire", "{'consultants': 1}")), "are no JSON"),
    ],
)
def test_what_is_no_answer_is_told_and_asked_again(bad: Served, why: str) -> None:
    """The next request holds the reply and the parser's own error; the answer counts."""
    with serving(bad, call(("hire", {"consultants": 2})), call(("wait", {}))) as stub:
        episode = play("edt/interactive", f"llm,model=stub,base_url={stub.url}")
    again = stub.asked[1]["messages"]
    assert why in again[-1]["content"]
    assert again[-1]["role"] == ("tool" if again[2].get("tool_calls") else "user")
    calls = [one["id"] for one in again[2].get("tool_calls", ())]
    assert calls == [m["tool_call_id"] for m in again if m["role"] == "tool"]
    assert [usage["bad_replies"] for usage in notes(episode)][:3] == [1, 0, 0]
    # What went wrong is forgotten once it is mended.
    assert why not in json.dumps(stub.asked[2]["messages"])
    assert usage_of(episode)["neutral"] == 0


def notes(episode: Any) -> list[dict[str, Any]]:
    """Return what each decision took."""
    return [step.notes["usage"] for step in episode.steps]


def test_after_some_replies_that_are_none_the_neutral_action_is_taken() -> None:
    """It is marked in the record with the last reason, and counted."""
    with serving(text("hm")) as stub:
        episode = play("edt/interactive", f"llm,model=stub,base_url={stub.url},retries=1")
    first = episode.steps[0]
    assert type(first.action).__name__ == "Wait"
    assert first.notes is not None
    assert first.notes["neutral"] == (
        "2 replies were no answer, the last because your reply holds no JSON object"
    )
    assert len(stub.asked) == 2 * len(episode.steps)
    usage = usage_of(episode)
    assert (usage["neutral"], usage["bad_replies"]) == (len(episode.steps), len(stub.asked))


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "calls", "why"),
    [
        (Limits(max_calls=3), 3, "max_calls=3 reached"),
        (Limits(max_calls=0), 0, "max_calls=0 reached"),
        (Limits(max_tokens=31), 3, "max_tokens=31 reached"),
        (Limits(max_cost=0.05, price_in=1000, price_out=3000), 2, "max_cost=0.05 reached"),
    ],
)
def test_a_limit_ends_the_models_play(limit: Limits, calls: int, why: str) -> None:
    """From then on the neutral action is taken, the orders that came in, and marked."""
    model = catalog.model("beer_game")
    llm, asked = player(seat_of(model), lambda _: worded('{"order_qty": 1000}'), limit)
    episode = play(model, {"retailer": llm})
    assert len(asked.heard) == calls
    for number, step in enumerate(episode.steps):
        kept = step.notes or {}
        assert kept.get("neutral") == (why if number >= calls else None)
        own = 1000 if number < calls else step.observation.incoming_order
        assert step.action.quantity == own
    assert usage_of(episode)["neutral"] == 25 - calls


def test_cost_is_what_the_prices_say() -> None:
    """Ten tokens in at 3 a million and five out at 15, twenty-five times."""
    with serving(ORDER) as stub:
        spec = f"llm,model=stub,base_url={stub.url},price_in=3,price_out=15"
        episode = play("beer_game", spec)
    assert usage_of(episode)["cost"] == pytest.approx(25 * (10 * 3 + 5 * 15) / 1e6, rel=1e-12)


def test_limits_are_an_episodes() -> None:
    """The next episode of a series has the whole budget again."""
    with serving(text(json.dumps(PLAN))) as stub:
        play_series("edt", f"llm,model=stub,base_url={stub.url},max_calls=1", range(3))
    assert len(stub.asked) == 3
