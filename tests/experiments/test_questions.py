"""The short scripts answer their questions with few seeds."""

from typing import Any

import pytest
from click.testing import CliRunner

from experiments import adversarial_clients, bullwhip, cushion, departments, value_of_r


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "options", "answer"),
    [
        (bullwhip, ["--seeds", "3"], "multiply the bullwhip by"),
        (cushion, ["--seeds", "3"], "equity, 30 to 40 million: 0.00 million [0.00, 0.00]"),
        (value_of_r, ["--preset", "published"], "4.469"),
        (adversarial_clients, ["--seeds", "2"], "people: "),
        (departments, ["--preset", "small", "--seeds", "2"], "Shapley value"),
    ],
    ids=lambda value: value.__name__ if hasattr(value, "__name__") else None,
)
def test_a_script_prints_its_answer(
    script: Any, options: list[str], answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has an interval or a figure behind the words."""
    monkeypatch.setattr(adversarial_clients, "TEAMS", [4, 12])
    done = CliRunner().invoke(script.main, options, catch_exceptions=False)
    assert done.exit_code == 0
    assert answer in done.output
