"""What holds for every world and every baseline, present and future.

To renew a golden record on purpose: `desim run MODEL ... --record tests/golden/NAME.jsonl`; digests
are renewed by `tests/golden/write.py`. Say why in the commit.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from golden.write import SEEDS, line
from support.cases import SEARCHES, first_difference, printed_alike
from support.extreme_actions import Extremes
from support.paths import ROOT, TESTS
from support.small_worlds import Go, Spot, Walk

from desim import Episode, Model, Policy, Run, Seat, catalog, check, play, replay
from desim.catalog.model_finder import everything
from desim.catalog.policy_spec import Spec, read_policies
from desim.catalog.presets import presets
from desim.composition.parts_model import PartsModel
from desim.core.events import Decision
from desim.core.limits import Limits
from desim.core.model import own_revision
from desim.core.policy import is_drawing, knows
from desim.core.world import World
from desim.episodes.lineup import assigned, lineup_knows
from desim.episodes.replay import open_decisions
from desim.errors import LimitReached, Stuck, WrongAction
from desim.schema import codec, encode

SLOW = pytest.mark.slow
WORLDS = everything()
#: The first preset of each model is always tested; the others take minutes and are slow tests.
FIRST = sorted(f"{name}/{presets(cls)[0]}" for name, cls in catalog.models().items())
EACH = [name if name in FIRST else pytest.param(name, marks=SLOW) for name in WORLDS]
SPECS = {name: catalog.baselines(catalog.model(name)) for name in WORLDS}

#: Shorter episodes of what takes seconds, with all that happens from outside.
SHORTER = {"enterprise": {"months": "12"}}


def short(name: str) -> Model[Any]:
    """Return a world, with shorter episodes where these take seconds."""
    world, _, preset = name.partition("/")
    return catalog.model(world, preset, SHORTER.get(world))


def makers(name: str, spec: str) -> list[Any]:
    """Return the classes and functions that a spec of a world names."""
    seated = assigned(catalog.model(name), read_policies([spec]))
    return [catalog.policy(Spec.read(one).name, model) for one, model in seated]


def brief(name: str) -> list[str]:
    """Return the baselines that are no search."""
    return [spec for spec in SPECS[name] if spec not in SEARCHES]


def still(name: str) -> list[str]:
    """Return those of them that do not draw."""
    return [spec for spec in brief(name) if not any(map(is_drawing, makers(name, spec)))]


# -- golden files ----------------------------------------------------------------------------------

DIGESTS = (TESTS / "golden" / "digests.tsv").read_text(encoding="utf-8").splitlines()
RECORDS = sorted((TESTS / "golden").glob("*.jsonl"))


@pytest.mark.parametrize("world", WORLDS)
def test_the_first_seed_of_every_baseline_is_unchanged(world: str) -> None:
    """Compared to the last bit of its score and ledgers; a new rule brings its lines."""
    for spec in SPECS[world]:
        known = [one for one in DIGESTS if one.startswith(f"{world}\t{spec}\t")]
        assert len(known) == len(SEEDS)
        assert spec in SEARCHES or line(world, spec, 0) == known[0]


def test_the_golden_file_has_no_line_of_a_rule_that_is_gone() -> None:
    """Nor of a world."""
    assert len(DIGESTS) == sum(map(len, SPECS.values())) * len(SEEDS)


@SLOW
@pytest.mark.parametrize("world", WORLDS)
def test_two_further_seeds_of_every_baseline_are_unchanged(world: str) -> None:
    """Of a search, or where all seeds are equal, one."""
    for spec in SPECS[world]:
        once = spec in SEARCHES or catalog.model(world).deterministic
        for seed in SEEDS[1 : 2 if once else 3]:
            assert line(world, spec, seed) in DIGESTS


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_the_golden_episode_is_played_again_line_by_line(file: Path, tmp_path: Path) -> None:
    """Model, seed and policies give the same decisions and result; the header may differ."""
    golden, new = Episode.read(file), tmp_path / "now.jsonl"
    head = golden.header
    play(head.build(), head.policies, head.seed, record=new)
    then, now = (path.read_text().splitlines() for path in (file, new))
    assert now[1:-1] == then[1:-1]
    assert Episode.read(new).result == golden.result


# -- the same episode again ------------------------------------------------------------------------


@pytest.mark.parametrize("name", EACH)
def test_model_seed_and_answers_fix_the_episode(name: str, tmp_path: Path) -> None:
    """Two records are the same to the byte, and each replays.

    The recorded answers are a policy: given to the same roles they lead to the same result, ledgers
    included.
    """
    model, (first, *_, last) = short(name), brief(name)
    for number, spec in enumerate((first, last)):
        files = [tmp_path / f"{number}{copy}.jsonl" for copy in "ab"]
        for file in files:
            play(model, read_policies([spec]), 3, record=file)
        assert files[0].read_bytes() == files[1].read_bytes()
        played = Episode.read(files[0])
        assert replay(files[0]) == played
        again = dict.fromkeys(played.header.policies, f"replay,file={files[0]}")
        assert play(model, again, 3).result == played.result


@pytest.mark.parametrize("name", EACH)
def test_seeds_differ_where_the_world_draws(name: str) -> None:
    """With some baseline that does not draw itself; a deterministic world is always the same."""
    model = short(name)

    def differs(spec: str) -> bool:
        ends = (play(model, read_policies([spec]), seed).ledger_digest for seed in range(5))
        first = next(ends)
        return any(other != first for other in ends)

    if model.deterministic:
        assert not any(map(differs, still(name)))
    elif type(model).deterministic is not Model.deterministic:
        assert any(map(differs, still(name)))


@SLOW
@pytest.mark.parametrize("name", FIRST)
def test_hash_seeds_change_nothing(name: str) -> None:
    """The order of a set of objects has no influence on an episode."""
    code = (
        "import sys; from desim import play; from desim.catalog.policy_spec import read_policies\n"
        "for spec in sys.argv[2:]: print(play(sys.argv[1], read_policies([spec]), 5).summary())"
    )
    assert printed_alike(code, name, *brief(name)) != b""


# -- what policies know ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EACH)
def test_a_policy_that_knows_the_seed_is_marked(name: str) -> None:
    """The others give the same answers to the same observations when seated at another seed.

    What a policy reads of the model's parameters this does not find: see the twins of each world.
    """
    model = catalog.model(name)
    for spec in still(name):
        if lineup_knows(model, read_policies([spec])) in ("observation", "rules"):
            assert first_difference(model, spec) == ""


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
    cases = [(name, spec) for name in WORLDS for spec in SPECS[name]]
    every = {one for case in cases for one in makers(*case) if one.needs_world_seed}
    assert {one.__name__ for one in every if knows(one) == "observation"} == {"PublishedRandom"}
    assert {"Perfect", "Foresight"} <= {one.__name__ for one in every}


# -- what a world declares -------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_no_score_leaves_the_range_that_a_world_declares(name: str) -> None:
    """Statements of `compare` and `select` rest on it."""
    model = catalog.model(name)
    if bounds := model.figures.both_bounds:
        for spec in ("random", "greedy", *SPECS[name][:1]):
            for seed in range(3):
                assert bounds[0] <= play(model, read_policies([spec]), seed).score <= bounds[1]


@pytest.mark.parametrize("name", EACH)
def test_a_world_passes_every_check(name: str) -> None:
    """Statements may be skipped, as not every world has them, and waits of a world of parts."""
    found = check(short(name), seeds=[0])
    others = [one for one in found.findings if one.outcome != "ok"]
    skipped = {("statements", "skipped"), ("waits", "skipped")}
    assert [one for one in others if (one.check, one.outcome) not in skipped] == []
    (futures,) = (one.text for one in found.findings if one.check == "futures")
    # The seed chooses the case alone, which the candidate knows from the first message on.
    assert ("nothing is left to draw" in futures) == name.startswith("consulting/")


@pytest.mark.parametrize("model", sorted(catalog.models()))
def test_every_model_has_a_page_and_says_what_a_redraw_keeps(model: str) -> None:
    """The README names the revision, every preset and every role."""
    page = (ROOT / "models" / model / "README.md").read_text(encoding="utf-8")
    assert f"\n\nRevision {own_revision(catalog.model_class(model))}.\n\n" in page
    assert [p for p in presets(catalog.model_class(model)) if f"`{p}`" not in page] == []
    assert [r for r in catalog.model(model).roles if r not in page] == []
    assert catalog.model(model).kept is not None
    assert any(Episode.read(file).header.model == model for file in RECORDS)


# -- random and extreme actions --------------------------------------------------------------------

#: Limits of an episode; the next one has the next seed.
LIMITS = Limits(decisions=400, events=100_000)


@define
class Attack:
    """Answers the roles of a model, and counts accepted and wrong answers by role.

    An exception other than `WrongAction` fails the test where it is raised.
    """

    model: Model[Any]
    chance: random.Random
    counts: Counter[tuple[str, str]] = field(factory=Counter)

    def run(self, actions: int, seed: int) -> None:
        """Give so many answers; every other episode is played by all roles of the model."""
        while self.counts.total() < actions:
            run = Run(self.model, seed, [*self.model.roles] if seed % 2 else None, LIMITS)
            makers = {
                name: Extremes(codec(role.action), self.chance) for name, role in run.roles.items()
            }
            try:
                for decision in open_decisions(run):
                    self._look(run, decision)
                    self._answer(run, decision, makers[decision.role])
                run.result()
            except (Stuck, LimitReached):
                pass
            seed += 1

    def _look(self, run: Run[Any], decision: Decision) -> None:
        """Read all that the framework reads at a decision; tables are slow, so not every time."""
        role, seen, model = run.roles[decision.role], decision.observation, run.model
        encode(seen)
        role.default_for(seen)
        for option in role.options(seen) if role.options else ():
            codec(role.action).take(option.action)
        if model.tables and self.counts[decision.role, "accepted"] % 7 == 0:
            encode(model.tables(run.state, decision.role))

    def _answer(self, run: Run[Any], decision: Decision, maker: Extremes) -> None:
        """Answer until an action is accepted; of what is recorded the same action is read."""
        name, role = decision.role, run.roles[decision.role]
        maker.know(decision.observation)
        for _ in range(50):
            given = maker.action()
            if self.chance.random() < 0.2:  # a sensible one, so that an episode gets somewhere
                options = role.options(decision.observation) if role.options else ()
                sensible = [one.action for one in options]
                given = self.chance.choice(sensible or [role.default_for(decision.observation)])
            try:
                run.answer(decision, given)
            except WrongAction as wrong:
                assert len(str(wrong)) < 2_000  # noqa: PT017 (most are accepted)
                self.counts[name, "wrong"] += 1
                continue
            self.counts[name, "accepted"] += 1
            again, _ = codec(role.action).take(json.loads(decision.wire))
            assert repr(again) == repr(decision.action)
            return
        run.answer(decision, role.default_for(decision.observation))


@pytest.mark.parametrize("world", EACH)
def test_extreme_actions_are_accepted_or_refused(world: str) -> None:
    """In two episodes at least; roles of a world of parts may be asked later than that."""
    attack = Attack(catalog.model(world), random.Random(0))  # noqa: S311 (no secret)
    attack.run(90, 0)
    asked = {role for role, _ in attack.counts}
    assert asked == set(attack.model.roles) or attack.model.models
    assert all(attack.counts[role, "accepted"] for role in asked)


@pytest.mark.parametrize(
    ("world", "action"),
    [
        ("enterprise_arena", {"do": "recall_notes", "limit": 9223372036854775808}),
        ("enterprise_arena", {"do": "save_note", "content": "x" * 100_001}),
        ("enterprise_arena", {"do": "fund_raising_request", "type": "debt", "amount": 10**400}),
        ("yc_bench", {"do": "market_browse", "offset": 10**19}),
        ("yc_bench", {"do": "scratchpad_write", "content": "\ud800"}),
        ("edt/interactive", {"do": "hire", "consultants": 10**30}),
        ("edt", {"do": "decide", "consultants": 10**19, "revenue_risk": 0.5, "projects": []}),
        ("beer_game", {"do": "order", "quantity": 1e300}),
    ],
)
def test_what_no_world_can_stand_is_wrong(world: str, action: dict[str, Any]) -> None:
    """It is refused where it crosses the kernel, in a short text, and the game goes on."""
    run = Run(catalog.model(world), 1)
    [decision, *_] = run.advance()
    with pytest.raises(WrongAction) as wrong:
        run.answer(decision, action)
    assert len(str(wrong.value)) < 2_000
    run.answer(decision, run.roles[decision.role].default_for(decision.observation))


# -- redrawn futures -------------------------------------------------------------------------------


def worlds_of(run: Run[Any]) -> Iterator[World]:
    """Yield the world of a run and those of its parts."""
    yield run.world
    if isinstance(run.model, PartsModel):
        for part in run.model.group_of(run.state).parts.values():
            assert part.world is not None
            yield part.world


def times(model: Any, at: int, future: int) -> list[list[int]]:
    """Return by world the times of the events that are pending after a redraw.

    Random options are taken at the decisions before it.
    """
    draws = random.Random(0)  # noqa: S311 (no secret)
    run = Run(model, 1, model.default_roles)
    for number, one in enumerate(open_decisions(run)):
        if number == at:
            break
        run.answer(one, draws.choice(one.spec.options(one.observation)).action)
    run.redraw(future)
    return [
        sorted(entry[0] for entry in world._queue if entry[3].callbacks) for world in worlds_of(run)
    ]


@pytest.mark.parametrize("world", FIRST)
def test_times_that_a_role_knows_are_the_same_in_all_futures(world: str) -> None:
    """An answer of investors comes at another month, and so it may in a group with a lender."""
    model = catalog.model(world)
    differ = [len({str(times(model, at, f)) for f in (1, 2, 3)}) > 1 for at in (3, 10, 30)]
    assert not any(differ) or world.startswith("enterprise")


def test_the_times_of_outcomes_are_drawn_anew() -> None:
    """Of requests for funding that are under way; the officer knows the range of months alone."""
    model = catalog.model("enterprise_arena/regime")
    assert any(len({str(times(model, at, f)) for f in (1, 2, 3)}) > 1 for at in range(10, 60, 10))
