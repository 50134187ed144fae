"""The Inspect tasks, played by Inspect's mock model."""

import gc
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")

from inspect_ai.log import read_eval_log
from support.agents import answered, evaluated, mock_calls, mock_text, ordered, sample_of
from support.stub import USAGE, Served, call, serving

import desim
from desim import catalog
from desim.adapters.inspect_ai import TASKS, solver, world_task
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.errors import UsageError
from desim.records.episode import Episode

#: A Beer Game of six weeks, the first of which no player orders in.
SHORT = {"params": {"horizon": 6}}

#: Its decisions.
DECISIONS = 6

#: How Inspect names a model behind the stub.
MODEL = ("--model", "openai-api/stub/scripted", "--display", "plain")

ORDER = mock_calls(("order", {"quantity": 4}))


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the replies in a new folder."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def short(seeds: Any = "1:2", **options: Any) -> Any:
    """Return the task of a short Beer Game."""
    return world_task("beer_game", "poisson", seeds, **SHORT, **options)


def counted(reply: Callable[[int], Any], asked: list[int]) -> Callable[..., Any]:
    """Return a mock that keeps how often it was asked."""

    def answer(*_: Any) -> Any:
        asked.append(len(asked))
        return reply(len(asked) - 1).model_copy(deep=True)

    return answer


def last_demand(messages: list[Any], *_: Any) -> Any:
    """Order what was ordered, as the heuristic of this name does; from the messages alone."""
    seen = json.loads(messages[-1].text)
    return mock_calls(("order", {"quantity": seen["incoming_order"]}))


def values(sample: Any) -> dict[str, Any]:
    """Return the values of the world's score."""
    found: dict[str, Any] = sample.scores["world_score"].value
    return found


@pytest.mark.slow
def test_a_heuristic_plays_many_samples_at_once_as_desim_does() -> None:
    """Samples are presets x seeds, isolated from each other, and nothing of them stays open."""
    task = world_task("beer_game", ["poisson", "classic"], "0:50", params={"horizon": 3})
    log = evaluated(task, last_demand, max_samples=100)
    assert log.status == "success"
    assert len(log.samples) == 100
    digests = set()
    for sample in log.samples:
        preset, seed = sample.metadata["preset"], sample.metadata["seed"]
        assert sample.metadata["revision"] == 1
        model = catalog.model("beer_game", preset, {"horizon": "3"})
        direct = desim.play(model, {"retailer": "last_demand"}, seed).result
        assert direct is not None
        assert values(sample)["score"] == direct.score
        assert sample.metadata["ledger_digest"] == direct.ledger_digest
        digests.add(direct.ledger_digest)
    assert len(digests) > 40  # seeds differ, but for a few equal draws of so few weeks
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, SteppedSession)]


def test_the_log_holds_what_was_played(tmp_path: Path) -> None:
    """The Store's answers give the same episode again, from the log alone."""
    evaluated(short(), [ORDER] * DECISIONS, log_dir=str(tmp_path))
    (file,) = tmp_path.glob("*.eval")
    sample = sample_of(read_eval_log(str(file)))
    assert sample.id == "poisson-1"
    assert not any("seed" in message.text for message in sample.messages)
    assert "seed" not in sample.input
    with Setup.of("beer_game", "poisson", seats="retailer", **SHORT).begin(1) as session:
        for answer in sample.store[solver.ANSWERS]:
            answered(session, answer)
        assert session.result is not None
        assert session.result.ledger_digest == sample.metadata["ledger_digest"]
    assert values(sample) == {
        "score": session.result.score,
        "ended": 1,
        "default_share": 0,
        "answers": DECISIONS,
        "wrong": 0,
        "defaults": 0,
        "replies": DECISIONS,
    }


def test_the_normalised_score_stands_beside_the_score_where_it_is_known() -> None:
    """With the parameters of a preset there is a scale, with others none."""
    other = evaluated(short(), [ORDER] * DECISIONS)
    assert {score.scorer for score in other.results.scores} == {"world_score"}
    orders = ordered([{"do": "order", "quantity": 4}] * 52, in_one=52)
    preset = evaluated(world_task("beer_game", "poisson", [1]), orders)
    assert {score.scorer for score in preset.results.scores} == {"world_score", "normalised"}


def test_wrong_calls_are_answered_with_the_schemas_sentence() -> None:
    """The model reads what is wrong, nothing changes, and the calls are counted."""
    wrong = mock_calls(("oder", {"quantity": 4}), ("order", {"quantity": "many"}), ("order", {}))
    sample = sample_of(evaluated(short(), [wrong, *[ORDER] * DECISIONS]))
    errors = [each.error.message for each in sample.messages[3:6]]
    assert errors[0].startswith("there is no tool 'oder'; did you mean 'order'?")
    assert all("quantity" in error for error in errors[1:])
    assert values(sample)["wrong"] == 3
    assert values(sample)["answers"] == DECISIONS
    assert values(sample)["defaults"] == 0


def test_an_endless_talker_is_nudged_and_then_defaulted() -> None:
    """Nudges are limited, so an episode ends even if nobody ever calls a tool."""
    asked: list[int] = []
    task = short(nudges=1)
    sample = sample_of(evaluated(task, counted(lambda _: mock_text("Let me think."), asked)))
    assert values(sample)["defaults"] == values(sample)["answers"] == DECISIONS
    assert len(asked) == 2 * DECISIONS
    assert sample.messages[3].text.startswith("No tool was called")
    assert sample.messages[5].text.startswith("The default action was taken")


def test_a_sample_that_was_not_played_is_not_averaged() -> None:
    """More than half of its decisions were defaults: it is counted apart, and shows why."""
    preset = world_task("beer_game", "poisson", [1, 2], nudges=0)
    for orders, unscored in (
        ([mock_text("Hm.")], 2),
        (ordered([{"do": "order", "quantity": 4}]), 0),
    ):
        log = evaluated(preset, lambda *_, orders=orders: orders[0].model_copy(deep=True))
        scores = {each.name: each for each in log.results.scores}
        assert scores["score"].unscored_samples == unscored
        assert scores["normalised"].unscored_samples == unscored
        assert scores["defaults"].metrics["mean"].value == (52 if unscored else 0)
        assert scores["default_share"].metrics["mean"].value == unscored / 2
        assert math.isnan(scores["score"].metrics["mean"].value) == (unscored == 2)
    sample = sample_of(evaluated(short(nudges=0), lambda *_: mock_text("Hm.")))
    score = sample.scores["world_score"]
    assert score.explanation == "not played: 6 of 6 decisions were default actions"
    assert score.metadata["played"] is False


def test_at_a_limit_the_rest_is_played_by_default_actions() -> None:
    """A model that is stopped pays for the time that is left, and is counted as stopped."""
    sample = sample_of(evaluated(short(), [ORDER] * DECISIONS, message_limit=6))
    assert values(sample)["ended"] == 0
    assert values(sample)["answers"] == DECISIONS
    assert values(sample)["defaults"] == DECISIONS - 2
    assert sample.metadata["ledger_digest"]


def test_a_limit_of_time_ends_a_sample_that_is_then_played_out() -> None:
    """Inspect cancels the sample in the middle of a reply."""
    import anyio

    async def slow(*_: Any) -> Any:
        await anyio.sleep(60)

    sample = sample_of(evaluated(short(), slow, time_limit=1))
    assert sample.limit.type == "time"
    assert values(sample)["defaults"] == DECISIONS


def test_a_sample_that_broke_off_pays_for_nothing_twice(tmp_path: Path) -> None:
    """Inspect's cache gives its replies again; only the missing ones are asked for."""
    folder, asked = str(tmp_path), []

    def fails(number: int) -> Any:
        if number == 3:
            raise RuntimeError("the endpoint is down")
        return mock_calls(("order", {"quantity": number}))

    log = evaluated(short(folder=folder), counted(fails, asked), cache=True)
    assert log.status == "error"
    again: list[int] = []
    sample = sample_of(evaluated(short(folder=folder), counted(lambda _: ORDER, again), cache=True))
    assert len(again) == DECISIONS - 3
    quantities = [answer["quantity"] for answer in sample.store[solver.ANSWERS]]
    assert quantities == [0, 1, 2, 4, 4, 4]
    (record,) = tmp_path.rglob("*.jsonl.gz")
    assert Episode.read(record).result.ledger_digest == sample.metadata["ledger_digest"]


def test_a_finished_sample_is_not_overwritten(tmp_path: Path) -> None:
    """Another evaluation into the same folder is refused before the model is asked."""
    evaluated(short(folder=str(tmp_path)), [ORDER] * DECISIONS)
    asked: list[int] = []
    log = evaluated(short(folder=str(tmp_path)), counted(lambda _: ORDER, asked))
    assert log.status == "error"
    assert "name another folder" in log.error.message
    assert not asked


def test_history_keeps_rules_first_observation_and_last_rounds() -> None:
    """What is cut begins with a reply, so that no result stands without its call."""
    roles = ["system", "user", "assistant", "tool", "user", "assistant", "tool"]
    messages = [SimpleNamespace(role=role) for role in roles]
    assert solver.sent(messages, 1) == [*messages[:2], *messages[5:]]
    assert solver.sent(messages, 2) == solver.sent(messages, None) == messages


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"preset": "poison"}, "has no preset 'poison'"),
        ({"seeds": 90}, "YAML"),
        ({"seat": "retailr"}, "retailr"),
        ({"nudges": -1}, "nudges=-1 was given"),
        ({"seeds": [3, -1]}, "a seed is a whole number"),
        ({"history": True}, "history=True was given"),
        ({"others": {"retailer": "greedy"}, "seat": "retailer"}, "is a seat"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_asked(
    options: dict[str, Any], expected: str
) -> None:
    """The options of `-T` are checked when the task is made."""
    with pytest.raises(UsageError, match=expected):
        TASKS["beer_game"](**options)


@pytest.mark.slow
def test_the_command_finds_the_tasks_and_reads_the_log(tmp_path: Path) -> None:
    """`inspect eval desim/beer_game` needs no import; `inspect log dump` reads what it wrote."""
    pytest.importorskip("openai", reason="Inspect needs it to speak to an endpoint")
    order = call(("order", {"quantity": 4}), usage={**USAGE, "total_tokens": 15})
    order.body["created"] = 0
    options = [f"-T{each}" for each in ("preset=poisson", "seeds=0:2", "params={horizon: 6}")]
    with serving(order) as stub:
        keys = {**os.environ, "STUB_API_KEY": "k", "STUB_BASE_URL": stub.url}
        _inspect("eval", "desim/beer_game", *MODEL, *options, "--log-dir", str(tmp_path), env=keys)
    (file,) = tmp_path.glob("*.eval")
    log = json.loads(_inspect("log", "dump", str(file)))
    assert log["eval"]["task"] == "desim/beer_game"
    assert [one["scores"]["world_score"]["value"]["ended"] for one in log["samples"]] == [1, 1]
    assert len(stub.requests) == 2 * DECISIONS
    offered = stub.requests[0]["tools"][0]["function"]
    assert offered["name"] == "order"
    assert offered["parameters"]["properties"]["quantity"]["description"]


@pytest.mark.slow
def test_eval_retry_plays_a_sample_whose_first_call_failed(tmp_path: Path) -> None:
    """Inspect's own command repeats the evaluation into the same folder of records."""
    pytest.importorskip("openai", reason="Inspect needs it to speak to an endpoint")
    order = call(("order", {"quantity": 4}), usage={**USAGE, "total_tokens": 15})
    order.body["created"] = 0
    down = Served({"error": {"message": "down"}}, status=400)
    logs = str(tmp_path / "logs")
    options = ["preset=poisson", "seeds=0:1", "params={horizon: 6}", f"folder={tmp_path / 'kept'}"]
    with serving(lambda number, _: order if number else down) as stub:
        keys = {**os.environ, "STUB_API_KEY": "k", "STUB_BASE_URL": stub.url}
        given = [f"-T{each}" for each in options]
        _inspect("eval", "desim/beer_game", *MODEL, *given, "--log-dir", logs, env=keys, fails=True)
        (file,) = (tmp_path / "logs").glob("*.eval")
        _inspect("eval-retry", str(file), "--log-dir", logs, "--display", "plain", env=keys)
    assert len(stub.requests) == DECISIONS + 1
    (record,) = (tmp_path / "kept").rglob("*.jsonl.gz")
    assert Episode.read(record).result is not None


def _inspect(*arguments: str, env: dict[str, str] | None = None, fails: bool = False) -> str:
    """Return what Inspect's command prints; with *fails* its exit code may be any."""
    file = Path(sys.executable).with_name("inspect")
    done = subprocess.run(
        [file, *arguments], capture_output=True, text=True, check=not fails, timeout=120, env=env
    )
    return done.stdout
