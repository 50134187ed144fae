"""What holds for every model and every baseline, present and future."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from support.cases import SEARCHES, first_difference
from support.paths import PYTHONPATH, ROOT
from support.small_worlds import Go, Spot, Walk

from desim import Episode, Model, Policy, Seat, catalog, check, play, replay
from desim.catalog.model_finder import everything
from desim.catalog.policy_spec import Spec, read_policies
from desim.catalog.presets import presets
from desim.core.model import own_revision
from desim.core.policy import (
    is_drawing,
    knows,
)
from desim.episodes.lineup import assigned, lineup_knows

SLOW = pytest.mark.slow
WORLDS = everything()
CASES = [(name, spec) for name in WORLDS for spec in catalog.baselines(catalog.model(name))]

#: The first preset of each model is always tested; the others take minutes and are slow tests.
FIRST = {f"{name}/{presets(cls)[0]}" for name, cls in catalog.models().items()}


def first_preset_fast(cases: list[tuple[str, str]], every: int = 1) -> list[Any]:
    """Mark further presets and searches as slow; searches have cases in first presets only.

    One in *every* of the other cases of first presets is quick.
    """
    quick = [case for case in cases if case[0] in FIRST and case[1] not in SEARCHES][::every]
    return [
        case if case in quick else pytest.param(*case, marks=SLOW)
        for case in cases
        for world, spec in [case]
        if world in FIRST or spec not in SEARCHES
    ]


def ends_of_presets(cases: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first and the last baseline of further presets; the first preset has them all.

    That the others play the same episode in every process, `test_digests` shows for all of them.
    """
    specs = {world: [spec for name, spec in cases if name == world] for world, _ in cases}
    ends = {world: (found[0], found[-1]) for world, found in specs.items()}
    return [(world, spec) for world, spec in cases if world in FIRST or spec in ends[world]]


#: Shorter episodes of what takes seconds, with all that happens from outside.
SHORTER = {"enterprise": {"months": "12"}}

#: The seed chooses the case alone, which the candidate knows from the first message on.
NOTHING_LEFT = "consulting/"


def short(name: str) -> Model[Any]:
    """Return a world, with shorter episodes where these take seconds."""
    world, _, preset = name.partition("/")
    return catalog.model(world, preset, SHORTER.get(world))


def lines(model: Model[Any], spec: str, seed: int, file: Path) -> bytes:
    """Play and return the record's bytes."""
    play(model, read_policies([spec]), seed, record=file)
    return file.read_bytes()


@pytest.mark.parametrize(("name", "spec"), first_preset_fast(ends_of_presets(CASES), 3), ids=str)
def test_model_seed_and_answers_fix_the_episode(name: str, spec: str, tmp_path: Path) -> None:
    """Two records are the same to the byte, and each replays.

    The recorded answers are a policy: given to the same roles they lead to the same result, ledgers
    included.
    """
    model, file = short(name), tmp_path / "first.jsonl"
    first = lines(model, spec, 3, file)
    assert lines(model, spec, 3, tmp_path / "second.jsonl") == first
    played = Episode.read(file)
    assert replay(file) == played
    again = dict.fromkeys(played.header.policies, f"replay,file={file}")
    assert play(model, again, 3).result == played.result


def makers(name: str, spec: str) -> list[Any]:
    """Return the classes and functions that a spec of a world names."""
    seated = assigned(catalog.model(name), read_policies([spec]))
    return [catalog.policy(Spec.read(one).name, model) for one, model in seated]


def differs(name: str, spec: str) -> bool:
    """Return whether on one of five seeds the ledgers end otherwise than on the first."""
    model = short(name)
    ends = (play(model, read_policies([spec]), seed).ledger_digest for seed in range(5))
    first = next(ends)
    return any(other != first for other in ends)


#: The worlds that say whether their draws depend on the seed.
SAYING = [
    name for name in WORLDS if type(catalog.model(name)).deterministic is not Model.deterministic
]
FIXED = [name for name in WORLDS if catalog.model(name).deterministic]


@pytest.mark.parametrize(
    ("name", "spec"),
    first_preset_fast(
        [(n, s) for n, s in CASES if n in FIXED and not any(map(is_drawing, makers(n, s)))]
    ),
    ids=str,
)
def test_a_deterministic_world_is_the_same_on_every_seed(name: str, spec: str) -> None:
    """With every baseline that is not marked as drawing, so a board plays these once."""
    assert not differs(name, spec)


@pytest.mark.parametrize("name", [name for name in SAYING if name not in FIXED])
def test_a_world_with_draws_differs_between_seeds(name: str) -> None:
    """With some baseline that does not draw itself, so one episode would not be enough."""
    specs = [spec for world, spec in CASES if world == name]
    still = [spec for spec in specs if not any(map(is_drawing, makers(name, spec)))]
    assert any(differs(name, spec) for spec in still)


@pytest.mark.parametrize(
    ("name", "spec"),
    first_preset_fast(
        [
            (name, spec)
            for name, spec in CASES
            if lineup_knows(catalog.model(name), read_policies([spec])) in ("observation", "rules")
            if not any(map(is_drawing, makers(name, spec)))
        ]
    ),
    ids=str,
)
def test_a_policy_that_knows_the_seed_is_marked(name: str, spec: str) -> None:
    """The others give the same answers to the same observations when seated at another seed.

    What a policy reads of the model's parameters this does not find: see the twins of each world.
    """
    assert first_difference(catalog.model(name), spec) == ""


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        (name, spec)
        for name in WORLDS
        if catalog.model(name).figures.both_bounds
        for spec in ("random", "greedy", *catalog.baselines(catalog.model(name))[:1])
    ],
    ids=str,
)
def test_no_score_leaves_the_range_that_a_world_declares(name: str, spec: str) -> None:
    """Statements of `compare` and `select` rest on it."""
    model = catalog.model(name)
    assert (bounds := model.figures.both_bounds)
    for seed in range(3):
        assert bounds[0] <= play(model, read_policies([spec]), seed).score <= bounds[1]


@define
class Peeks(Policy):
    """A rule that acts on the world's seed, which no role observes."""

    needs_world_seed = True

    _steps: int = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Take the seed as the length of a step."""
        self._steps = seat.world_seed

    def decide(self, _spot: Spot) -> Go:
        """Take such a step."""
        return Go(self._steps)


def test_a_twin_finds_a_policy_that_peeks() -> None:
    """At its first decision; a policy that does not peek is the same in both."""
    found = first_difference(Walk(), f"{__name__}:Peeks", seed=3)
    assert found == "t=0: {'places': 3}, in the twin {'places': 1}"
    assert first_difference(Walk(), "greedy", Walk(wind=0.0)) == ""


def test_of_the_shipped_policies_one_has_the_worlds_seed_and_knows_observations() -> None:
    """A published bot, whose runner seeds its draws with the world's seed."""
    every = {one for name, spec in CASES for one in makers(name, spec) if one.needs_world_seed}
    assert {one.__name__ for one in every if knows(one) == "observation"} == {"PublishedRandom"}
    assert {"Perfect", "Foresight"} <= {one.__name__ for one in every}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIRST))
def test_hash_seeds_change_nothing(name: str) -> None:
    """The order of a set of objects has no influence on an episode.

    Of the other presets the golden file shows it: it was written by another process than reads it.
    """
    specs = [spec for spec in catalog.baselines(catalog.model(name)) if spec not in SEARCHES]
    code = (
        "import sys; from desim import play; from desim.catalog.policy_spec import read_policies\n"
        "for spec in sys.argv[2:]: print(play(sys.argv[1], read_policies([spec]), 5).summary())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code, name, *specs],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": PYTHONPATH},
            check=True,
            capture_output=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert printed[0] == printed[1] != b""


#: Presets whose checks take seconds; the first preset of their models is always checked.
LONG = {name for name in WORLDS if name.startswith("enterprise") and name not in FIRST}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=SLOW) if name in LONG else name for name in WORLDS]
)
def test_a_world_passes_every_check(name: str) -> None:
    """Statements may be skipped, as not every world has them, and waits of a world of parts."""
    found = check(short(name), seeds=[0])
    others = [one for one in found.findings if one.outcome != "ok"]
    skipped = {("statements", "skipped"), ("waits", "skipped")}
    assert [one for one in others if (one.check, one.outcome) not in skipped] == []
    (futures,) = (one.text for one in found.findings if one.check == "futures")
    assert ("nothing is left to draw" in futures) == name.startswith(NOTHING_LEFT)


@pytest.mark.parametrize("model", sorted(catalog.models()))
def test_every_model_has_a_page(model: str) -> None:
    """The model's README names its revision, every preset and every role."""
    page = (ROOT / "models" / model / "README.md").read_text(encoding="utf-8")
    assert f"\n\nRevision {own_revision(catalog.model_class(model))}.\n\n" in page
    assert [p for p in presets(catalog.model_class(model)) if f"`{p}`" not in page] == []
    assert [r for r in catalog.model(model).roles if r not in page] == []


@pytest.mark.parametrize("name", sorted(catalog.models()))
def test_every_model_says_what_a_redraw_keeps(name: str) -> None:
    """Tables of rollouts name it; where nothing is declared they could not."""
    assert catalog.model(name).kept is not None
