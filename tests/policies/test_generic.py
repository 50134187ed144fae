"""Policies that play any world: greedy, random, a script, a recording."""

from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from desim import Episode, Role, Run, play
from desim.core.policy import decide_as
from desim.episodes.lineup import resolve, seat_of
from desim.errors import PolicyFailed, UsageError
from models.beer_game import BeerGame, Order, Stage

GAME = BeerGame.preset("poisson", horizon=12)


def orders(episode: Episode, role: str = "retailer") -> list[Any]:
    """What a role ordered, week by week."""
    return [s.action.quantity for s in episode.steps if s.role == role]


def demand(run: Run) -> list[int]:
    """What customers wanted in a played game."""
    return [week.incoming_order for week in run.state.history("retailer")]


# -- greedy ----------------------------------------------------------------------------------------


def test_greedy_plays_by_the_options_of_its_role() -> None:
    """In the Beer Game it fills the pipeline."""
    run = Run(GAME, 1)
    (decision,) = run.advance()
    offered = {o.action: o.value for o in GAME.roles["retailer"].options(decision.observation)}
    chosen = (
        resolve(GAME, "greedy", 1).policies["retailer"].decide(decision.observation, decision.spec)
    )
    assert offered[chosen] == max(offered.values())
    assert orders(play(GAME, "greedy", 1)) == orders(play(GAME, "greedy", 1))


@pytest.mark.parametrize("spec", ["greedy", "random", "rollout,base=policies.greedy:Greedy"])
def test_a_role_without_options_is_refused(spec: str) -> None:
    """Before anything is played."""

    @frozen
    class Silent(BeerGame):
        @property
        def roles(self) -> dict[str, Role]:
            return {name: Role(Stage, Order, optional=True) for name in self.stages}

    with pytest.raises(UsageError, match="role 'retailer' offers no options"):
        play(Silent(), spec)


# -- random ----------------------------------------------------------------------------------------


def test_random_repeats_itself_for_a_seed() -> None:
    """And takes other options for another seed or at another seat."""
    seats = dict.fromkeys(GAME.stages, "random")
    same = dict.fromkeys(("retailer", "wholesaler"), "random")
    first = play(GAME, seats, 4)
    assert play(GAME, seats, 4).steps == first.steps
    assert orders(play(GAME, "random", 5)) != orders(play(GAME, "random", 4))
    assert orders(play(GAME, "random", 4))[0] == orders(play(GAME, same, 4))[0]
    picks = [draws(seed, role) for seed in (4, 5) for role in ("retailer", "wholesaler")]
    assert len({tuple(p) for p in picks}) == 4


def draws(seed: int, role: str) -> list[int]:
    """The first random numbers of a seat."""
    return [int(n) for n in seat_of(GAME, role, seed).generator().integers(1 << 30, size=4)]


def test_random_shifts_no_draw_of_the_world() -> None:
    """Demand is the same for every policy, however many draws it takes."""
    wanted = []
    for spec in ("random", "greedy", None):
        run = Run(GAME, 9, GAME.stages if spec else [])
        players = resolve(GAME, dict.fromkeys(GAME.stages, spec) if spec else {}, 9).policies
        while decisions := run.advance():
            for d in decisions:
                run.answer(d, decide_as(players[d.role], d.spec, d.observation))
        wanted.append(demand(run))
    assert wanted[0] == wanted[1] == wanted[2]


# -- script ----------------------------------------------------------------------------------------


def script(tmp_path: Path, text: str) -> str:
    """Write a script and return its spec."""
    (tmp_path / "orders.txt").write_text(text, encoding="utf-8")
    return f"script,file={tmp_path / 'orders.txt'}"


def test_a_script_answers_line_by_line(tmp_path: Path) -> None:
    """Empty lines and comments are skipped; lines left at the end are ignored."""
    spec = script(
        tmp_path,
        "# a plan of größte Güte\n\n"
        '{"do": "order", "quantity": 3}\n'
        '   # and then\r\n{"quantity":4.5,"do":"order"}\n   \n'
        '{"do": "order", "quantity": -1}\n{"do": "order", "quantity": 9}',
    )
    game = BeerGame.preset("poisson", horizon=3)
    assert orders(play(game, spec)) == [3, 4.5, -1]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"do": "order"}', "missing required field `quantity`"),
        ('{"do": "ordr", "quantity": 3}', "did you mean 'order'"),
        ('{"do": "order", "quantity": "3"}', r"at `\$\.quantity`"),
        ('{"do": "order", "quantity": 1e30}', r"at `\$\.quantity`"),
        ("order 3", "JSON is malformed"),
        ('[{"do": "order", "quantity": 3}]', "Expected `object`, got `array`"),
    ],
)
def test_an_error_in_a_script_is_found_before_the_first_decision(
    tmp_path: Path, line: str, says: str
) -> None:
    """The text names file and line; comments count as lines."""
    spec = script(tmp_path, '# one\n{"do":"order","quantity":1}\n\n' + line + "\n")
    with pytest.raises(UsageError, match=rf"orders\.txt, line 4: .*{says}"):
        resolve(GAME, spec, 0)


def test_a_script_that_is_too_short_fails_where_it_ends(tmp_path: Path) -> None:
    """An empty one at the first decision."""
    spec = script(tmp_path, '{"do":"order","quantity":1}\n' * 5)
    with pytest.raises(PolicyFailed, match=r"orders\.txt has ended, but another action is needed"):
        play(GAME, spec, record=tmp_path / "run")
    assert len(Episode.read(tmp_path / "run", whole=False).steps) == 5
    with pytest.raises(PolicyFailed, match="has ended"):
        play(GAME, script(tmp_path, "# nothing\n"))


def test_a_script_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """Missing, a folder, no text, or no file given."""
    with pytest.raises(UsageError, match=r"cannot read the script .*none: No such file"):
        play(GAME, f"script,file={tmp_path / 'none'}")
    with pytest.raises(UsageError, match=r"cannot read the script .*: Is a directory"):
        play(GAME, f"script,file={tmp_path}")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"cannot read the script .*binary: it is not UTF-8 text"):
        play(GAME, f"script,file={tmp_path / 'binary'}")
    with pytest.raises(UsageError, match="policy 'script' needs file; write script,file=VALUE"):
        play(GAME, "script")


# -- replay ----------------------------------------------------------------------------------------


def recorded(tmp_path: Path, policies: Any = "typical") -> tuple[Path, Episode]:
    """Record an episode."""
    return tmp_path / "run", play(GAME, policies, 2, record=tmp_path / "run")


def test_a_recording_answers_as_recorded(tmp_path: Path) -> None:
    """In the same world it gives the same episode."""
    file, played = recorded(tmp_path)
    again = play(GAME, f"replay,file={file}", 2)
    assert (again.steps, again.result) == (played.steps, played.result)


def test_a_recording_plays_in_another_world(tmp_path: Path) -> None:
    """It compares nothing: with other seeds and parameters the same orders score differently."""
    file, played = recorded(tmp_path)
    for game, seed in ((GAME, 7), (BeerGame(horizon=12), 0), (BeerGame(horizon=3), 0)):
        other = play(game, f"replay,file={file}", seed)
        assert orders(other) == orders(played)[: game.horizon]
        assert other.score != played.score


def test_a_recording_of_another_role_can_be_given(tmp_path: Path) -> None:
    """`role=` names the role whose actions are taken; the seat's own is the default."""
    seats = {"retailer": "typical", "wholesaler": "constant,quantity=3"}
    file, _ = recorded(tmp_path, seats)
    assert orders(play(GAME, f"replay,file={file},role=wholesaler")) == [3] * 12
    both = play(GAME, dict.fromkeys(seats, f"replay,file={file}"), 2)
    assert orders(both, "wholesaler") == [3] * 12
    with pytest.raises(UsageError, match="holds no action of 'distributor'"):
        play(GAME, {"distributor": f"replay,file={file}"})
    with pytest.raises(UsageError, match="holds no action of 'bar'"):
        play(GAME, f"replay,file={file},role=bar")


def test_a_cut_recording_plays_until_it_ends(tmp_path: Path) -> None:
    """There it fails, as no action is left."""
    file, played = recorded(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").write_bytes(b"".join(lines[:6]) + lines[6][:20])
    with pytest.raises(PolicyFailed, match=r"cut has ended, but another action is needed"):
        play(GAME, f"replay,file={tmp_path / 'cut'}", 2, record=tmp_path / "again")
    again = Episode.read(tmp_path / "again", whole=False)
    assert [s.action["quantity"] for s in again.steps] == orders(played)[:5]
