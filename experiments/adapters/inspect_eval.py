"""What does an evaluation with Inspect show of two simple players of the Beer Game?"""

import json
import tempfile
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from desim.adapters.inspect_ai import world_task

PLAYERS = {"four a week": lambda _: 4, "last demand": lambda seen: seen["incoming_order"]}


def mock(player: Any) -> Model:
    """Return a mock model that reads the last observation; no network is needed."""

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        order = {"quantity": player(json.loads(messages[-1].text))}
        output = ModelOutput.for_tool_call("mockllm", "order", order)
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


def main() -> None:
    """Play five seeds with each."""
    for name, player in PLAYERS.items():
        with tempfile.TemporaryDirectory() as logs:
            task = world_task("beer_game", "poisson", "0:5")
            (log,) = inspect_eval(task, mock(player), log_dir=logs, display="none")
        found = {one.name: one.metrics for one in log.results.scores}
        texts = [f"{each} {found[each]['mean'].value:.2f}" for each in ("score", "normalised")]
        print(f"{name}: {', '.join(texts)}")


if __name__ == "__main__":
    main()
