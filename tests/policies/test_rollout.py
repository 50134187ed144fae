"""Rollouts over the options of a role: gain over a bad rule, notes, limits, every world."""

from pathlib import Path

import pytest
from attrs import define, frozen
from support.recorded import played_lines
from support.small_worlds import WALK, Go, Spot

from desim import Policy, catalog, play, replay, resume
from desim.catalog.presets import presets
from desim.core.limits import Limits
from desim.core.policy import knows
from desim.engine.fingerprint import code_topics
from desim.engine.grid import grid
from desim.episodes.lineup import lineup_knows, resolve
from desim.errors import LimitReached, PolicyFailed, UsageError
from models.beer_game import BeerGame
from policies.rollout import Rollout

GAME = BeerGame.preset("poisson", horizon=12)
SPEC = "rollout,base=constant+quantity=8,samples=2,candidates=3"


def test_two_plays_are_equal_and_replay(tmp_path: Path) -> None:
    """Notes included; a cut record is resumed to the same lines."""
    file, again = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    episode = play(GAME, SPEC, 3, record=file)
    play(GAME, SPEC, 3, record=again)
    text = file.read_bytes()
    assert text == again.read_bytes()
    assert replay(file).result == episode.result
    file.write_bytes(b"".join(text.splitlines(keepends=True)[:6]))
    assert resume(file).result == episode.result
    assert played_lines(file) == played_lines(again)


def test_notes_say_what_was_taken() -> None:
    """The place among the candidates, and the gain with its standard error."""
    notes = [step.notes for step in play(GAME, SPEC, 3).steps]
    taken = [note for note in notes if note and note["taken"]]
    assert taken
    assert all(note["gain"] > note["error"] >= 0 for note in taken)
    rest = [note for note in notes if note and not note["taken"]]
    assert all(note["gain"] == 0 for note in rest)


def test_the_base_decides_where_nothing_is_surely_better() -> None:
    """With a large margin the episode is the base's, that of a rule with a memory too."""
    for base in ("typical", "moving_average"):
        spec = f"rollout,base={base},samples=2,depth=2,margin=1e9"
        assert play(GAME, spec, 1).ledger_digest == play(GAME, base, 1).ledger_digest


def test_a_world_without_chance_is_played_ahead_to_the_tick() -> None:
    """One future is as good as many: every difference is sure."""
    model = catalog.model(f"{WALK}/long", "", {"wind": "0"})
    ahead = play(model, {"walker": f"rollout,base={__name__}:Stands,samples=2"}, 0)
    assert [step.action for step in ahead.steps] == [Go(2)] * 9


@frozen
class Stands(Policy):
    """Stays where it is."""

    def decide(self, _: Spot) -> Go:
        """Go nowhere."""
        return Go(0)


def test_other_seats_have_a_policy_of_their_own() -> None:
    """The base where none is given."""
    model = catalog.model(WALK)
    for others in ("", ",others=random"):
        spec = f"rollout,base={__name__}:Stands,samples=2{others}"
        episode = play(model, {"walker": spec, "helper": "greedy"}, 0)
        assert [s.action for s in episode.steps if s.role == "walker"] == [Go(2)] * 3


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("rollout,samples=1", "'samples' must be >= 2: 1"),
        ("rollout,base=unknown", "there is no policy 'unknown' for beer_game"),
        ("rollout,base=rollout", "'rollout' cannot play in rollouts: it looks ahead itself"),
        ("rollout,base=perfect", "needs the world.s seed, and cannot be built inside a policy"),
        ("rollout,base=typical+no=1", "policy 'typical,no=1' has no argument 'no'"),
    ],
)
def test_wrong_arguments_are_refused_before_the_first_decision(
    spec: str, text: str, tmp_path: Path
) -> None:
    """No record is begun."""
    file = tmp_path / "run.jsonl"
    with pytest.raises(UsageError, match=text):
        play(GAME, spec, record=file)
    assert not file.exists()


@define
class Counts(Policy):
    """A rule that fails where the place is not what its own steps have led to."""

    places: int = 0

    def decide(self, spot: Spot) -> Go:
        """Go one place."""
        if spot.place != self.places:
            raise ValueError("lost")
        self.places += 1
        return Go(1)


def test_a_base_that_relies_on_its_own_actions_fails() -> None:
    """The error says what it had to cope with."""
    model = catalog.model(WALK, "", {"wind": "0"})
    with pytest.raises(PolicyFailed, match="actions that were not all its own: ValueError: lost"):
        play(model, {"walker": f"rollout,base={__name__}:Counts,samples=2"}, 0)


def test_outside_an_episode_it_cannot_decide() -> None:
    """It has no past to play ahead from."""
    policy = resolve(GAME, "rollout", 0).policies["retailer"]
    with pytest.raises(UsageError, match="needs an episode to play ahead from"):
        policy.decide(None, GAME.roles["retailer"])


def test_it_knows_the_rules_and_what_a_redraw_keeps() -> None:
    """Its futures follow the world's constants; what its base knows counts as well."""
    assert knows(Rollout) == knows(Rollout, GAME) == "rules"
    assert knows(Rollout, BeerGame.preset("firmbench")) == "state"
    assert lineup_knows(GAME, "rollout,base=foresight") == "future"


def test_a_sweep_depends_on_the_base() -> None:
    """Its code counts, as that of a policy that plays itself."""
    for base, counts in (("greedy", False), ("base_stock", True)):
        topics = code_topics(grid("beer_game", [f"rollout,base={base}"], [0]).cells[0].parts)
        assert ("the code of policies/heuristics/beer_game" in topics) is counts


#: Worlds in which a role decides once.
SHORT = {"edt/published"}

#: The first preset of each world.
FIRST = [f"{name}/{presets(cls)[0]}" for name, cls in catalog.models().items()]


@pytest.mark.parametrize("world", [*FIRST, "beer_game/poisson", "edt/interactive"])
def test_every_world_is_played_ahead(world: str) -> None:
    """The first decisions of an episode; rollouts go to its end."""
    model = catalog.model(world)
    spec = "rollout,samples=2,candidates=1,depth=0"
    if world in SHORT:
        assert play(model, spec, 1).steps
    else:
        with pytest.raises(LimitReached, match="2 decisions"):
            play(model, spec, 1, limits=Limits(decisions=2))
