"""Which replies of a language model are read as a decision that it did not make?

Every reply shape is put into the words of every world, with 99 (or 50) for each draft and 6 for the
answer, and read by the policy `llm` without a server. Then a silent model plays every world, and
Inspect where it is installed: all its decisions must be counted as default actions.

    python experiments/attack_replies.py --shapes ../shared/reference/reply_shapes.json
"""

import importlib.util
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import click
from attrs import field, frozen

from desim import Run, Seat, catalog, play
from desim.episodes.usage import default_share
from desim.schema import to_plain
from desim.show.console import console
from desim.show.table import Table
from experiments.attacks import exit_with
from policies.llm.adapter import Llm
from policies.llm.chat.conversation import conversation_kind
from policies.llm.chat.options import MODES
from policies.llm.wires.budget import CallLimits, Metered
from policies.llm.wires.completion import Completion
from policies.llm.wires.wire import ModelReply
from policies.llm.worlds.consulting_replies import SCORES

BAD = "bad reply"

#: The numbers of the shapes: the answer, and the drafts.
_ANSWER, _DRAFTS = 6, (99, 50)


@frozen
class Case:
    """A world, and the form of a decision of one number in its prompt.

    Attributes:
        world: The model's name, with its preset where it is not the first.
        role: The role that decides.
        tool: The tool of the decision.
        argument: Its argument.
        written: Returns the decision as the object that the prompt requests.
        changes: Parameters that make an episode short.
        others: Policies of further roles, for an episode.
        calls: Whether calls are decisions; the published readers of free text do not support them.
        several: Whether a reply may call several tools, which are executed in order.
        modes: The modes that the world has.
    """

    world: str
    role: str
    tool: str
    argument: str
    written: Callable[[int], dict[str, Any]]
    changes: Mapping[str, str] = field(factory=dict)
    others: Mapping[str, str] = field(factory=dict)
    calls: bool = True
    several: bool = False
    modes: Sequence[str] = MODES

    @property
    def seat(self) -> str:
        """The world with the role."""
        return f"{self.world} {self.role}"

    @cached_property
    def model(self) -> Any:
        """The model with its parameters."""
        return catalog.model(self.world, changes=self.changes)

    @cached_property
    def observation(self) -> Any:
        """The first observation of the role; other roles take their default actions."""
        run = Run(self.model, 0, [*self.model.roles])
        while decisions := run.advance():
            for decision in decisions:
                if decision.role == self.role:
                    return decision.observation
                default = self.model.roles[decision.role].default_for(decision.observation)
                run.answer(decision, default)
        raise AssertionError(f"{self.role} is never asked")

    def reads(self, shape: Mapping[str, Any]) -> bool:
        """Return whether a shape says something about this world."""
        if self.several and shape["why"] == "two different calls":
            return False
        return self.calls or not shape["family"].startswith(("call", "text"))


def _tagged(name: str, argument: str) -> Callable[[int], dict[str, Any]]:
    return lambda number: {"do": name, argument: number}


def _in_free_text(role: str, written: Callable[[int], dict[str, Any]]) -> Case:
    """Return the case of a role in an interview, whose replies a published reader reads."""
    others = {} if role == "candidate" else {"candidate": "silent"}
    return Case("consulting", role, "", "", written, {"messages": "4"}, others, calls=False)


_PROJECTION = "conduct_cashflow_projection"

CASES = (
    Case(
        "beer_game", "retailer", "order", "order_qty", lambda n: {"order_qty": n}, {"horizon": "3"}
    ),
    _in_free_text("candidate", lambda n: {"reply": f"{n}"}),
    _in_free_text("interviewer", lambda n: {"reply": f"{n}"}),
    _in_free_text("judge", lambda n: dict.fromkeys(SCORES, n)),
    Case("edt", "manager", "decide", "C", lambda n: {"C": n}),
    Case("edt/interactive", "manager", "hire", "consultants", _tagged("hire", "consultants")),
    Case(
        "enterprise",
        "treasury.cfo",
        _PROJECTION,
        "months",
        _tagged(_PROJECTION, "months"),
        others={"startup.founder": "greedy"},
    ),
    Case(
        "enterprise_arena",
        "cfo",
        _PROJECTION,
        "months",
        lambda n: {"type": "tool", "name": _PROJECTION, "params": {"months": n}},
        {"horizon": "3"},
    ),
    Case(
        "reasoning",
        "analyst",
        "",
        "",
        lambda n: {"reasoning": "r", "final_answer": f"{n}"},
        {"limit": "3"},
        calls=False,
        modes=("json", "schema"),
    ),
    Case(
        "yc_bench",
        "founder",
        "market_browse",
        "limit",
        _tagged("market_browse", "limit"),
        {"max_turns": "4"},
        several=True,
    ),
)


def _said(why: str, content: Any, expect: Any = BAD, finish: str = "stop") -> dict[str, Any]:
    """Return a shape of our own in the form of the reference file's."""
    message = content if isinstance(content, dict) else {"content": content}
    return {
        "id": why.replace(" ", "_"),
        "family": "own",
        "why": why,
        "finish_reason": finish,
        "message": message,
        "expect": expect,
    }


_SIX = {"order_qty": _ANSWER}
_ANSWERED, _DRAFT = '{"order_qty": 6}', '{"order_qty": 99}'

#: Shapes that need no file.
SHAPES = (
    _said("a closed span", f"<think>{_DRAFT}?</think>{_ANSWERED}", _SIX),
    _said("a lone end", f"{_DRAFT}?</think>{_ANSWERED}", _SIX),
    _said("an open span", f"<reasoning>{_ANSWERED}", finish="length"),
    _said("an open second span", f"[THINK]a[/THINK][THINK]{_ANSWERED}", finish="length"),
    _said("a final channel", f"analysisHm {_DRAFT}.assistantfinal{_ANSWERED}", _SIX),
    _said("no final channel", f"<|channel|>analysis<|message|>{_ANSWERED}<|end|>"),
    _said("a field of reasoning", {"content": None, "reasoning_content": _ANSWERED}),
    _said("two drafts", f"First idea: {_DRAFT}. Better: {_ANSWERED}") | {"family": "text"},
    _said("a draft before a filter", f"Perhaps {_ANSWERED}, or", finish="content_filter")
    | {"family": "text"},
    *(
        _said(f"a draft before {why}", f"Perhaps {_ANSWERED}, or", finish=why) | {"family": "text"}
        for why in ("abort", "error", "steered", "insufficient_system_resource")
    ),
    _said("silence", ""),
)


def read_as(case: Case, shape: Mapping[str, Any], mode: str = "json") -> Any:
    """Return the reading of a shape in a world: a number, or "bad reply"."""
    message = _worded(shape["message"], case)
    choice = {"message": message, "finish_reason": shape["finish_reason"]}
    reply = Completion({}, choice, message).reply([], 0.0, str)
    llm = _player(case, reply, mode)
    action = llm.decide(case.observation)
    return BAD if llm.notes["usage"]["default_actions"] else _number_in(to_plain(action))


def _player(case: Case, reply: ModelReply, mode: str = "json") -> Llm:
    """Return the policy of a seat whose model always gives one reply, without retry."""
    seat = Seat(case.model, case.role, case.model.roles[case.role], 0)
    kind = conversation_kind(type(case.model))
    metered = Metered(lambda *_, **__: reply, CallLimits())
    options = kind.options(model="scripted", mode=mode)
    return Llm(seat.spec, kind.begin(seat, options), metered, metered, 0)


def _number_in(plain: Any) -> int | None:
    """Return the first number of a plain action, also one in a text."""
    found = re.search(r"\d+", json.dumps(plain))
    return int(found[0]) if found else None


def _worded(value: Any, case: Case) -> Any:
    """Return a message of a shape with the decisions and calls of a world."""
    if isinstance(value, list):
        return [_worded(each, case) for each in value]
    if not isinstance(value, Mapping):
        return _reworded(value, case) if isinstance(value, str) else value
    if "arguments" in value and "name" in value:
        arguments = str(value["arguments"]).replace("order_qty", case.argument)
        return {"name": case.tool, "arguments": arguments}
    return {key: _worded(each, case) for key, each in value.items()}


def _reworded(text: str, case: Case) -> str:
    """Return a text of a shape; of calls first, whose arguments look like decisions."""
    arguments = rf'"arguments": {{"{case.argument}": \1}}'
    text = re.sub(r'"arguments": \{"order_qty": (\d+)\}', arguments, text)
    text = text.replace('"name": "order"', f'"name": "{case.tool}"')
    text = re.sub(r"\border(?=[(\n<])", case.tool, text)
    text = re.sub(r"\border_qty(?=[=<])", case.argument, text)
    text = re.sub(r'\{"order_qty": (\d+)\}', lambda n: json.dumps(case.written(int(n[1]))), text)
    return re.sub(r"\{'order_qty': (\d+)\}", lambda n: repr(case.written(int(n[1]))), text)


# -- silence ---------------------------------------------------------------------------------------


def silent(case: Case) -> float | None:
    """Return the share of default actions in an episode of a model whose replies are empty."""
    players = {**case.others, case.role: _player(case, ModelReply())}
    result = play(case.model, players).result
    assert result is not None
    return default_share(result.usage[case.role])


def silent_in_inspect() -> str:
    """Return what is wrong with Inspect's log of a silent model; empty if nothing is."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from desim.adapters.inspect_ai import world_task

    def say_nothing(*_: Any) -> Any:
        # With a usage, as Inspect downloads a tokenizer to count the tokens of replies without.
        said = ModelOutput.from_content("mockllm", "")
        said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return said

    model = get_model("mockllm/model", custom_outputs=say_nothing)
    task = world_task("beer_game", "poisson", [1], limits={"nudges": 0})
    with tempfile.TemporaryDirectory() as folder:
        options = {"log_dir": folder, "display": "none", "log_realtime": False}
        (log,) = evaluate(task, model=model, **options)
    scores = {each.name: each for each in log.results.scores} if log.results else {}
    counted = scores and scores["default_share"].metrics["mean"].value == 1
    apart = scores and scores["score"].unscored_samples == 1
    return "" if counted and apart else f"a silent sample is averaged: {log.results}"


# -- the table -------------------------------------------------------------------------------------


def holes(case: Case, shapes: Iterable[Mapping[str, Any]], mode: str) -> Iterator[str]:
    """Yield the shapes that are read in a world otherwise than they should be."""
    for shape in filter(case.reads, shapes):
        expected = shape["expect"] if shape["expect"] == BAD else _ANSWER
        given = read_as(case, shape, mode)
        if given != expected:
            draft = " (a draft)" if given in _DRAFTS else ""
            yield f"{case.seat}, {mode}: {shape['id']} is read as {given}{draft}, not as {expected}"


@click.command()
@click.option(
    "--shapes",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Further reply shapes, a file like the reference's reply_shapes.json.",
)
def main(shapes: Path | None) -> None:
    """Print a table by world, and every hole."""
    listed = [*SHAPES, *(json.loads(shapes.read_text())["replies"] if shapes else ())]
    every: list[str] = []
    lines: list[tuple[Any, ...]] = []
    for case in CASES:
        found = [hole for mode in case.modes for hole in holes(case, listed, mode)]
        share = silent(case)
        count = len(case.modes) * sum(map(case.reads, listed))
        lines.append((case.seat, count, len(found), f"{share or 0:.0%}"))
        every += found if share == 1 else [*found, f"{case.seat}: silence is played"]
    if importlib.util.find_spec("inspect_ai"):
        wrong = silent_in_inspect()
        lines.append(("inspect", "", int(bool(wrong)), ""))
        every += [wrong] if wrong else []
    console().print(Table(("seat", "replies", "holes", "silent: defaults"), lines))
    exit_with(every)


if __name__ == "__main__":
    main()
