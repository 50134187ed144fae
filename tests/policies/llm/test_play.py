"""A language model at a seat of every world, its replies from a server on loopback."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.scripted import called, player, seat_of, usage_of, worded
from support.stub import Served, call, serving, text

from desim import Model, Policy, Role, World, catalog, play, play_series, replay

ORDER = text('{"order_qty": 400, "note": "as last week"}')
PLAN = {"C": 9, "R": 0, "P": [[1, 0, 95]] * 10}


# -- every world -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "answer"),
    [
        ("json", ORDER),
        ("schema", ORDER),
        ("tools", call(("order", {"quantity": 400}))),
        ("tools", text('{"order_qty": 400.9}')),
    ],
)
def test_a_beer_game_is_played_in_every_mode(mode: str, answer: Served, tmp_path: Path) -> None:
    """400 a week costs the published amount, and the record replays without the model."""
    file = tmp_path / "game.jsonl"
    with serving(answer) as stub:
        episode = play("beer_game", f"llm,model=stub,base_url={stub.url},mode={mode}", record=file)
    assert episode.score == -7600
    assert replay(file).score == -7600
    assert len(stub.requests) == 25
    assert ("tools" in stub.requests[0]) == (mode == "tools")
    assert ("response_format" in stub.requests[0]) == (mode == "schema")
    # No round is kept: each request has the rules and the figures of the week.
    assert {len(body["messages"]) for body in stub.requests} == {2}
    usage = usage_of(episode)
    assert (usage["calls"], usage["prompt_tokens"], usage["completion_tokens"]) == (25, 250, 125)
    assert usage["seconds"] > 0


@pytest.mark.parametrize(
    ("reply", "quantity", "repairs"),
    [
        ('{"order_qty": 17}', 17, 0),
        ('thus: {"order_qty": 17.9, "note": "x"} units', 17, 1),
        ('{"order_qty": -3}', 0, 1),
        ('{"order_qty": 99999}', 5000, 1),
        ('{"order_qty": "about 120 units"}', 120, 1),
        ('{"quantity": 12}', 12, 0),
        ('{"final_answer": {"order_qty": 5}}', 5, 0),
        ('{"order_qty": 1' + "0" * 400 + "}", 5000, 1),
    ],
)
def test_a_beer_order_is_repaired_as_published(reply: str, quantity: int, repairs: int) -> None:
    """Truncated, cut to 0 to 5000, found under the keys of published replies."""
    model = catalog.model("beer_game", changes={"horizon": "1"})
    llm, _ = player(seat_of(model), lambda _: worded(reply))
    [step] = play(model, {"retailer": llm}).steps
    assert step.action.quantity == quantity
    assert step.notes is not None
    assert step.notes["usage"]["repairs"] == repairs


def test_a_beer_order_that_cannot_be_read_falls_back_as_published() -> None:
    """Demand plus half the gap between target and stock."""
    model = catalog.model("beer_game", changes={"horizon": "4"})
    llm, scripted = player(seat_of(model), lambda _: worded("I order some."), retries=1)
    episode = play(model, {"retailer": llm})
    seen = [step.observation for step in episode.steps]
    wanted = [s.incoming_order + max(0, int(0.5 * (400 - s.inventory + s.backlog))) for s in seen]
    assert [step.action.quantity for step in episode.steps] == wanted
    assert usage_of(episode)["default_actions"] == 4
    assert len(scripted.sent) == 8


def test_six_decisions_with_feedback(tmp_path: Path) -> None:
    """The prompt of each EDT episode has the five metrics and the decision of earlier ones."""
    with serving(text(f"I take all. {json.dumps(PLAN)}")) as stub:
        spec = f"llm,model=stub,base_url={stub.url}"
        episodes = play_series("edt", spec, range(6), record=tmp_path)
    assert [episode.score for episode in episodes] == [7_116_500] * 6
    shown = [
        body["messages"][-1]["content"].count("accumulated_earnings") for body in stub.requests
    ]
    assert shown == [0, 1, 2, 3, 4, 5]
    assert (
        '"decision": {"C": 9, "R": 0, "P": [[1, 0, 95]'
        in stub.requests[1]["messages"][-1]["content"]
    )
    assert {usage_of(episode)["calls"] for episode in episodes} == {1}
    assert max(p.name for p in tmp_path.iterdir()) == "episode-006.jsonl"


def test_a_plan_that_cannot_be_read_is_the_scenarios_own() -> None:
    """As the published repair does with an empty decision."""
    with serving(text("no idea")) as stub:
        spec = f"llm,model=stub,base_url={stub.url},retries=0"
        given = play("edt", spec)
    own = play("edt", {"manager": Says({"do": "answer", "given": {}})})
    assert given.score == own.score
    assert usage_of(given)["default_actions"] == 1


def test_a_refused_decision_is_asked_for_again_up_to_a_limit() -> None:
    """A strict firm gives the reason; after three the scenario's own plan is taken."""
    with serving(text('{"C": 99, "R": 0, "P": []}')) as stub:
        model = catalog.model("edt", changes={"mode": "strict"})
        episode = play(model, f"llm,model=stub,base_url={stub.url}")
    assert len(stub.requests) == 4
    assert "Your last decision was refused: C_range" in stub.requests[1]["messages"][-1]["content"]
    assert (episode.steps[-1].notes or {})["default_action"].startswith("4 decisions were refused")


@frozen
class Says(Policy):
    """Always returns the same action."""

    action: Any

    def decide(self, _: Any) -> Any:
        """Return it."""
        return self.action


def test_a_world_without_a_file_is_described_by_its_rules_and_docstrings() -> None:
    """The last rounds are kept."""
    answers = [call(("accept", {"project": 3})), call(("release", {"consultants": 2}))]
    with serving(*answers, call(("wait", {}))) as stub:
        play("edt/interactive", f"llm,model=stub,base_url={stub.url},history=2")
    rules = stub.requests[0]["messages"][0]["content"]
    assert "You run a consulting firm" in rules
    assert "- free: Consultants that can still be hired." in rules
    assert [t["function"]["name"] for t in stub.requests[0]["tools"]][:2] == ["accept", "decline"]
    # Rules, two rounds of three messages, the observation.
    assert [len(body["messages"]) for body in stub.requests][:5] == [2, 5, 8, 8, 8]
    last = json.loads(stub.requests[2]["messages"][-1]["content"])
    assert (last["hired"], last["step"]) == (10, 0)


def test_a_start_up_is_run_by_tools_and_by_the_console() -> None:
    """The same turn in both forms leads to the same company."""
    typed = call(("market_browse", {"limit": 1}), ("task_accept", {"task_id": "Task-14"}))
    lines = ["market browse --limit 1", "task accept --task-id Task-14"]
    console = call(*[("run_command", {"command": f"yc-bench {line}"}) for line in lines])
    model = catalog.model("yc_bench", changes={"max_turns": "2"})
    conversations = []
    for answer, more in ((typed, ""), (console, ",console=true")):
        with serving(answer) as stub:
            episode = play(model, f"llm,model=stub,base_url={stub.url}{more}")
        assert (episode.ended, len(episode.steps)) == ("max_turns", 6)
        conversations.append(
            [m["content"] for m in stub.requests[1]["messages"] if m["role"] != "system"]
        )
    assert conversations[0] == conversations[1]
    first = json.loads(conversations[0][2])
    assert first["command"] == "yc-bench market browse --limit 1"
    assert json.loads(first["stdout"])["tasks"][0]["task_id"] == "Task-14"
    assert "Planned tasks: 1" in conversations[0][-1]


def test_a_month_is_a_conversation_of_its_own() -> None:
    """It contains the results of tools and notes; an action clears it, and only notes are left."""
    words = [
        'I look. {"type": "tool", "name": "verify_cash_position", "params": {}}',
        '{"type": "memory", "operation": "save_note", "content": "cash is fine", "tags": ["c"]}',
        '{"type": "action", "name": "pass", "params": {}}',
    ]
    model = catalog.model("enterprise_arena")
    llm, scripted = player(seat_of(model), lambda n: worded(words[n % 3]))
    episode = play(model, {"cfo": llm})
    months = episode.metrics["months"] + 1
    assert usage_of(episode)["calls"] == 3 * months
    assert [len(messages) for messages in scripted.sent[:6]] == [2, 4, 6, 2, 4, 6]
    assert '"cash_balance": 15000000.0' in scripted.sent[1][-1]["content"]
    assert '"tool_calls_remaining": 19' in scripted.sent[1][-1]["content"]
    assert "note_1, month 0 [c]: cash is fine" in scripted.sent[3][-1]["content"]
    assert "132" not in scripted.sent[0][0]["content"]


def test_a_month_passes_when_its_tools_are_used_up() -> None:
    """After the twentieth tool call the model is not called again; twenty notes likewise."""
    model = catalog.model("enterprise_arena")
    tool = called(("verify_cash_position", "{}"))
    llm, scripted = player(seat_of(model), lambda _: tool, mode="tools")
    episode = play(model, {"cfo": llm})
    names = [t["function"]["name"] for t in scripted.tools[0]]
    assert "verify_cash_position" in names
    assert "check_cash_in_bank" not in names
    months = episode.metrics["months"] + 1
    assert (len(scripted.sent), episode.metrics["passes"]) == (20 * months, months)
    assert (episode.steps[20].notes or {})["default_action"] == "the tools of the month are used up"
    note = worded('{"type": "memory", "operation": "save_note", "content": "x", "tags": []}')
    llm, scripted = player(seat_of(model), lambda _: note)
    episode = play(model, {"cfo": llm})
    assert len(scripted.sent) == 20 * (episode.metrics["months"] + 1)


@frozen(kw_only=True)
class Press:
    """Press the button."""


@frozen
class Light:
    """The observation.

    Attributes:
        on: Whether the light is on.
    """

    on: bool


@frozen(kw_only=True)
class Button(Model[None]):
    """A room with a button."""

    @property
    def roles(self) -> dict[str, Role]:
        """One visitor."""
        return {"visitor": Role(Light, Press, default_action=lambda _: Press())}

    def begin(self, world: World) -> None:
        """Ask once."""

        def room() -> Any:
            yield world.ask("visitor", lambda: Light(on=True))

        world.process(room())

    def score(self, _: Any) -> float:
        """Nothing."""
        return 0.0

    def metrics(self, _: Any) -> dict[str, Any]:
        """Nothing."""
        return {}


@pytest.mark.parametrize("answer", [call(("press", {})), call(("press", "")), text("{}")])
def test_a_world_of_the_users_own_needs_no_file(answer: Served) -> None:
    """Its classes are enough, even for an action without arguments."""
    with serving(answer) as stub:
        episode = play(Button(), f"llm,model=stub,base_url={stub.url},retries=0")
    assert usage_of(episode)["default_actions"] == 0
    assert "A room with a button." in stub.requests[0]["messages"][0]["content"]


# -- imports and records ---------------------------------------------------------------------------


def test_finding_the_policy_imports_no_client() -> None:
    """The HTTP library is imported when a policy is built."""
    script = (
        "import sys\n"
        "from desim import catalog\n"
        "assert catalog.policy('llm', catalog.model('yc_bench'))\n"
        "assert not {'openai', 'httpx', 'asyncio'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
