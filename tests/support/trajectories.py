"""The rules of ATIF 1.8, for tests on any Python; Harbor's own classes need Python 3.12."""

from typing import Any

#: Fields by object; every other one is refused.
_FIELDS = {
    "trajectory": "schema_version session_id trajectory_id agent steps notes final_metrics extra",
    "agent": "name version model_name tool_definitions extra",
    "step": "step_id source message observation llm_call_count is_copied_context extra "
    "model_name reasoning_effort reasoning_content tool_calls metrics",
    "call": "tool_call_id function_name arguments extra",
    "result": "source_call_id content extra",
    "metrics": "prompt_tokens completion_tokens cached_tokens cost_usd extra",
    "final_metrics": "total_prompt_tokens total_completion_tokens total_cached_tokens "
    "total_cost_usd total_steps extra",
}

#: Fields of an agent's steps alone.
_OF_AGENT = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}


def check_trajectory(plain: dict[str, Any]) -> None:
    """Check a trajectory against the table of the format."""
    _check("trajectory", plain)
    _check("agent", plain["agent"])
    _check("final_metrics", plain["final_metrics"])
    assert plain["schema_version"] == "ATIF-v1.8"
    assert [step["step_id"] for step in plain["steps"]] == [*range(1, len(plain["steps"]) + 1)]
    for step in plain["steps"]:
        _check_step(step)


def _check_step(step: dict[str, Any]) -> None:
    _check("step", step)
    assert step["source"] in ("system", "user", "agent")
    assert isinstance(step["message"], str)
    if step["source"] != "agent":
        assert not _OF_AGENT & step.keys()
    if step.get("llm_call_count") == 0:
        assert not {"metrics", "reasoning_content"} & step.keys()
    for call in step.get("tool_calls", ()):
        _check("call", call)
        assert isinstance(call["arguments"], dict)
    calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
    for result in step.get("observation", {"results": ()})["results"]:
        _check("result", result)
        assert result["source_call_id"] in calls
    _check("metrics", step.get("metrics", {}))


def _check(name: str, plain: dict[str, Any]) -> None:
    assert plain.keys() <= set(_FIELDS[name].split()), (name, plain.keys())
