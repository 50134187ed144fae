"""The router in front of methods: which one gets a decision."""

from functools import partial
from typing import Any

import pytest
from attrs import define, field
from support.method_traces import built
from support.router_items import Asked, items
from support.scripted import player, seat_of, worded

from desim import catalog, play
from desim.errors import PolicyWarning
from policies.llm.messages import assistant_message, corrected, system, user
from policies.llm.methods.memoryless import SelfRefine
from policies.llm.methods.method import Method
from policies.llm.replies import BadReply
from policies.llm.router.at_seat import Routing
from policies.llm.router.learning import learned_from_lessons, tallied
from policies.llm.router.policy import Policy
from policies.llm.router.situation import Features, Situation
from policies.llm.wires.wire import Call, Message, ModelReply, Request

RULES = Policy.read(
    {
        "default_agent": "gepa",
        "rules": [
            {"when": {"feature_conditions": {"has_table": True}}, "choose": "dc"},
            {"when": {"capability": "Domain Knowledge"}, "choose": "amem"},
        ],
    }
)


@define(eq=False)
class Named(Method):
    """A method that answers with its name and keeps what it was given."""

    name: str
    given: list[Request] = field(factory=list)

    def __call__(self, request: Request) -> ModelReply:
        """Return its name."""
        self.given.append(request)
        return worded(self.name)


def methods(*names: str) -> dict[str, Method]:
    """Return methods that answer with their names."""
    return {name: Named(name) for name in names}


def routed(*names: str, **more: Any) -> Routing:
    """Return a router in front of these methods."""
    return Routing(name="r", policy=RULES, methods=methods(*names), task="shop", **more)


def answer(router: Routing, *messages: Message) -> str:
    """Return the name of the method that answers."""
    return router(Request(messages)).text


def test_a_decision_goes_to_the_method_that_the_rules_choose() -> None:
    """The request is passed on as it is."""
    router = routed("gepa", "dynamic_cheatsheet")
    assert answer(router, user("no table")) == "gepa"
    assert answer(router, user("| a | table |")) == router.chosen == "dynamic_cheatsheet"
    request = Request([user("x")], [{"type": "function"}], {"type": "object"}, 0.3)
    router(request)
    method = router.methods["gepa"]
    assert isinstance(method, Named)
    assert method.given[-1] is request


@pytest.mark.parametrize("with_call", [True, False])
def test_a_decision_that_is_asked_for_again_stays_with_its_method(*, with_call: bool) -> None:
    """Also where the invalid reply, now part of the conversation, holds a table."""
    router = routed("gepa", "dynamic_cheatsheet")
    first = [user("no table")]
    assert answer(router, *first) == "gepa"
    calls = (Call("1", "order", "{}"), Call("2", "order", "{}")) if with_call else ()
    again = corrected(ModelReply("| a | b |", calls), BadReply("| none | of that |"))
    assert answer(router, *first, *again) == "gepa"
    assert answer(router, *first, *again, user("| a | table |")) == "dynamic_cheatsheet"


def test_a_method_that_is_not_offered_is_replaced_by_the_first() -> None:
    """Table 4 needs methods that a seat may not have."""
    assert answer(routed("cot", "amem"), user("x")) == "cot"


def test_a_conversation_is_the_context_without_instructions_and_old_answers() -> None:
    """What the user and tools say; the question is empty."""
    messages = [
        system("import this | table |"),
        user("3 apples"),
        assistant_message(ModelReply("| my | answer |")),
        {"role": "tool", "tool_call_id": "1", "content": "4 pears"},
        {"role": "user", "content": [{"type": "text", "text": "five"}]},
        {"role": "user", "content": None},
    ]
    found = routed("cot").situation(messages)
    told = '3 apples\n4 pears\n[{"type": "text", "text": "five"}]\n'
    assert found.features == Features(context_chars=len(told), num_numbers=2)
    assert routed("cot").situation([]) == Situation("shop", features=Features())


def test_a_labeller_gives_each_decision_labels() -> None:
    """One call a decision, and none where a decision is asked for again."""
    model = Asked(lambda _: "Capability: Domain Knowledge\nScore: 9")
    router = routed("gepa", "amem", labeller=model)
    assert answer(router, user("x")) == "amem"
    assert router.situation([user("x")]).bucket == "hard"
    asked = len(model.requests)
    again = corrected(worded("?"), BadReply("no"))
    assert answer(router, user("x"), *again) == "amem"
    assert len(model.requests) == asked


def test_the_router_plays_a_world_in_front_of_methods() -> None:
    """Every decision is answered by a method, and every call is counted."""
    world = catalog.model("beer_game")
    policy, model = player(seat_of(world), lambda _: worded('{"order_qty": 4}'))
    offered = {"self_refine": built(SelfRefine, complete=policy.complete, rounds=1)}
    default = Policy(default="self_refine")
    policy.complete = Routing(name="r", policy=default, methods=offered, task="shop")
    episode = play(world, {next(iter(world.roles)): policy}, seed=1)
    assert len(episode.steps) > 0
    # An answer, an audit without approval, and a rewritten answer each.
    assert len(model.sent) == 3 * len(episode.steps)


def test_replies_without_rules_leave_those_counted() -> None:
    """And a sentence says so."""
    silent = Asked(lambda _: "I cannot tell.")
    router = routed("cot", "gepa", "ace", learner=partial(learned_from_lessons, complete=silent))
    router.take(items(60), [])
    with pytest.warns(PolicyWarning, match=r"3 replies held no .* those of router=offline"):
        router.record([].append)
    assert router.policy == tallied(items(60))
