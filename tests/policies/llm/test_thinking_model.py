"""A language model that thinks: the tokens and the seconds of its replies become weeks."""

from pathlib import Path

import pytest
from attrs import evolve
from support.stub import Served, message, serving

from desim import play, replay
from desim.core.roles import Thinking
from desim.episodes.resume import resume
from desim.records.writer import cut
from models.beer_game import BeerGame

GAME = BeerGame.preset("poisson", horizon=12, thinking=Thinking(per_1000_tokens=1))


def ordering(tokens: int) -> Served:
    """Return a reply that orders 4 units after so many tokens."""
    usage = {"prompt_tokens": 10, "completion_tokens": tokens}
    return message(usage, content='{"order_qty": 4}')


@pytest.mark.parametrize("tokens", [900, 2000])
def test_tokens_become_weeks(tmp_path: Path, tokens: int) -> None:
    """A model that writes 2,000 tokens plays as a rule that takes two weeks; it replays exactly."""
    record = tmp_path / "a.jsonl"
    with serving(lambda *_: ordering(tokens)) as stub:
        llm = f"llm,model=stub,base_url={stub.url}"
        played = play(GAME, llm, 1, record=record)
        assert {step.delay for step in played.steps} <= {tokens // 1000}
        assert replay(record, trust=True).result == played.result
        asked = len(stub.requests)
        cut(record, 2)
        assert resume(record, llm, trust=True).ledger_digest == played.ledger_digest
        assert len(stub.requests) == 2 * asked - 2
    slow = evolve(GAME, thinking=Thinking(latency=tokens // 1000))
    assert play(slow, "constant,quantity=4", 1).score == played.score
