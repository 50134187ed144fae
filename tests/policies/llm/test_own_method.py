"""A method or a prompt in a user's file: played, recorded, resumed, swept, its memory shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.command_line import refused
from support.forked import desim_process, ended
from support.paths import ROOT
from support.stub import Served, serving, text

MINE = '''
"""A method of a user's own."""
from typing import ClassVar

from attrs import define, evolve, field, frozen
from attrs.validators import ge
from policies.llm.methods.items import Item, Past
from policies.llm.methods.method import Method
from policies.llm.wires.wire import ModelReply


@frozen(kw_only=True)
class Scores:
    """Scores of the episodes played."""

    scores: tuple[float, ...] = ()
    decisions: int = 0


@define(eq=False, kw_only=True)
class Mine(Method):
    """Asks some times and takes the last answer."""

    MEMORY: ClassVar[type] = Scores

    tone: str = "calm"
    drafts: int = field(default=1, validator=ge(1))

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        for _ in range(self.times * self.drafts):
            reply = self.act(item, 0.5, f"Be {self.tone}.")
        return reply

    def step(self, item: Item, reply: ModelReply) -> None:
        self.memory = evolve(self.memory, decisions=self.memory.decisions + 1)

    def learn_episode(self, past: Past) -> None:
        self.memory = evolve(self.memory, scores=(*self.memory.scores, past.outcome.score))


@define(eq=False, kw_only=True)
class Clashing(Mine):
    """Has a field that is an argument of llm."""

    temperature: float = 0.0
'''

#: A prompt of the user's own.
SHOP = r'''from typing import Any

from attrs import frozen
from policies.llm.conversation import ConversationKind
from policies.llm.options import LLMOptions
from policies.llm.conversation import Conversation


@frozen(kw_only=True)
class ShopOptions(LLMOptions):
    """The options of this world.

    Attributes:
        goal: What the model is told to aim at.
    """

    goal: str = "profit"


class ShopConversation(Conversation):
    """The rules of the world, then the goal."""

    def __init__(self, seat: Any, options: ShopOptions) -> None:
        super().__init__(seat, options, mode="json", history=4)
        self.goal = options.goal

    def rules(self, observation: Any) -> str:
        return f"{super().rules(observation)}\nAim at {self.goal}."


SHOP = ConversationKind(ShopOptions, ShopConversation)
'''

GAME = ("run", "beer_game", "--set", "horizon=2")


def order(_: int, body: dict[str, Any]) -> Served:
    """Reply with an order that follows from the request."""
    return text(json.dumps({"order_qty": len(json.dumps(body)) % 5, "note": "so"}))


def block_of_the_page(words: str) -> str:
    """Return the block of policies/llm/README.md that contains some words."""
    page = (ROOT / "policies" / "llm" / "README.md").read_text(encoding="utf-8")
    [block] = [each for each in page.split("```python\n") if words in each.partition("```")[0]]
    return block.partition("```")[0]


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A folder with the user's file."""
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_a_method_of_the_users_is_played_recorded_resumed_and_shown(users: Path) -> None:
    """Its rounds and own arguments count, no call is made twice, and its rows are the table."""
    with serving(order) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method=mine:Mine,rounds=2,tone=bold,memory=m"
        played = ended(desim_process(*GAME, "--policy", spec, "--record", "r.jsonl", cwd=users))
        assert played.code == 0, played.err
        sent = list(stub.requests)
        assert len(sent) == 4
        assert all("Be bold." in body["messages"][0]["content"] for body in sent)
        lines = (users / "r.jsonl").read_bytes().splitlines(keepends=True)
        learned = [line for line in lines if b'"learned"' in line]
        assert len(learned) == 1
        for cut in range(2, len(lines) - 1, 3):
            replies = sum(b'"entry":{"reply":' in line for line in lines[:cut])
            del stub.requests[:]
            (users / "cut.jsonl").write_bytes(b"".join(lines[:cut]))
            again = ended(desim_process("resume", "cut.jsonl", "--trust", cwd=users))
            assert again.code == 0, again.err
            assert stub.requests == sent[replies:]
    shown = ended(desim_process("memory", "m", cwd=users))
    assert [line.split() for line in shown.out.splitlines() if line][:3] == [
        ["memory", "of", "mine:Mine:", "retailer", "after", "0", "episodes"],
        ["role", "decisions"],
        ["retailer", "2"],
    ]


def test_the_method_of_the_page_learns_between_episodes(tmp_path: Path) -> None:
    """The block of policies/llm/README.md is a whole file."""
    (tmp_path / "mine.py").write_text(block_of_the_page("class Mine"))
    with serving(order) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method=mine:Mine,shown=5,memory=m"
        series = ("--episodes", "3", "--record", "records")
        done = ended(desim_process(*GAME, "--policy", spec, *series, cwd=tmp_path))
        assert done.code == 0, done.err
        told = [body["messages"][0]["content"] for body in stub.requests]
    assert [text.rpartition(": ")[2].count("-") for text in told] == [0, 0, 1, 1, 2, 2]
    shown = ended(desim_process("memory", "m", cwd=tmp_path)).out.splitlines()
    assert shown[0] == "memory of mine:Mine: retailer after 3 episodes"
    assert sum(line.startswith("retailer") for line in shown) == 3


def test_a_memory_of_the_users_method_imports_nothing(users: Path) -> None:
    """A file from a stranger may name any module, and hold any values."""
    (users / "evil.py").write_text("open('done', 'w').close()\n")
    roles = {"a": {"state": {"x": [1, {"y": [2]}]}, "pending": [3]}, "b": {"state": 4}, "c": 5}
    whole = {"format": "desim-memory/1", "method": "evil:Method", "roles": roles}
    (users / "m").write_text(json.dumps(whole))
    shown = ended(desim_process("memory", "m", cwd=users))
    assert (shown.code, shown.err) == (0, "")
    assert not (users / "done").exists()


def test_a_record_with_a_users_method_imports_nothing_untrusted(users: Path) -> None:
    """The method is among what the refusal names."""
    with serving(order) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method=mine:Mine"
        ended(desim_process(*GAME, "--policy", spec, "--record", "r.jsonl", cwd=users))
    lines = (users / "r.jsonl").read_bytes().splitlines(keepends=True)
    (users / "r.jsonl").write_bytes(b"".join(lines[:3]))
    refused(ended(desim_process("resume", "r.jsonl", cwd=users)), "method=mine:Mine")


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("mine:Mine,tones=1", "did you mean 'tone'?"),
        ("mine:Mine,drafts=0", "'drafts' must be >= 1: 0"),
        ("mine:Mine,drafts=x", "drafts=x was given; drafts is a whole number"),
        ("min:Mine", "there is no module 'min'"),
        ("mine:Scores", "no class derived from policies.llm.methods.method.Method"),
        ("mine:Clashing", "a field 'temperature'"),
        ("mind", "or module:Class"),
        ("cot,experts=5", "has no argument 'experts'"),
    ],
)
def test_a_wrong_method_or_argument_is_refused(users: Path, method: str, why: str) -> None:
    """In one sentence that says what is possible."""
    spec = f"llm,model=x,base_url=http://h/v1,method={method}"
    refused(ended(desim_process(*GAME, "--policy", spec, cwd=users)), why)


def test_a_sweep_with_a_users_method_refuses_a_changed_one(users: Path) -> None:
    """The code of the method is among what its rows depend on; its arguments may vary."""
    with serving(order) as stub:
        spec = f"llm,model=stub,base_url={stub.url},method=mine:Mine"
        command = ("sweep", "beer_game", "--set", "horizon=1", "--policy", spec, "--seeds", "1")
        varied = ("--set", "policy.drafts=1,2", "--out", "rows")
        first = ended(desim_process(*command, *varied, cwd=users))
        assert first.code == 0, first.err
        assert len(stub.requests) == 3
        (users / "mine.py").write_text(MINE.replace("0.5", "0.6"))
        changed = ended(desim_process(*command, *varied, cwd=users))
    refused(changed, "changed: the code of mine")


def test_a_prompt_of_the_users_is_what_the_model_reads(tmp_path: Path) -> None:
    """With its options as arguments, and its mode; a sweep refuses to go on once it has changed."""
    (tmp_path / "mine.py").write_text(SHOP)
    with serving(text('{"do": "order", "quantity": 3}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url},conversation=mine:SHOP,goal=growth"
        command = ("sweep", "beer_game", "--set", "horizon=1", "--policy", spec)
        further = ("--seeds", "1", "--out", "rows")
        done = ended(desim_process(*command, *further, cwd=tmp_path))
        assert done.code == 0, done.err
        [body] = stub.requests
        (tmp_path / "mine.py").write_text(SHOP.replace("Aim at", "Aim for"))
        changed = ended(desim_process(*command, *further, cwd=tmp_path))
        refused(changed, "changed: the code of mine")
    assert "Aim at growth." in body["messages"][0]["content"]
    assert "tools" not in body


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("conversation=mine:SHOP,gaol=x", "did you mean 'goal'?"),
        ("conversation=mine:SHOPS", "mine exports no SHOPS; it is a ConversationKind"),
        ("conversation=min:SHOP", "there is no module 'min'"),
    ],
)
def test_a_wrong_prompt_is_refused(tmp_path: Path, given: str, why: str) -> None:
    """In one sentence."""
    (tmp_path / "mine.py").write_text(SHOP)
    spec = f"llm,model=x,base_url=http://h/v1,{given}"
    refused(ended(desim_process(*GAME, "--policy", spec, cwd=tmp_path)), why)
