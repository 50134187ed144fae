"""What comes from a server is bounded, counted and cleaned: time, size, requests, bytes, keys."""

import json
import time
from pathlib import Path

import pytest
from support.hostile import MODES, attacking, escaped, percent
from support.stub import Served, call, serving, text

from desim import Episode, play, resume
from desim.engine.budget import CommandBudget, command_budget, spending
from desim.errors import LimitReached, PolicyFailed, UsageError
from policies.llm.wires.endpoint import Endpoint

ORDER = text('{"order_qty": 100}')
BROKEN = Served({"error": {"message": "broken"}}, 500, {"Retry-After": "0.01"})
KEY = "sk-very-secret/0123456789"


# -- time and size ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        ("body of one byte a second", "did not answer within 1 s"),
        ("headers of one byte a second", "did not answer within 1 s"),
        ("endless 100 Continue", "did not answer within 1 s"),
        ("gzip bomb", "encoded as .gzip., which was not accepted"),
        ("deflate bomb", "encoded as .deflate."),
        ("endless chunks", "sent more than 4 MiB"),
        ("endless error body", "sent more than 4 MiB"),
        ("huge header", "Receive buffer too long"),
        ("429, wait 10**9 s", "answered 429: {}; it asks to wait 1e"),
        ("redirect to another host", "a redirect, which is not followed"),
    ],
)
def test_a_call_ends_at_its_timeout_and_within_its_size(attack: str, why: str) -> None:
    """The timeout is for the whole call; a body is not unfolded beyond its limit."""
    started = time.monotonic()
    with attacking(MODES[attack]) as (url, requests):
        spec = f"llm,model=m,base_url={url},timeout=1,resends=1"
        with pytest.raises(PolicyFailed, match=why):
            play("beer_game", spec)
        assert len(requests) <= 2
    assert time.monotonic() - started < 10


# -- every request counts --------------------------------------------------------------------------


@pytest.mark.parametrize("broken", [BROKEN, Served(b"no JSON"), Served(ORDER.body, cut=True)])
def test_a_request_that_brings_no_reply_counts(broken: Served, tmp_path: Path) -> None:
    """With one call allowed one request is sent; a resumed record has sent it already."""
    file = tmp_path / "game.jsonl"
    with serving(broken) as stub:
        spec = f"llm,model=m,base_url={stub.url},max_calls=1"
        episode = play("beer_game", spec, record=file)
        assert len(stub.requests) == 1
        assert usage(episode) == (1, 0)
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:3]))
        assert usage(resume(file, trust=True)) == (1, 0)
        assert len(stub.requests) == 1


def test_a_failed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """Requests that failed before are counted, and are no reason to fail again."""
    file = tmp_path / "game.jsonl"
    with serving(ORDER, BROKEN, BROKEN, ORDER) as stub:
        with pytest.raises(PolicyFailed, match="answered 500: broken, 2 times"):
            play("beer_game", f"llm,model=m,base_url={stub.url},resends=1", record=file)
        assert usage(resume(file, trust=True)) == (27, 25)
        assert len(stub.requests) == 27


def usage(episode: Episode) -> tuple[float, float]:
    """Return the requests sent and the replies received."""
    assert episode.result is not None
    [sums] = episode.result.usage.values()
    return sums["calls"], sums["replies"]


INVALID = json.dumps(ORDER.body).encode().replace(b"100", b'100, \\"note\\": \\"\xff\\"')


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Served(INVALID), "not valid UTF-8"),
        (text('{"order_qty": 100} \ud800'), "half a surrogate pair"),
        (call(*[("order", {"quantity": 1})] * 129), "more than 128 tools"),
    ],
)
def test_text_that_is_none_is_a_bad_reply(bad: Served, why: str, tmp_path: Path) -> None:
    """It is reported to the model, counted once, and the same when the record is resumed."""
    file = tmp_path / "game.jsonl"
    with serving(bad, ORDER) as stub:
        whole = play("beer_game", f"llm,model=m,base_url={stub.url}", record=file)
        assert why in stub.requests[1]["messages"][-1]["content"]
        assert (len(stub.requests), usage(whole)) == (26, (26, 26))
        assert whole.steps[0].notes is not None
        assert whole.steps[0].notes["usage"]["bad_replies"] == 1
        lines = file.read_bytes().splitlines(keepends=True)
        # The header, and the first request with its texts and its reply.
        file.write_bytes(b"".join(lines[:4]))
        resumed = resume(file, trust=True)
        assert resumed.steps[0].notes is not None
        assert resumed.steps[0].notes["usage"]["bad_replies"] == 1
        assert (resumed.score, usage(resumed)) == (whole.score, (26, 26))


# -- keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        escaped(KEY),
        escaped(KEY).replace("\\", "\\\\"),
        percent(KEY),
        KEY.replace("/", "\\/"),
        "".join(f"&#{ord(c)};" for c in KEY),
    ],
)
def test_a_key_is_found_however_it_is_written(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain, escaped once or twice, in percent, as entities; in the text of an error."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(Served(f'{{"oops": "bad key {written}!"}}'.encode(), 401)) as stub:
        with pytest.raises(PolicyFailed, match=r"bad key \[key\]!"):
            play("beer_game", f"llm,model=m,base_url={stub.url}")
        assert set(stub.keys) == {f"Bearer {KEY}"}


def test_a_text_full_of_escapes_is_searched_in_time() -> None:
    """A pattern that backtracks would take hours."""
    for part in ("\\", "%25", "&#x0", KEY[:-1]):
        Endpoint(model="m", key=KEY).redacted(part * (1_000_000 // len(part)))


def test_a_key_that_no_header_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The HTTP library would repeat it in its error."""
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds a character") as error:
        play("beer_game", "llm,model=m,base_url=http://127.0.0.1:9/v1")
    assert KEY not in str(error.value)


# -- the whole command -----------------------------------------------------------------------------


def test_a_budget_is_shared_by_all_seats(tmp_path: Path) -> None:
    """The run stops where the command's limit is reached; a resumed one has a new limit."""
    file = tmp_path / "game.jsonl"
    reply = call(("order", {"quantity": 4}))
    with serving(reply) as stub:
        spec = f"llm,model=m,base_url={stub.url},mode=tools,price_in=1000,price_out=1000"
        lineup = {"retailer": spec, "factory": spec}
        with (
            spending(CommandBudget(max_calls=7)) as budget,
            pytest.raises(LimitReached, match="--max-calls 7 is reached"),
        ):
            play("beer_game/classic", lineup, record=file)
        assert (len(stub.requests), budget.calls) == (7, 7)
        # Ten tokens read and five written cost 0.015.
        with (
            spending(CommandBudget(max_cost=0.03)) as budget,
            pytest.raises(LimitReached, match=r"--max-cost 0\.03 is reached"),
        ):
            resume(file, trust=True)
        assert (len(stub.requests), budget.calls, budget.shared[0].spent) == (9, 2, 0.03)
        whole = resume(file, trust=True)
    assert command_budget().max_calls is None
    assert whole.result is not None
    assert sum(each["calls"] for each in whole.result.usage.values()) == len(stub.requests)
    assert all(each["default_actions"] == 0 for each in whole.result.usage.values())


def test_a_short_key_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dummy key may be part of any reply, such as the quantity 4."""
    monkeypatch.setenv("OPENAI_API_KEY", "4")
    with serving(text('{"order_qty": 4}')) as stub:
        episode = play("beer_game", f"llm,model=m,base_url={stub.url}")
    assert episode.result is not None
    assert episode.result.usage["retailer"]["default_actions"] == 0
    assert "[key]" not in repr(episode.transcript)
