"""The wheel in an empty environment: it holds all files, and its types reach a user's project."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.imports import WORLDS
from support.installed import call, install_wheel

pytestmark = pytest.mark.slow

#: What users write; a comment at the end of a line holds a part of the message that mypy must give.
USER = '''
from collections.abc import Generator, Mapping
from typing import Any

from attrs import define, frozen
from desim import Model, Policy, Role, Run, World, from_preset, play, play_series
from ledgers.book import Book
from models.beer_game import BeerGame, Order, Stage
from policies.greedy import Greedy


@frozen
class Cover(Policy):
    """A policy."""

    weeks: int = 4

    def decide(self, stage: Stage) -> Order:
        return Order(self.weeks * stage.incoming_order)


class Blind:
    """No policy: it has no base class."""

    def decide(self, stage: Stage) -> Order:
        return Order(0)


class Deaf(Policy):
    """No policy: it takes no observation."""

    def decide(self) -> Order:  # error: Signature of "decide" incompatible
        return Order(0)


@frozen
class Bell:
    rings: int


@frozen
class Open:
    guests: int


@define
class Inside:
    guests: int = 0


@frozen
class House(Model[Inside]):
    """A model."""

    doors: int = 2

    @property
    def roles(self) -> Mapping[str, Role]:
        return {"host": Role(Bell, Open)}

    def begin(self, world: World) -> Inside:
        inside = Inside()
        world.process(self._evening(world, inside))
        return inside

    def _evening(self, world: World, inside: Inside) -> Generator[Any, Any, None]:
        answer: Open = yield world.ask("host", lambda: Bell(1))
        inside.guests += answer.guests
        yield world.timeout(self.doors)

    def score(self, state: Inside) -> float:
        return state.guests

    def metrics(self, state: Inside) -> Mapping[str, Any]:
        return {}


def rule(bell: Bell) -> Open:
    return Open(bell.rings)


async def slow(bell: Bell) -> Open:
    return Open(bell.rings)


game = BeerGame.preset("poisson")
model: Model[Inside] = House()
policy: Policy = Cover()
episode = play(game, {"retailer": Cover(), "factory": "base_stock,target=20"}, 1)

reveal_type(game)  # "models.beer_game.
reveal_type(from_preset(BeerGame, "poisson"))  # "models.beer_game.
reveal_type(Cover().decide)  # -> models.beer_game.stage.Order"
reveal_type(episode)  # "desim.records.episode.Episode"
reveal_type(episode.score)  # "float"
reveal_type(play_series(game, Cover(), [1, 2]))  # "list[desim.records.episode.Episode]"
reveal_type(Run(House()).state)  # "user.Inside"
reveal_type(Book(""))  # "ledgers.book.Book"

play(model, rule)
play(House(), {"host": slow})
play("beer_game", Cover)
play(game, Greedy)
play(BeerGame, Cover())
play(game)

play(game, 17)  # error: Argument 2 to "play"
play(game, Blind())  # error: Argument 2 to "play"
play(game, {"retailer": Blind()})  # error: Dict entry 0
play(game, {"retailer": 17})  # error: Dict entry 0
play(17, Cover())  # error: Argument 1 to "play"
'''


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an empty environment with the wheel."""
    return install_wheel(tmp_path_factory.mktemp("installed"))


def test_desim_lists_every_model(python: Path, tmp_path: Path) -> None:
    """The wheel holds all models, and the installed script runs."""
    printed = call(tmp_path, python.with_name("desim"), "list")
    assert [world for world in WORLDS if world not in printed] == []


@pytest.mark.parametrize("world", WORLDS)
def test_every_model_runs(python: Path, tmp_path: Path, world: str) -> None:
    """Its data files are in the wheel, and its first baseline plays it as in the checkout."""
    from desim import catalog, play
    from desim.catalog.policy_spec import read_policies

    spec = catalog.baselines(catalog.model(world))[0]
    printed = call(
        tmp_path, python, "-m", "desim", "run", world, "--policy", spec, "--seed", "1", "--json"
    )
    summary: dict[str, Any] = json.loads(printed)
    here = play(world, read_policies([spec]), 1)
    assert (summary["score"], summary["ledger_digest"]) == (here.score, here.ledger_digest)


def test_the_papers_figures_are_installed(python: Path, tmp_path: Path) -> None:
    """A suite of a user compares with them without a checkout."""
    code = "from desim.suites.published import FIGURES; print(*sorted(FIGURES.iterdir()))"
    files = call(tmp_path, python, "-c", code).split()
    assert [Path(file).stem for file in files] == ["enterprise_arena", "firmbench", "yc_bench"]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_sees_the_types_in_a_users_project(python: Path, tmp_path: Path) -> None:
    """It infers models, policies and episodes, and reports what is no policy and no model."""
    (tmp_path / "user.py").write_text(USER)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--python-executable={python}", "user.py"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "MYPYPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    messages = done.stdout.splitlines()
    for number, line in enumerate(USER.splitlines(), 1):
        given = [m for m in messages if m.startswith(f"user.py:{number}: ")]
        _, marked, expected = line.partition("  # ")
        if marked:
            assert any(expected in message for message in given), (line, done.stdout)
        else:
            assert given == [], line
    assert re.search(r"Found 6 errors in 1 file", done.stdout), done.stdout
