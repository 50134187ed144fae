"""Which decisions of a record cost most."""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from support.small_worlds import Go, Spot, Stride, Walk
from support.stub import Served, serving, text

from desim import Episode, Option, play
from desim.episodes.counterfactual import Past
from desim.errors import PolicyFailed, UsageError
from desim.studies.regret import of_options, regret
from models.beer_game import BeerGame, Order, Stage, stage

GAME = evolve(BeerGame.preset("poisson"), horizon=14)


def absurd(stage: Stage) -> Order:
    """Order sensibly, but in week 6."""
    return Order(60 if stage.week == 6 else max(0, 20 - int(stage.position)))


def panics(number: int, _body: object) -> Served:
    """A language model that orders the mean demand, and panics in weeks 4 and 11."""
    return text(json.dumps({"order_qty": {3: 60, 10: 40}.get(number, 4), "note": ""}))


def fails_late(spot: Spot) -> Go:
    """Fail in the last step."""
    if spot.step == 2:
        raise RuntimeError("out of order")
    return Go(1)


@pytest.fixture(scope="module")
def bad() -> Episode:
    """A game with one absurd order among sensible ones."""
    return play(GAME, {"retailer": absurd}, seed=3)


def test_the_absurd_order_is_named_first(bad: Episode) -> None:
    """With an interval above 0, and as the only one that costs much."""
    found = regret(bad, "order_up_to", futures=16, decisions=slice(4, 9))
    first, second = found.ranked[:2]
    assert (first.place.at, first.place.t, first.place.role) == (6, 6, "retailer")
    assert first.recorded == {"do": "order", "quantity": 60}
    assert first.found is not None
    assert first.found.low is not None
    assert first.found.low > 20
    assert first.found.n == 8
    assert second.cost < first.cost / 10
    assert [line.place.at for line in found.lines] == list(range(4, 9))
    text = str(found)
    assert text.splitlines()[1].startswith("6   t=6")
    assert "half of the futures choose the best of several options and the others estimate" in text
    assert "all hold together (Bonferroni)" in text
    assert "do not add up to a loss" in text


@pytest.mark.slow
def test_a_language_model_that_panics_in_two_weeks(tmp_path: Path) -> None:
    """These weeks lead the table, and nothing else costs half as much; the model is not asked."""
    file = tmp_path / "model.jsonl"
    with serving(panics) as stub:
        game = evolve(GAME, horizon=20)
        play(game, f"llm,model=stub,base_url={stub.url}", seed=3, record=file)
    found = regret(file, "order_up_to", futures=6, most_options=4)
    assert [line.place.t for line in found.ranked[:2]] == [4, 11]
    assert all(line.costs for line in found.ranked[:2])
    assert found.ranked[2].cost < found.ranked[1].cost / 2


def test_a_recorded_action_among_the_options_is_judged_as_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It comes first among the actions, whatever its place among the options."""
    offered = [Option(Order(units), 0.0) for units in (0, 8, 12)]
    monkeypatch.setattr(stage, "options", lambda _model, _stage: offered)
    game = play(GAME, {"retailer": lambda _: Order(8)}, seed=3)
    assert of_options(Past.read(game), 5, 9).actions == (Order(8), Order(0), Order(12))
    [line] = regret(game, "order_up_to", futures=2, decisions=slice(6, 7)).lines
    assert line.recorded == {"do": "order", "quantity": 8}
    assert line.played == 2


def test_a_good_player_has_little_to_regret() -> None:
    """Sensible orders against all options: the best of many noisy means is no mistake."""
    good = play(GAME, {"retailer": "order_up_to"}, seed=5)
    found = regret(good, "order_up_to", futures=8, decisions=slice(1, None, 4))
    assert len(found.costly) <= 1
    own = regret(good, "order_up_to", against="order_up_to", futures=2)
    assert own.ranked == []
    assert "14 were the same action" in str(own)


def test_workers_and_repetitions_change_nothing(bad: Episode, tmp_path: Path) -> None:
    """Nor does it matter whether the record is in memory or on disk."""
    file = tmp_path / "bad.jsonl"
    bad.write(file)
    given: Any = {"decisions": slice(4, 7), "futures": 4}
    once = regret(bad, "order_up_to", **given)
    assert once == regret(file, "order_up_to", **given)
    assert once == regret(file, "order_up_to", jobs=2, **given)
    told: list[tuple[int, int]] = []
    regret(file, "order_up_to", progress=lambda *done: told.append(done), **given)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1][0] == told[-1][1]


def test_hindsight_and_one_future(bad: Episode) -> None:
    """One number each, without an interval; the table says so."""
    late: Any = {"decisions": slice(6, 7)}
    [hindsight] = regret(bad, "order_up_to", futures=None, **late).lines
    [single] = regret(bad, "order_up_to", futures=1, **late).lines
    for line in (hindsight, single):
        assert line.found is not None
        assert (line.found.n, line.found.low) == (1, None)
        assert not line.costs
    assert hindsight.cost != single.cost
    true, one = (str(regret(bad, "order_up_to", futures=futures, **late)) for futures in (None, 1))
    assert "hindsight: played in the future that came" in true
    assert "a single future does both" in one
    assert "one future gives no interval" in one


def test_a_policy_is_compared_with_the_record(bad: Episode) -> None:
    """All futures estimate, as nothing is chosen; JSON has every decision."""
    late: Any = {"decisions": slice(5, 8)}
    found = regret(bad, "order_up_to", against="constant,quantity=4", futures=6, **late)
    line = found.lines[1]
    assert line.best == {"do": "order", "quantity": 4}
    assert line.found is not None
    assert line.found.n == 6
    plain = found.plain()
    assert len(plain["decisions"]) == 3
    assert plain["against"] == "constant,quantity=4"
    assert plain["decisions"][1]["costs"] is True


@pytest.mark.parametrize("given", [Go(4), {"do": "go", "places": 4}, '{"do": "go", "places": 4}'])
def test_an_action_is_compared_with_the_record(given: Any) -> None:
    """Both meet the same gusts, so that the difference has no spread."""
    walk = play(Walk(steps=5), Stride(2), seed=2)
    found = regret(walk, Stride(1), against=given, decisions=slice(2, 3), futures=9)
    [line] = found.lines
    assert line.found is not None
    assert (line.found.mean, line.found.sd, line.found.n) == (2, 0, 9)
    assert found.against == '{"do":"go","places":4}'
    assert "mean score with {" in str(found)
    with pytest.raises(UsageError, match="the action for 'walker' does not fit"):
        regret(walk, Stride(1), against={"do": "fly"})


def test_the_decisions_of_each_role(tmp_path: Path) -> None:
    """Two roles that decide at the same tick; a cut record; the wanted ones alone."""
    file = tmp_path / "two.jsonl"
    play(GAME, {"retailer": absurd, "wholesaler": "typical"}, seed=3, record=file)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:15]))
    then = {"retailer": "order_up_to", "wholesaler": "typical"}
    both = regret(file, then, futures=2, decisions=slice(9, None))
    assert [line.place.role for line in both.lines] == ["retailer", "wholesaler"] * 3
    assert "role" in str(both).splitlines()[0]
    one = regret(file, then, role="wholesaler", futures=2, decisions=slice(None, None, 3))
    assert [line.place.at for line in one.lines] == [4, 10]
    only = regret(file, then, against={"wholesaler": "order_up_to"}, futures=2)
    assert {line.place.role for line in only.lines} == {"wholesaler"}


def test_hidden_facts_that_stay_are_named() -> None:
    """And how many options were left out, of which the one of the highest value is none."""
    walk = play(Walk(steps=2), Stride(3))
    text = str(regret(walk, Stride(1), futures=2, most_options=1))
    said = "hidden facts stayed, so the differences depend on these as well: whatever the model"
    assert said in text
    assert "what no role could have observed" not in text
    assert "2 decisions had up to 1 more options than were played" in text
    [first, _] = regret(walk, Stride(1), futures=2, most_options=1).lines
    assert first.best == {"do": "go", "places": 2}
    assert first.cost == -1


def test_what_cannot_be_judged(bad: Episode) -> None:
    """One sentence that says what is possible."""
    for given, says in (
        ({"then": "order_up_to", "jobs": 0}, "jobs=0 was given"),
        ({"then": "order_up_to", "kinds": ["ordr"]}, "was 'ordr'; did you mean 'order'"),
        ({"then": None}, "say who plays on .* with --then SPEC"),
        (
            {"then": "order_up_to", "role": "brewer"},
            "no policy plays 'brewer'.* are retailer",
        ),
        ({"then": "order_up_to", "decisions": slice(15, None)}, "it has 14: 1 to 14"),
        ({"then": "order_up_to", "decisions": slice(0, 4)}, "the first decision is 1"),
        ({"then": "order_up_to", "futures": 0}, "0 futures were given; 1 to 100,000"),
        ({"then": "order_up_to", "most_options": 0}, "0 options were given"),
        ({"then": "order_up_to", "level": 1.0}, "level 1.0 was given"),
        ({"then": "foresight"}, "'foresight' cannot play in branches: it knows hidden state"),
        ({"then": "order_up_to", "against": {"factory": "typical"}}, "no policy plays 'factory'"),
    ):
        arguments: Any = given
        with pytest.raises(UsageError, match=says):
            regret(bad, **arguments)


def test_a_failure_names_the_decision() -> None:
    """And the action whose continuation failed."""
    walk = play(Walk(), Stride(1))
    with pytest.raises(PolicyFailed, match=r"decision 1 answered with Go\(places=1\): the policy"):
        regret(walk, {"walker": fails_late}, futures=2)


@pytest.mark.slow
def test_a_lender_that_never_raised_is_judged_by_a_rule_that_reads_replies() -> None:
    """The rule could not read replies to questions it did not ask: it begins after the decision."""
    lender = play("enterprise_arena", "never_raise", seed=1)
    found = regret(lender, "treasurer", decisions=slice(11, 12), futures=4)
    [line] = found.lines
    assert line.recorded == {"do": "pass"}
    assert line.place.date == "2015-11-30"
    assert "treasurer cannot follow decisions that others made" in str(found)
