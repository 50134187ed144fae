"""The three APIs: the same replies are the same episode, and what only one can read goes back."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.prompted_seats import CASES, Case
from support.stub import Script, Served, call, serving, text

from desim import play, replay
from policies.llm.wires.forms.apis import APIS

MODES = [
    pytest.param(case, mode, id=f"{case.seat}, {mode}") for case in CASES for mode in case.modes
]

#: Fields of a record that depend on the API or on the clock.
OWN = ("native", "seconds", "record_digest")


def script(case: Case, mode: str) -> Script:
    """Return replies that reason; every fourth decides nothing, and the next one repairs it."""
    decision = json.dumps(case.written(6))
    said = text(decision, reasoning="Six, as always.")
    if case.calls and mode == "tools":
        said = call((case.tool, f'{{"{case.argument}":6}}'), reasoning="Six, as always.")
    bad = call(("nothing", {}), reasoning="Hm.") if mode == "tools" else text("Hm.")
    return lambda number, _: bad if number % 4 == 1 else said


def entries(file: Path) -> list[Any]:
    """Return the lines of a record without its header, its requests and the fields of the API."""
    lines = (json.loads(line) for line in file.read_text().splitlines()[1:])
    kept = (line for line in lines if not {"request", "texts"} & (line.get("entry") or {}).keys())
    return [without_own(line) for line in kept]


def without_own(value: Any) -> Any:
    """Return a plain value without the fields of the API."""
    if isinstance(value, dict):
        return {name: without_own(each) for name, each in value.items() if name not in OWN}
    return [without_own(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("case", "mode"), MODES)
def test_every_world_is_played_to_the_same_record_over_each_api(
    case: Case, mode: str, tmp_path: Path
) -> None:
    """The same replies in three forms are the same lines, but for the fields of the API."""
    played = {}
    for api in APIS:
        file = tmp_path / f"{api}.jsonl"
        with serving(script(case, mode)) as stub:
            spec = f"llm,model=m,base_url={stub.url},api={api},mode={mode},max_calls=12"
            play(case.model, {**case.others, case.role: spec}, seed=1, record=file)
            assert {path.rpartition("/v1/")[2] for path in stub.paths} == {
                {"chat": "chat/completions"}.get(api, api)
            }
        replay(file)
        played[api] = entries(file)
    assert played["chat"] == played["responses"] == played["messages"]
    assert any("reply" in (line.get("entry") or ()) for line in played["chat"])


# -- what only one API can read --------------------------------------------------------------------

ORDER = call(("order", {"quantity": 4}), reasoning="Four.")
NO_TOOL = call(("dance", {}), reasoning="Dance?")


def sent(api: str, *answers: Served, options: str = "") -> list[dict[str, Any]]:
    """Return the bodies of the requests of a game in tools."""
    with serving(*answers) as stub:
        spec = f"llm,model=m,base_url={stub.url},api={api},mode=tools{options}"
        play("beer_game/poisson", f"{spec},conversation=policies.llm.worlds.generic:CONVERSATION")
        return stub.requests


def test_encrypted_reasoning_goes_back_with_the_item_that_followed_it() -> None:
    """In the order in which it came, unchanged, and nothing is stored at the server."""
    body = sent("responses", ORDER, options=",history=1")[2]
    kinds = [item.get("type", item.get("role")) for item in body["input"]]
    assert kinds == ["user", "reasoning", "function_call", "function_call_output", "user"]
    assert body["input"][1]["encrypted_content"] == "<Four.>"
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])


def blocks(body: dict[str, Any]) -> list[list[str]]:
    """Return the types of the blocks of each turn."""
    return [[block["type"] for block in turn["content"]] for turn in body["messages"]]


def test_signed_reasoning_goes_back_while_a_tool_turn_is_open() -> None:
    """A bad call is answered within the turn; the next question ends it."""
    requests = sent("messages", NO_TOOL, ORDER, options=",history=2")
    assert blocks(requests[1]) == [["text"], ["thinking", "tool_use"], ["tool_result"]]
    assert requests[1]["messages"][1]["content"][0]["signature"] == "<Dance?>"
    assert blocks(requests[2]) == [["text"], ["tool_use"], ["tool_result", "text"]]


def test_details_of_reasoning_go_back_in_chat_completions_too() -> None:
    """As OpenRouter asks for, to the server that sent them, while a tool turn is open."""
    details = [{"type": "reasoning.encrypted", "data": "gAAAA", "index": 0}]
    bad = call(("dance", {}))
    bad.body["choices"][0]["message"]["reasoning_details"] = details
    requests = sent("chat", bad, ORDER)
    assert requests[1]["messages"][2]["reasoning_details"] == details
    assert "gAAAA" not in json.dumps(requests[2])


def test_a_budget_of_reasoning_is_for_models_that_want_all_of_it_back() -> None:
    """They refuse a call without the reasoning before it, and have no bound to what is dropped."""
    body = sent("messages", ORDER, options=",history=1,thinking_tokens=2000")[2]
    assert blocks(body)[1] == ["thinking", "tool_use"]
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 16_000


# -- what is left out ------------------------------------------------------------------------------


def test_a_field_that_the_api_does_not_take_is_left_out_and_on_record(tmp_path: Path) -> None:
    """A world's temperature is not sent to Messages; an older version takes it."""
    file = tmp_path / "questions.jsonl"
    case = next(case for case in CASES if case.world == "reasoning")
    with serving(script(case, "json")) as stub:
        spec = f"llm,model=m,base_url={stub.url},api=messages"
        play(case.model, spec, record=file)
        assert "temperature" not in stub.requests[-1]
        play(case.model, f"{spec},api_version=2023-06-01")
        assert stub.requests[-1]["temperature"] == 0
