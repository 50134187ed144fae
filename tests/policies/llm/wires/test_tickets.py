"""Rounds are split at the limits of a batch, and cut at limits of money."""

from attrs import evolve

from policies.llm.wires.batches.openai_batches import OpenAIBatches
from policies.llm.wires.batches.tickets import Sender, Ticket, affordable, groups
from policies.llm.wires.endpoint import Endpoint


def tickets(count: int, model: str = "m", cost: float = 0.0, money: float = 0.0) -> list[Ticket]:
    """Return calls of one model, which share a limit of money."""
    sender = Sender(model, Endpoint(model=model, base_url="http://127.0.0.1/v1"))
    body = {"model": model, "messages": []}
    left = {"max_cost": lambda: money}
    return [
        Ticket(str(place), "job", sender, body, body, cost, left if cost else {})
        for place in range(count)
    ]


def limited(made: list[Ticket], **limits: int) -> list[Ticket]:
    """Return calls whose form has other limits."""
    object.__setattr__(made[0].sender, "form", evolve(OpenAIBatches(), **limits))
    return made


def test_a_round_is_split_where_a_batch_would_have_too_many_requests_or_bytes() -> None:
    """Order is kept, and a request that is too large alone goes alone."""
    by_count = groups(limited(tickets(5), most_requests=2))
    assert [[one.call for one in group] for group in by_count] == [["0", "1"], ["2", "3"], ["4"]]
    length = len(tickets(1)[0].line) + 2
    assert [len(group) for group in groups(limited(tickets(5), most_bytes=3 * length))] == [3, 2]
    assert [len(group) for group in groups(limited(tickets(2), most_bytes=1))] == [1, 1]


def test_models_have_batches_of_their_own() -> None:
    """A batch of OpenAI's takes one model."""
    mixed = [one for pair in zip(tickets(2), tickets(2, "n"), strict=True) for one in pair]
    assert [{one.body["model"] for one in group} for group in groups(mixed)] == [{"m"}, {"n"}]


def test_money_cuts_a_round_by_what_it_is_expected_to_cost() -> None:
    """What is under way counts; a single call may exceed a limit that is not reached."""
    unsent = tickets(4, cost=2.0, money=5.0)
    assert affordable(unsent, []) == unsent[:2]
    assert affordable(unsent[1:], unsent[:1]) == unsent[1:2]
    assert affordable(tickets(2, cost=9.0, money=5.0), unsent[:1]) == []
    dear = tickets(2, cost=9.0, money=5.0)
    assert affordable(dear, []) == dear[:1]
    assert affordable(tickets(2, cost=1.0, money=0.0), []) == []
    assert len(affordable(tickets(3), [])) == 3


def test_attempts_at_a_call_have_different_identifiers() -> None:
    """Each has 64 characters, which both forms take."""
    (one,) = tickets(1)
    first = one.id
    one.attempt = 1
    assert len(first) == len(one.id) == 64
    assert first != one.id
