"""What every model, present and future, owes to every policy, and every baseline to every model."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from desim import Episode, Model, Run, catalog, play, replay
from desim.params import presets
from desim.schema import codec, from_plain, json_schema, to_plain
from desim.seating import read_seats
from desim.sweeps.leaderboard import everything

ROOT = Path(__file__).parents[1]
WORLDS = everything()
CASES = [(name, spec) for name in WORLDS for spec in catalog.baselines(catalog.model(name))]


def lines(model: Model[Any], spec: str, seed: int, file: Path) -> bytes:
    """Play and return the record's bytes."""
    play(model, read_seats([spec]), seed, record=file)
    return file.read_bytes()


@pytest.mark.parametrize(("name", "spec"), CASES, ids=str)
def test_model_seed_and_answers_fix_the_episode(name: str, spec: str, tmp_path: Path) -> None:
    """Played twice, records are the same to the byte; replayed, every step and the ledgers are."""
    model = catalog.model(name)
    first = lines(model, spec, 3, tmp_path / "first.jsonl")
    assert lines(model, spec, 3, tmp_path / "second.jsonl") == first
    assert replay(tmp_path / "first.jsonl") == Episode.read(tmp_path / "first.jsonl")


@pytest.mark.parametrize(("name", "spec"), CASES, ids=str)
def test_the_recorded_answers_are_a_policy(name: str, spec: str, tmp_path: Path) -> None:
    """Given to the same seats they bring about the same result, ledgers included."""
    file = tmp_path / "played.jsonl"
    played = play(catalog.model(name), read_seats([spec]), 1, record=file)
    again = dict.fromkeys(played.header.policies, f"replay,file={file}")
    assert play(catalog.model(name), again, 1).result == played.result


@pytest.mark.parametrize("name", WORLDS)
def test_hash_seeds_change_nothing(name: str) -> None:
    """No order of a set or a dictionary of objects leaks into what happens."""
    specs = catalog.baselines(catalog.model(name))
    code = (
        "import sys; from desim import play; from desim.seating import read_seats\n"
        "for spec in sys.argv[2:]: print(play(sys.argv[1], read_seats([spec]), 5).summary())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code, name, *specs],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert printed[0] == printed[1] != b""


@pytest.mark.parametrize("name", WORLDS)
def test_parameters_survive_pickling_and_json(name: str) -> None:
    """A model is its parameters: it crosses to workers and into records and comes back equal."""
    model = catalog.model(name)
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301 (our own bytes)
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(model)))
    assert from_plain(plain, type(model)) == model


@pytest.mark.parametrize("name", WORLDS)
def test_parameters_are_frozen(name: str) -> None:
    """An episode cannot change the model that others play."""
    model = catalog.model(name)
    with pytest.raises(AttributeError):
        model.seed = 1  # type: ignore[attr-defined]


def decisions(run: Run, spec: str) -> Iterator[tuple[Any, Any, bytes]]:
    """Yield role, observation and its JSON as it was handed out, answering by the first option."""
    while handed := run.advance():
        for d in handed:
            yield d.role, d.observation, msgspec.json.encode(d.observation)
            run.answer(d, run.roles[d.role].options(d.observation)[0].action)  # type: ignore[misc]


@pytest.mark.parametrize("name", WORLDS)
def test_observations_do_not_change_after_the_fact(name: str) -> None:
    """What a policy keeps stays what it saw, whatever happens later."""
    run = Run(catalog.model(name), 2)
    kept = list(decisions(run, "first"))
    assert kept
    assert [msgspec.json.encode(seen) for _, seen, _ in kept] == [told for _, _, told in kept]
    assert all(isinstance(seen, run.roles[role].sees) for role, seen, _ in kept)


@pytest.mark.parametrize("name", WORLDS)
def test_every_option_offered_is_accepted(name: str) -> None:
    """Options are never none, fit the schema, and the world goes on after each of them."""
    run = Run(catalog.model(name), 4)
    turn = 0
    while handed := run.advance():
        for d in handed:
            options = run.roles[d.role].options(d.observation)  # type: ignore[misc]
            assert options
            for option in options:
                codec(run.roles[d.role].does).take(option.action)
            run.answer(d, options[turn % len(options)].action)
            turn += 1
    assert run.result().ended


@pytest.mark.parametrize("name", WORLDS)
def test_schemas_tell_what_and_why(name: str) -> None:
    """Every class and every field that a language model or a form is given has a description."""
    model = catalog.model(name)
    for role in model.roles.values():
        for schema in (json_schema(role.sees), codec(role.does).json_schema()):
            for cls in schema["$defs"].values():
                assert cls["description"]
                silent = [f for f, p in cls["properties"].items() if f != "do" and not told(p)]
                assert silent == [], cls["title"]


def told(field: dict[str, Any]) -> bool:
    """Whether a property describes itself, or refers to a class that does."""
    return "description" in field or "$ref" in field


@pytest.mark.parametrize("name", WORLDS)
def test_scores_and_metrics_are_plain(name: str) -> None:
    """They can be written as JSON and read back as they are."""
    result = play(name, read_seats([catalog.baselines(catalog.model(name))[0]])).result
    assert result is not None
    plain = {"score": result.score, **result.metrics}
    assert msgspec.json.decode(msgspec.json.encode(plain)) == plain
    assert result.ledger_digest


@pytest.mark.parametrize("model", sorted(catalog.models()))
def test_every_world_has_a_page(model: str) -> None:
    """Its README names every preset and every role."""
    page = (ROOT / "models" / model / "README.md").read_text(encoding="utf-8")
    assert [p for p in presets(catalog.model_class(model)) if f"`{p}`" not in page] == []
    assert [r for r in catalog.model(model).roles if r not in page] == []
