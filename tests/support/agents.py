"""Agents of other packages: the mock model of Inspect."""

import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_MODEL = "mockllm"


def tool_calls(answers: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the arguments of each tagged object."""
    return [(one["do"], {key: each for key, each in one.items() if key != "do"}) for one in answers]


def answered(session: Any, action: Any) -> None:
    """Answer the one open decision of a session and move on."""
    (decision,) = session.open
    session.answer(decision, action)
    session.advance()


def mock_calls(*calls: tuple[str, Any]) -> Any:
    """Return a reply with tool calls, each a name and its arguments."""
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput
    from inspect_ai.tool import ToolCall

    listed = [
        ToolCall(id=f"call{number}", function=name, arguments=dict(given))
        for number, (name, given) in enumerate(calls)
    ]
    message = ChatMessageAssistant(content="", tool_calls=listed, model=_MODEL)
    choice = ChatCompletionChoice(message=message, stop_reason="tool_calls")
    return _used(ModelOutput(model=_MODEL, choices=[choice]))


def mock_text(text: str) -> Any:
    """Return a reply without a tool call."""
    from inspect_ai.model import ModelOutput

    return _used(ModelOutput.from_content(_MODEL, text))


def _used(output: Any) -> Any:
    from inspect_ai.model import ModelUsage

    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return output


def ordered(answers: Sequence[dict[str, Any]], in_one: int = 1) -> list[Any]:
    """Return replies with calls for tagged objects, so many in one reply."""
    calls = tool_calls(answers)
    return [mock_calls(*calls[at : at + in_one]) for at in range(0, len(calls), in_one)]


def evaluated(
    task: Any, replies: Iterable[Any] | Callable[..., Any], log_dir: str = "", **more: Any
) -> Any:
    """Return the log of a task that the mock model plays with these replies."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai.model import get_model

    model = get_model("mockllm/model", custom_outputs=replies, memoize=False)
    # Inspect's own warnings, of the packages that it calls, say nothing about desim.
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"log_realtime": False, "display": "none", **more}
        (log,) = inspect_eval(task, model=model, log_dir=log_dir or folder, **options)
        log.samples = list(log.samples or ())  # read before the folder is removed
    return log


def sample_of(log: Any, number: int = 0) -> Any:
    """Return a sample of an evaluation that went well."""
    assert log.status == "success", log.error.message
    return log.samples[number]
