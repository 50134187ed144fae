"""How many calls and tokens does an episode of each world take with each method?

Plays every preset with every method, and the worlds of the papers' suites with their entries,
against a stub in place of the language model, and writes `policies/llm/expected_calls.json`, from
which `desim bench SUITE --dry-run` prints what a suite takes. No server is contacted.

The stub decides as a rule of the world does (`RULES`), in the form that the prompt asks for, and
writes `REASONS` before it: about 120 tokens, the length of a short argument. A judge finds a fault
in every second answer. In EnterpriseArena it uses two tools a month, as the models of the published
table do (2.3 on average), and in YC-Bench it gives one command a turn (1.2). Tokens are counted by
characters: 3.3 of a prompt and 4 of a reply make one (measured with cl100k_base: 2.9 where prompts
are mostly figures, as in YC-Bench and EDT, to 4.2 in case interviews).
"""

import itertools
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

import click
import msgspec
from attrs import define, evolve, field

from desim import Episode, Model, Role, catalog, play_series
from desim.core.model_protocols import default_roles
from desim.core.roles import split_name
from desim.episodes.lineup import WorldSeat, policy_at, seat_of
from desim.episodes.usage import usage_in_all
from desim.schema import TAG, to_plain
from desim.suites.expected_calls import FILE, MeasuredCalls, PlayedAs, played_as, shipped
from desim.suites.suite_plan import read_plan
from models.beer_game.actions import Order
from models.consulting.actions import Reply as Message
from models.consulting.actions import Say, Verdict
from models.edt.actions import Answer as Plan
from models.edt.actions import Decide
from models.enterprise_arena.observation import Month
from models.reasoning.actions import Answer, Reply
from models.yc_bench.commands.commandline import line_of
from policies.llm.chat.parse import name_of
from policies.llm.methods import METHODS
from policies.llm.wires.wire import Call, ModelReply, Request

SUITES = Path(__file__).parent / "suites"

#: Seeds of one measurement.
SEEDS = 2

#: Characters of a token read and of a token written.
_READ, _WRITTEN = 3.3, 4.0

#: The rules by which the stub decides, by model and role; greedy where none is named.
RULES = {
    ("consulting", "interviewer"): "scripted",
    ("consulting", "candidate"): "framework",
    ("consulting", "judge"): "rubric",
    ("reasoning", "analyst"): "majority",
}

#: The text that the stub writes before a decision.
REASONS = (
    "The figures above show where things stand and what is on its way. Demand has moved a little, "
    "the buffer is thin but not alarming, and what was decided last time has not taken full effect "
    "yet, so a correction of the same size again would overshoot. Two options are worth weighing: "
    "to wait one more period for information, or to act now while it is cheap. Acting now costs "
    "little and limits the worst case, so that is what I do, and I will look at the effect next."
)

#: A critique, in every form that methods read, without and with a fault.
_VERDICT = '{{"is_correct": {0}, "is_valid": {0}, "feedback": "{1}"}}'
_APPROVED = _VERDICT.format("true", "looks good")
_FAULT = _VERDICT.format("false", f"The amount is too large. {REASONS[:240]}")

#: The reply to a call for the memory of any method.
_LEARNED = (
    json.dumps(
        {
            "reasoning": REASONS[:240],
            "key_insight": "Correct a gap in parts.",
            "bullet_tags": [],
            "operations": [
                {"type": "ADD", "section": "amounts", "content": f"Rule {{}}: {REASONS[:200]}"}
            ],
            "keywords": ["gap", "buffer"],
            "context": "a decision under delay",
            "tags": ["delay"],
            "should_evolve": True,
            "actions": ["strengthen"],
            "suggested_connections": [],
            "list_candidate_prompts": [{"candidate_prompt": REASONS[:240]}],
        }
    ).replace("{}", "%d")
    + f"\n<cheatsheet>\n{REASONS}\n{REASONS}\n</cheatsheet>"
)

#: A label for the router.
_LABEL = f"Capability: Numerical Calculation\nScore: 5\nReasoning: {REASONS[:120]}"

#: Tools of EnterpriseArena that the stub uses in a month before it acts.
_TOOLS = ("verify_cash_position", "review_financial_records")


@define(eq=False)
class Stub:
    """A policy `llm` whose server is replaced by a rule that decides at the same seat.

    Attributes:
        llm: The policy.
        rule: Decides.
        notes: The notes of the last decision.
    """

    llm: Any
    rule: Any
    notes: Any = None
    _action: Any = field(default=None, init=False)
    _month: Any = field(default=None, init=False)
    _tools: list[str] = field(factory=list, init=False)
    _verdicts: Any = field(factory=lambda: itertools.cycle((_FAULT, _APPROVED)), init=False)
    _lessons: Any = field(factory=itertools.count, init=False)

    def __attrs_post_init__(self) -> None:
        self.llm.metered.send = self.reply

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return the action of the language model's policy."""
        if self._action is None:
            self._action = self._chosen(observation)
        action = self.llm.decide(observation, narrowed)
        if self.llm.metered.decision.calls:  # else it still follows from an earlier reply
            self._action = None
        self.notes = self.llm.notes
        return action

    def after(self, episode: Episode) -> None:
        """Let the policy learn from an episode."""
        self.llm.after(episode)
        self._action = self._month = None

    def reply(self, request: Request, _: float = 0.0) -> ModelReply:
        """Return the reply to a request, with its tokens."""
        made = self._made(request)
        written = made.text + "".join(each.name + each.arguments for each in made.calls)
        sent = json.dumps([*request.messages, *request.tools], ensure_ascii=False)
        read, wrote = ceil(len(sent) / _READ), ceil(len(written) / _WRITTEN)
        return evolve(made, prompt_tokens=read, completion_tokens=wrote)

    def _made(self, request: Request) -> ModelReply:
        # A final judge, and answers to learn from, are in the form of the world too.
        rules = self.llm.conversation.world_rules
        if request.phase == "step" or rules in str(request.messages[0]["content"]):
            return in_form(self._action, request)
        if request.phase == "judge":
            return ModelReply(next(self._verdicts))
        if request.phase == "label":
            return ModelReply(_LABEL)
        return ModelReply(_LEARNED.replace("%d", str(next(self._lessons))))

    def _chosen(self, observation: Any) -> Any:
        """Return what to do: in EnterpriseArena first the month's tools, else the rule's action."""
        if isinstance(observation, Month):
            if observation.current_month != self._month:
                self._month, self._tools = observation.current_month, [*_TOOLS]
            if self._tools and observation.tool_calls_remaining > 1:
                return self.llm.conversation.codec.read({"do": self._tools.pop(0)})
        return self.rule.decide(observation)


def in_form(action: Any, request: Request) -> ModelReply:
    """Return an action as a reply in the form that a request asks for."""
    name, plain = name_of(action), to_plain(action)
    if request.tools:
        console = request.tools[0]["function"]["name"] == "run_command"
        called = ("run_command", {"command": line_of(action)}) if console else (name, plain)
        return ModelReply(REASONS, (Call("id0", called[0], json.dumps(called[1])),))
    match action:
        case Say(text=text):
            return ModelReply(text)
        case Message(text=text):
            return ModelReply(json.dumps({"reply": text}))
        case Verdict():
            return ModelReply(json.dumps({**plain, "feedback": REASONS}))
        case Answer(text=text) | Reply(text=text):
            return ModelReply(json.dumps({"reasoning": REASONS, "final_answer": text}))
        case Order(quantity=quantity):
            plain = {"order_qty": int(quantity), "note": "a part of the gap"}
        case Decide():
            plain = action.raw()
        case Plan(given=given):
            plain = given
        case _:
            plain = {TAG: name, **plain}
    return ModelReply(f"{REASONS}\n{json.dumps(plain)}")


# -- measuring -------------------------------------------------------------------------------------


def measured(played: PlayedAs, model: Model[Any], seeds: int = SEEDS) -> MeasuredCalls:
    """Return the means over episodes with the first seeds, or series of them."""
    each = [
        episode
        for first in range(seeds)
        for episode in _series(played, model, range(first * 100, first * 100 + played.episodes))
    ]
    used = usage_in_all(usage for one in each for usage in _usages(one))
    _check_played(played, used)
    phases = {k.removesuffix("_calls"): v for k, v in used.items() if k.endswith("_calls")}
    return MeasuredCalls(
        played,
        seeds,
        calls=round(used["calls"] / len(each), 1),
        prompt_tokens=round(used["prompt_tokens"] / len(each), 1),
        completion_tokens=round(used["completion_tokens"] / len(each), 1),
        phases={name: round(count / len(each), 1) for name, count in sorted(phases.items())},
    )


def _usages(episode: Episode) -> list[Mapping[str, float]]:
    return [*episode.result.usage.values()] if episode.result else []


def _check_played(played: PlayedAs, used: Mapping[str, float]) -> None:
    """Refuse figures of a stub whose replies are not understood: then too many calls are counted.

    Raises:
        ValueError: More than one decision in a hundred took the default action.
    """
    if used["default_actions"] + used["bad_replies"] > used["decisions"] / 100:
        raise ValueError(f"{played}: the stub's replies were not understood; {used}")


def _series(played: PlayedAs, model: Model[Any], seeds: range) -> list[Episode]:
    places = {role: seat_of(model, role, seeds[0]) for role in default_roles(model)}
    places |= {role: seat_of(model, role, seeds[0]) for role in played.policies}
    rules = {role: policy_at(_rule(role, seat), seat) for role, seat in places.items()}
    stubs = {role: _stub(spec, rules[role], places[role]) for role, spec in played.policies.items()}
    return play_series(model, {**rules, **stubs}, seeds)


def _rule(role: str, seat: WorldSeat) -> str:
    name = catalog.model_name(type(seat.model))
    return RULES.get((name, split_name(role)[1] or role), "greedy")


def _stub(spec: str, rule: Any, seat: WorldSeat) -> Stub:
    address = ",model=stub,base_url=http://127.0.0.1/v1"
    return Stub(policy_at(spec.replace("llm", f"llm{address}", 1), seat), rule)


# -- what is measured ------------------------------------------------------------------------------


def presets() -> Iterator[tuple[PlayedAs, Model[Any]]]:
    """Yield every preset with every method and without one."""
    for name, cls in catalog.models().items():
        for preset in catalog.presets(cls):
            model = catalog.model(name, preset)
            for method in ("", *METHODS):
                spec = f"llm,method={method}" if method else "llm"
                policies = dict.fromkeys(default_roles(model), spec)
                yield PlayedAs(f"{name}/{preset}", {}, 1, policies), model


def suites(folder: Path = SUITES) -> Iterator[tuple[PlayedAs, Model[Any]]]:
    """Yield what the language models of suites play."""
    for path in sorted(folder.glob("*.toml")):
        plan = read_plan(path, keys=False)
        for world, entry in itertools.product(plan.worlds.values(), plan.entries.values()):
            if not entry.table.worlds or world.name in entry.table.worlds:
                found = played_as(world, entry.policies_in(world))
                if found:
                    yield found, world.model


def everything() -> dict[bytes, tuple[PlayedAs, Model[Any]]]:
    """Return all that is measured, each once."""
    return {msgspec.json.encode(one): (one, model) for one, model in chain(presets(), suites())}


@click.command()
@click.option("--only", default="", help="Measure worlds whose name begins so.")
@click.option("--missing", is_flag=True, help="Measure what the file does not hold.")
@click.option("--out", type=click.Path(path_type=Path), default=FILE, help="The file.")
def main(only: str, missing: bool, out: Path) -> None:  # noqa: FBT001 (an option)
    """Measure calls and tokens, and write the file after each measurement."""
    known = {msgspec.json.encode(one.played): one for one in shipped()} if only or missing else {}
    wanted = everything()
    for key, (played, model) in wanted.items():
        if key not in known or (only and played.world.startswith(only)):
            began = time.perf_counter()
            known[key] = measured(played, model)
            print(f"{time.perf_counter() - began:5.1f} s  {known[key]}", flush=True)
            write(out, [known[each] for each in wanted if each in known])


def write(path: Path, found: Iterable[MeasuredCalls]) -> None:
    """Write a file of figures, a line each."""
    lines = [msgspec.json.encode(one).decode() for one in found]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
