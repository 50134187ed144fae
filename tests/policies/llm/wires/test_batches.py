"""Suites through batches in both forms: lockstep, faults of servers, limits of money."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.batch_stub import FAST, FORMS, BatchStub, batching, ordered, scores, shaped
from support.suites import bench, suite_file

from desim.jobs.keep.record_folder import RecordFolder

BEER = '[worlds.beer]\nmodel = "beer_game"\nset = { horizon = 3 }'

QUESTIONS = '[worlds.questions]\nmodel = "reasoning/small"\nset = { limit = 8 }'


@pytest.fixture
def stub() -> Iterator[BatchStub]:
    """The endpoint."""
    with batching(ordered) as served:
        yield served


def written(
    folder: Path, stub: BatchStub, api: str = "chat", worlds: str = BEER, **more: str
) -> Path:
    """Write a suite of two seeds with one model."""
    suite = suite_file(folder, stub.url, worlds, 'seeds = "0:2"')
    options = f'options = {{ api = "{api}", max_calls = 12 }}'
    suite.write_text(suite.read_text().replace("options = { max_calls = 12 }", options))
    return suite


def sizes(stub: BatchStub) -> list[int]:
    """The number of requests of each batch."""
    return [len(batch.requests) for batch in stub.batches]


@pytest.mark.parametrize("api", FORMS)
def test_a_suite_in_batches_has_the_results_of_one_without(
    tmp_path: Path, stub: BatchStub, api: str
) -> None:
    """Each round is one batch of all episodes, at half the price."""
    suite = written(tmp_path, stub, api)
    code, printed, errors = bench(suite, tmp_path / "batches", "--batch", *FAST)
    assert code == 0, errors
    assert (sizes(stub), stub.direct) == ([2] * 3, 0)
    assert f"spent {6 * 15 * 100 / 1e6 / 2:.6g} in 6 calls" in printed
    code, printed, errors = bench(suite, tmp_path / "direct")
    assert (code, stub.direct) == (0, 6), errors
    assert scores(tmp_path / "batches") == scores(tmp_path / "direct")
    assert {len(name) for name in stub.paid} == {64}
    assert len({*stub.paid}) == 6


def test_questions_are_one_round(tmp_path: Path, stub: BatchStub) -> None:
    """All questions of all episodes go with the first, as no reply decides on the next."""
    stub.answer = lambda body: (200, shaped(body, '{"reasoning": "x", "final_answer": "7"}'))
    suite = written(tmp_path, stub, worlds=QUESTIONS)
    suite.write_text(suite.read_text().replace(", max_calls = 12", ""))
    assert bench(suite, tmp_path / "batches", "--batch", *FAST)[0] == 0
    assert sizes(stub) == [16]
    assert bench(suite, tmp_path / "direct")[0] == 0
    assert scores(tmp_path / "batches") == scores(tmp_path / "direct")


def test_no_more_questions_are_sent_ahead_than_the_seat_may_ask(
    tmp_path: Path, stub: BatchStub
) -> None:
    """The limit of calls holds, also if every reply had to be asked for again."""
    stub.answer = lambda body: (200, shaped(body, '{"reasoning": "x", "final_answer": "7"}'))
    suite = written(tmp_path, stub, worlds=QUESTIONS)
    suite.write_text(suite.read_text().replace("max_calls = 12", "max_calls = 6, retries = 2"))
    assert bench(suite, tmp_path / "batches", "--batch", *FAST)[0] == 0
    assert (sizes(stub)[0], len(stub.paid)) == (4, 12)


# -- what servers do -------------------------------------------------------------------------------

FAULTS: dict[str, dict[str, Any]] = {
    "drops the answer to a creation": {"drops": 1},
    "loses a creation": {"loses": 1},
    "lets half expire": {"expires": 2},
    "sends lines in any order": {"shuffles": True},
    "sends lines twice": {"twice": True},
    "knows a batch late": {"unknown": 2},
    "takes long to finalize": {"finalizing": 3},
}


@pytest.mark.parametrize("api", FORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_costs_nothing(
    tmp_path: Path, stub: BatchStub, api: str, fault: str
) -> None:
    """No request is carried out twice, and all episodes end."""
    for name, value in FAULTS[fault].items():
        setattr(stub, name, value)
    suite = written(tmp_path, stub, api)
    code, _, errors = bench(suite, tmp_path / "out", "--batch", *FAST)
    assert code == 0, errors
    assert len(stub.paid) == len({*stub.paid}) == 6
    assert [outcome.state for outcome in RecordFolder(tmp_path / "out").outcomes().values()] == [
        "done"
    ] * 2


def test_a_refused_request_fails_its_episode_with_the_servers_reason(
    tmp_path: Path, stub: BatchStub
) -> None:
    """A batch with an error file alone is read; the same command tries again."""
    refusal = {"error": {"message": "no such field", "type": "invalid_request_error"}}
    stub.answer = lambda _: (400, refusal)
    suite = written(tmp_path, stub)
    code, _, errors = bench(suite, tmp_path / "out", "--batch", *FAST)
    assert code == 1
    assert "no such field" in errors
    assert (sizes(stub), stub.paid) == ([2], [])
    stub.answer = ordered
    code, _, errors = bench(suite, tmp_path / "out", "--batch", *FAST)
    assert (code, len(stub.paid)) == (0, 6), errors


def test_an_error_that_passes_is_sent_again(tmp_path: Path, stub: BatchStub) -> None:
    """As often as `resends` says, with the next round."""
    busy = {"error": {"message": "later", "type": "server_error"}}
    left = [3]

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        left[0] -= 1
        return (500, busy) if left[0] >= 0 else ordered(body)

    stub.answer = answer
    code, _, errors = bench(written(tmp_path, stub), tmp_path / "out", "--batch", *FAST)
    assert (code, len(stub.paid)) == (0, 6), errors


def test_a_batch_that_is_refused_as_a_whole_is_sent_again_where_a_queue_is_full(
    tmp_path: Path, stub: BatchStub
) -> None:
    """Any other reason fails its episodes."""
    stub.refuses = ["token_limit_exceeded"]
    suite = written(tmp_path, stub)
    assert bench(suite, tmp_path / "out", "--batch", *FAST)[0] == 0
    assert len(stub.paid) == 6
    stub.refuses = ["invalid_json_line"]
    code, _, errors = bench(suite, tmp_path / "other", "--batch", *FAST)
    assert (code, "because invalid_json_line" in errors) == (1, True), errors


def test_a_server_without_batches_is_named(tmp_path: Path, stub: BatchStub) -> None:
    """The status and the reason of the creation are the reason of the episode."""
    suite = written(tmp_path, stub)
    suite.write_text(suite.read_text().replace("/v1", "/v2/none"))
    code, _, errors = bench(suite, tmp_path / "out", "--batch", *FAST)
    assert code == 1
    assert "answered 404: no path /v2/none/files" in errors


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.parametrize("api", FORMS)
def test_a_round_is_submitted_by_one_command_and_collected_by_another(
    tmp_path: Path, stub: BatchStub, api: str
) -> None:
    """Neither waits, and neither sends a request twice."""
    suite, out = written(tmp_path, stub, api), tmp_path / "out"
    assert bench(suite, out, "--collect", *FAST)[0] == 1
    assert sizes(stub) == []
    for number in range(3):
        code, printed, errors = bench(suite, out, "--submit", *FAST)
        assert (code, "2 of 2 episodes are left" in printed) == (0, True), errors
        code, _, errors = bench(suite, out, "--submit", *FAST)
        assert code == 0, errors
        assert sizes(stub) == [2] * (number + 1)
        code, _, errors = bench(suite, out, "--collect", *FAST)
        assert code == (0 if number == 2 else 1), errors
    bench(suite, tmp_path / "direct")
    assert scores(out) == scores(tmp_path / "direct")


def test_a_folder_with_batches_is_not_played_without(tmp_path: Path, stub: BatchStub) -> None:
    """A request under way would be paid for twice."""
    suite, out = written(tmp_path, stub), tmp_path / "out"
    bench(suite, out, "--submit", *FAST)
    code, _, errors = bench(suite, out)
    assert (code, "go on with --batch, --submit or --collect" in errors) == (2, True)
    code, _, errors = bench(suite, out, "--submit", "--collect")
    assert (code, "give one of them" in errors) == (2, True)
    assert stub.direct == 0


def test_a_limit_of_money_holds_with_the_prices_of_batches(tmp_path: Path, stub: BatchStub) -> None:
    """A round is cut to what the money allows, by the expected cost of its requests."""
    suite, out = written(tmp_path, stub), tmp_path / "out"
    reply = 15 * 100 / 1e6 / 2
    code, _, errors = bench(suite, out, "--batch", *FAST, "--max-cost", str(2.5 * reply))
    assert (code, "the limit of money is spent" in errors) == (1, True), errors
    assert len(stub.paid) == 3
    code, _, errors = bench(suite, out, "--batch", *FAST, "--max-cost", "9")
    assert (code, len(stub.paid)) == (0, 6), errors


def test_other_prices_of_batches_are_an_option(tmp_path: Path, stub: BatchStub) -> None:
    """A server that takes the full price is counted with it."""
    suite = written(tmp_path, stub)
    suite.write_text(suite.read_text().replace("max_calls = 12", "max_calls = 12, price_batch = 1"))
    printed = bench(suite, tmp_path / "out", "--batch", *FAST)[1]
    assert f"spent {6 * 15 * 100 / 1e6:.6g} in 6 calls" in printed


def test_a_damaged_file_of_batches_is_refused(tmp_path: Path, stub: BatchStub) -> None:
    """The sentence names it, and nothing is sent."""
    suite, out = written(tmp_path, stub), tmp_path / "out"
    bench(suite, out, "--submit", *FAST)
    (out / "batches.sqlite").write_bytes(b"no database" * 999)
    code, _, errors = bench(suite, out, "--batch", *FAST)
    assert (code, "batches.sqlite: file is not a database" in errors) == (1, True), errors
    assert sizes(stub) == [2]


def test_results_that_came_twice_are_noted(tmp_path: Path, stub: BatchStub) -> None:
    """The first counts."""
    stub.twice = True
    bench(written(tmp_path, stub), tmp_path / "out", "--batch", *FAST)
    with closing(sqlite3.connect(tmp_path / "out" / "batches.sqlite")) as file:
        ((again,),) = file.execute("SELECT total(again) FROM requests")
    assert again == 6


def test_requests_validate_by_the_official_classes(tmp_path: Path, stub: BatchStub) -> None:
    """So do the states and results that the stub sends."""
    openai, anthropic = pytest.importorskip("openai.types"), pytest.importorskip("anthropic.types")
    pydantic = pytest.importorskip("pydantic")
    from anthropic.types.messages.batch_create_params import Request
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    for api in FORMS:
        bench(written(tmp_path, stub, api), tmp_path / api, "--batch", *FAST)
    body = pydantic.TypeAdapter(CompletionCreateParamsNonStreaming)
    request = pydantic.TypeAdapter(Request)
    for line in stub.lines:
        if "body" in line:
            assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
            body.validate_python(line["body"])
        else:
            request.validate_python(line)
    first, last = stub.batches[0], stub.batches[-1]
    openai.Batch.model_validate(stub.handle("GET", f"/v1/batches/{first.id}", b"")[1])
    shown = stub.handle("GET", f"/v1/messages/batches/{last.id}", b"")[1]
    anthropic.messages.MessageBatch.model_validate(shown)
    for line in stub.handle("GET", f"/v1/messages/batches/{last.id}/results", b"")[1].splitlines():
        anthropic.messages.MessageBatchIndividualResponse.model_validate(json.loads(line))
