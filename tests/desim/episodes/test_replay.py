"""Verified replay: the same answers give the same episode, or the first difference is named."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desim import Episode, Policy, branch, catalog, play, replay
from desim.errors import BadRecord, PolicyFailed, UsageError
from models.beer_game import BeerGame, Order, Stage

Lines = list[dict[str, Any]]
PRESETS = [f"{name}/{preset}" for name, cls in catalog.models().items() for preset in cls.presets]


def seal(file: Path, lines: Lines) -> None:
    """Write lines as a record whose digest fits them, as a forger would."""
    lines[-1].pop("record_digest", None)
    body = b"\n".join(json.dumps(line, separators=(",", ":")).encode() for line in lines)[:-1]
    whole = body + b',"record_digest":"%b"}\n' % hashlib.sha256(body).hexdigest().encode()
    file.write_bytes(gzip.compress(whole) if file.suffix == ".gz" else whole)


def opened(file: Path) -> Lines:
    """Return the lines of a record as objects."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_parameter_that_was_changed_is_replayed(tmp_path: Path) -> None:
    """The record holds the parameters, not only the name of a preset."""
    game = BeerGame.preset("poisson", demand="normal:5.25:1.5", holding_cost=0.125, horizon=20)
    played = play(game, "sterman", 11, record=tmp_path / "run")
    assert replay(tmp_path / "run").header.build() == game
    assert Episode.read(tmp_path / "run").score == played.score


def test_fractions_and_large_numbers_replay_exactly(tmp_path: Path) -> None:
    """JSON can represent every float and every whole number."""
    odd = iter([0.1, 1 / 3, 10**18, 2**53 + 1, 5e-324, -3, 1e17, 12345.678])

    class Odd(Policy):
        def decide(self, stage: Stage) -> Order:
            return Order(next(odd))

    game = BeerGame(horizon=8, whole_units=False)
    assert play(game, Odd(), record=tmp_path / "run").result == replay(tmp_path / "run").result


def change(*path: Any, to: Any) -> Callable[[Lines], None]:
    """Return a function that changes one value of a record's lines."""

    def forge(lines: Lines) -> None:
        *way, last = path
        inner: Any = lines
        for key in way:
            inner = inner[key]
        inner[last] = to

    return forge


def drop(*numbers: int) -> Callable[[Lines], None]:
    """Return a function that removes lines."""

    def forge(lines: Lines) -> None:
        for number in sorted(numbers, reverse=True):
            del lines[number]

    return forge


def repeat(number: int) -> Callable[[Lines], None]:
    """Return a function that repeats a line."""
    return lambda lines: lines.insert(number, lines[number])


@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (
            change(4, "action", "quantity", to=7),
            r"decision 5 \(t=4, 'retailer'\) differs: \$\.observation\.last_order was 800, now 7",
        ),
        (
            change(3, "observation", "backlog", to=-1),
            r"decision 3 \(t=2, 'retailer'\) differs: \$\.observation\.backlog was -1, now \d+",
        ),
        (
            change(2, "t", to=9),
            r"decision 2 \(t=9, 'retailer'\) differs: \$\.t was 9, now 1",
        ),
        (
            change(1, "action", to={"do": "ordr", "quantity": 1}),
            "decision 1: 'retailer' answered at t=0: .* did you mean 'order'",
        ),
        (drop(6), "the record ends after 5 decisions, but 'retailer' is asked at t=5"),
        (repeat(6), "decision 7: the record goes on, but the episode has ended"),
        (change(-1, "score", to=-1.0), r"the result differs: \$\.score was -1\.0, now -\d+"),
        (change(-1, "metrics", "cost_brewery", to=0), r"\$\.metrics\.cost_brewery was 0, now"),
        (
            change(0, "params", "target_inventory", to=1),
            r"decision 1 .*\$\.observation\.inventory was 400, n",
        ),
        (change(0, "params", "horizon", to=0), r"Expected `int` >= 1 - at `params\.horizon`"),
        (change(0, "model", to="beer_gme"), "written for beer_gme .*did you mean 'beer_game'"),
        (change(0, "model", to="json:JSONDecoder"), "written for json:JSONDecoder.*is no model"),
        (change(0, "seed", to=-1), "a seed is a whole number of at least 0"),
        (change(0, "policies", to={"brewer": "typical"}), "no role 'brewer'; did you mean 'brew"),
        (change(0, "format", to="desim-episode/1"), "has format 'desim-episode/1'; this desim"),
    ],
    ids=range(15),
)
def test_the_first_difference_is_named(
    tmp_path: Path, forge: Callable[[Lines], None], says: str
) -> None:
    """Also in a record whose digest fits its lines."""
    file = tmp_path / "run"
    play(BeerGame(horizon=6), "base_stock,target=500", record=file)
    lines = opened(file)
    forge(lines)
    seal(file, lines)
    with pytest.raises(BadRecord, match=says) as refused:
        replay(file)
    assert str(refused.value).startswith(str(file))
    assert str(refused.value).count(str(file)) == 1


def test_sealing_alone_changes_nothing(tmp_path: Path) -> None:
    """A record that these tests have only rewritten replays."""
    file = tmp_path / "run"
    played = play(BeerGame(horizon=6), "typical", record=file)
    seal(file, opened(file))
    assert replay(file).result == played.result


def test_metrics_that_the_record_does_not_have_are_not_compared(tmp_path: Path) -> None:
    """A record replays where its world reports more metrics since; one that is missing fails."""
    file = tmp_path / "run"
    play(BeerGame(horizon=6), "typical", record=file)
    lines = opened(file)
    del lines[-1]["metrics"]["cost_brewery"]
    seal(file, lines)
    assert "cost_brewery" not in replay(file).metrics
    lines[-1]["metrics"]["cost_of_old"] = 3
    seal(file, lines)
    with pytest.raises(BadRecord, match=r"the result differs: .*cost_of_old"):
        replay(file)


def test_a_model_of_the_users_own_replays(tmp_path: Path, own_model: None) -> None:
    """The header names it as `module:Class`."""
    played = play("other_model:Other", "greedy", record=tmp_path / "run")
    assert played.header.model == "other_model:Other"
    assert replay(tmp_path / "run").result == played.result


def test_another_model_with_the_same_roles_differs(tmp_path: Path, own_model: None) -> None:
    """The header names another model, whose observations differ."""
    file = tmp_path / "run"
    play(BeerGame(horizon=6), "typical", record=file)
    lines = opened(file)
    lines[0] |= {"model": "other_model:Other", "params": {}}
    seal(file, lines)
    with pytest.raises(BadRecord, match=r"decision 1 .*differs"):
        replay(file, trust=True)


@pytest.fixture
def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a user's model where `module:Class` finds it."""
    (tmp_path / "other_model.py").write_text(
        "from attrs import frozen\n"
        "from desim import Model\n"
        "from models.beer_game import BeerGame\n"
        "@frozen\n"
        "class Other(Model):\n"
        "    roles = property(lambda self: BeerGame().roles)\n"
        "    default_roles = ('retailer',)\n"
        "    def begin(self, world): return BeerGame(target_inventory=7).begin(world)\n"
        "    def score(self, state): return 0.0\n"
        "    def metrics(self, state): return {}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_cut_record_is_not_replayed(tmp_path: Path) -> None:
    """It has no result to compare."""

    class Dies(Policy):
        def decide(self, stage: Stage) -> Order:
            if stage.week == 3:
                raise OSError
            return Order(1)

    with pytest.raises(PolicyFailed):
        play(BeerGame(), Dies(), record=tmp_path / "run")
    with pytest.raises(BadRecord, match="was cut after 3 decisions"):
        replay(tmp_path / "run")


# -- branches --------------------------------------------------------------------------------------

GAME = BeerGame.preset("poisson", horizon=6)


def played_on(run: object, quantity: int) -> list[int]:
    """Answer all open decisions until the end and return how many each tick had."""
    counts = []
    while opened := run.open:  # type: ignore[attr-defined]
        counts.append(len(opened))
        for decision in opened:
            run.answer(decision, Order(quantity))  # type: ignore[attr-defined]
        run.advance()  # type: ignore[attr-defined]
    return counts


@pytest.fixture
def episode() -> Episode:
    """Play two stages, so that each tick has two decisions."""
    return play(GAME, {"retailer": "typical", "factory": "greedy"}, 4)


def test_a_branch_at_the_end_is_the_episode(episode: Episode) -> None:
    """Nothing is open and the result is the same."""
    run = branch(episode)
    assert run.open == []
    assert run.result() == episode.result


def test_a_branch_in_the_middle_of_a_tick_leaves_the_rest_of_it_open(episode: Episode) -> None:
    """Three answers given: the fourth is open, then two a week."""
    run = branch(episode, 3)
    assert [d.role for d in run.open] == ["factory"]
    assert run.world.now == 2
    assert played_on(run, 0) == [1, 2, 2, 2, 2]
    assert run.result() != episode.result


def test_other_decisions_change_no_earlier_ones(episode: Episode) -> None:
    """Equal answers give equal ledgers, other answers give others."""
    ends = {quantity: branch(episode, 4) for quantity in (0, 9)}
    for quantity, run in ends.items():
        played_on(run, quantity)
    assert ends[0].result().ledger_digest != ends[9].result().ledger_digest
    assert branch(episode).result() == episode.result


def test_a_branch_at_the_start_repeats_no_answer(episode: Episode) -> None:
    """Only model and seed are those of the episode."""
    run = branch(episode, 0)
    assert run.world.now == 1
    assert len(run.open) == 2


@pytest.mark.parametrize("decisions", [-1, 13])
def test_a_number_of_decisions_out_of_range_is_refused(episode: Episode, decisions: int) -> None:
    """The error names both numbers."""
    with pytest.raises(UsageError, match=f"{decisions} decisions were given; the episode has 12"):
        branch(episode, decisions)
