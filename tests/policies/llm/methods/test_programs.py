"""Programs in replies: when and where they are run, and what the model is shown."""

import pytest
from support.method_model import QUESTIONS, Model, game, question
from support.method_traces import built

from desim.errors import UsageError
from policies.llm.methods.build import check_method
from policies.llm.methods.dynamic_cheatsheet import DynamicCheatsheet
from policies.llm.methods.items import Item, Setting
from policies.llm.options import LLMOptions


def test_a_program_is_run_where_the_marker_follows_its_fence() -> None:
    """The text behind the marker is dropped; prose in front of it stops the program."""
    program = "```python\n1 + 1\n```\n<RUN>\nI expect 3."
    model = Model([program, "done"])
    method = built(DynamicCheatsheet, complete=model, run_programs=True, run=lambda _: "2")
    shown = "[OUTPUT]\n```\n2\n```"
    assert method.answer(game()).text == f"```python\n1 + 1\n```\n<RUN>\n\n{shown}\n\ndone"
    assert "I expect" not in model.sent[1]
    prose = program.replace("\n<RUN>", "\nas said <RUN>")
    method = built(DynamicCheatsheet, complete=Model([prose]), run_programs=True, run=lambda _: "2")
    assert method.answer(game()).text == prose


def test_no_program_of_a_model_is_run_unless_somebody_asks() -> None:
    """At most three times; for questions only on request, as published elsewhere too."""
    program = "```python\n1 + 1\n```\n<RUN>"
    model = Model([program])
    assert built(DynamicCheatsheet, complete=model).answer(game()).text == program
    ran: list[str] = []

    def run(text: str) -> str:
        ran.append(text)
        return "2"

    def shown(setting: Setting, item: Item, **how: bool) -> int:
        method = built(
            DynamicCheatsheet, complete=Model([program]), setting=setting, run=run, **how
        )
        return method.answer(item).text.count("[OUTPUT]")

    assert shown(Setting(), game()) == shown(QUESTIONS, question()) == 0
    assert shown(QUESTIONS, question(), as_published=True) == 0
    assert shown(Setting(), game(), as_published=True, run_programs=False) == 0
    assert ran == []
    assert shown(Setting(), game(), as_published=True) == 3
    assert shown(Setting(), game(), run_programs=True) == 3
    assert shown(QUESTIONS, question(), run_programs=True) == 3
    assert ran == ["1 + 1\n"] * 9


def test_a_program_is_run_in_the_sandbox_and_its_output_shown() -> None:
    """What it prints, its last value, and the error with which it ends; the model is told how."""
    replies = [f"```python\n{program}\n```\n<RUN>" for program in ("print(6 * 7)\n1/0", "1")]
    model = Model([*replies, "done"])
    method = built(DynamicCheatsheet, complete=model, run_programs=True)
    text = method.answer(game()).text
    assert "```\n42\nZeroDivisionError: division by zero\n```" in text
    assert "[OUTPUT]\n```\n1\n```" in text
    assert text.endswith("done")
    assert "<RUN>" in model.sent[0]


@pytest.mark.parametrize("method", ["cot", ""])
def test_programs_are_run_by_a_method_that_can_or_by_none(method: str) -> None:
    """Asking another one for it is an error; not to run any is possible everywhere."""
    with pytest.raises(UsageError, match="only method=dynamic_cheatsheet runs programs"):
        check_method(LLMOptions(model="x", method=method, run_programs=True))
    check_method(LLMOptions(model="x", method=method, run_programs=False))
    check_method(LLMOptions(model="x", router="table_4", run_programs=True))
    check_method(LLMOptions(model="x", method="dynamic_cheatsheet", run_programs=True))
