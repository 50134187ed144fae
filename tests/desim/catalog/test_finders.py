"""Models and policies by name, and functions as policies."""

import queue
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from desim import Episode, catalog, play, sweep
from desim.cli.main import main
from desim.errors import UsageError
from models.beer_game import BeerGame, Order, Stage

#: A user's model, and rules that are functions.
KIOSK = """
from attrs import frozen
from desim import Model, Option, Role


@frozen
class Evening:
    sold: int


@frozen
class Buy:
    papers: int


@frozen
class Kiosk(Model):
    days: int = 2

    @property
    def roles(self):
        return {"vendor": Role(Evening, Buy, lambda seen: [Option(Buy(1), 0.0)])}

    def begin(self, world):
        state = []
        world.process(self.open(world, state))
        return state

    def open(self, world, state):
        for day in range(self.days):
            buy = yield world.ask("vendor", lambda: Evening(day))
            state.append(buy.papers)
            yield world.timeout(1)

    def score(self, state):
        return sum(state)

    def metrics(self, state):
        return {}


def rule(evening):
    return Buy(5)


async def slow(evening):
    return Buy(7)
"""


@pytest.fixture
def desim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    """Run desim in a user's folder with a model of their own."""
    (tmp_path / "kiosk.py").write_text(KIOSK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield lambda *arguments: CliRunner().invoke(main, [*arguments], prog_name="desim")
    for name in ("kiosk", "desim_user_queue", "desim_user_click"):
        sys.modules.pop(name, None)


def order_twelve(_stage: Stage) -> Order:
    """Order the same every week."""
    return Order(12)


async def order_later(stage: Stage) -> Order:
    """Order as `order_twelve`, in a coroutine."""
    return order_twelve(stage)


# -- models ----------------------------------------------------------------------------------------


def test_models_are_listed_in_the_order_of_their_names() -> None:
    """Each under the name of its folder, and found by it again."""
    models = catalog.models()
    assert [*models] == sorted(models)
    assert all(catalog.model_class(name) is cls for name, cls in models.items())
    assert all(catalog.model_name(cls) == name for name, cls in models.items())


def test_a_model_is_built_from_a_name_a_preset_and_changes() -> None:
    """The preset is part of the name or an argument of its own."""
    expected = BeerGame.preset("poisson", horizon=9)
    assert catalog.model("beer_game/poisson", changes={"horizon": "9"}) == expected
    assert catalog.model("beer_game", "poisson", {"horizon": "9"}) == expected
    with pytest.raises(UsageError, match="presets 'classic' and 'poisson' were given"):
        catalog.model("beer_game/classic", "poisson")


@pytest.mark.parametrize(("name", "own"), [("kiosk", "kiosk"), ("antigravity", "module")])
def test_the_name_of_a_users_module_suggests_a_class_in_it(
    desim: Callable[..., Result], name: str, own: str
) -> None:
    """`desim run kiosk` beside `kiosk.py`; nothing is imported; Python's library is left out."""
    refused = desim("run", name, "--policy", "random")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"desim: there is no model '{name}'; Possible: ")
    assert refused.stderr.endswith(f", or {own}:Class for your own\n")
    assert name not in sys.modules
    assert desim("run", "kiosk:Kiosk", "--policy", "random").exit_code == 0


@pytest.mark.parametrize("name", ["queue", "click"])
def test_a_users_file_is_preferred_to_a_module_of_its_name(
    desim: Callable[..., Result], name: str
) -> None:
    """Of Python or of an installed package, which import statements still find."""
    theirs = sys.modules[name]
    Path(f"{name}.py").write_text(KIOSK + f"def found():\n    import {name}\n    return {name}\n")
    done = desim("run", f"{name}:Kiosk", "--policy", f"{name}:rule", "--record", "run")
    assert done.exit_code == 0, done.stderr
    header = Episode.read("run").header
    assert (header.model, header.policies) == (f"{name}:Kiosk", {"vendor": f"{name}:rule"})
    assert catalog.builder(f"{name}:found")() is sys.modules[name] is theirs
    assert f"or {name}:Class for" in desim("run", name, "--policy", "random").stderr
    refused = desim("run", f"{name}:Kiosk", "--policy", f"{name}:rul")
    assert refused.stderr.endswith(f"(read from {Path.cwd() / name}.py)\n")


def test_a_record_may_not_name_a_users_file_because_python_has_its_name(
    desim: Callable[..., Result],
) -> None:
    """Python's module is imported already, the file is not."""
    desim("run", "kiosk:Kiosk", "--policy", "kiosk:rule", "--record", "run")
    header = Path("run").read_text().splitlines()[0]
    Path("run").write_text(header.replace("kiosk:", "queue:") + "\n")
    Path("queue.py").write_text(KIOSK)
    refused = desim("resume", "run")
    assert refused.exit_code == 2
    assert "the record would import module 'queue'" in refused.stderr
    assert "desim_user_queue" not in sys.modules


def test_rows_are_discarded_when_such_a_file_changes(desim: Callable[..., Result]) -> None:
    """As those of any other file."""
    given = ("sweep", "queue:Kiosk", "--policy", "queue:rule", "--seeds", "0:2", "--out", "s")
    Path("queue.py").write_text(KIOSK)
    assert desim(*given).exit_code == 0
    Path("queue.py").write_text(KIOSK.replace("Buy(5)", "Buy(6)"))
    assert "(changed: the code of queue)" in desim(*given).stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("beer_gam", "there is no model 'beer_gam'; did you mean 'beer_game'?"),
        ("kiosk:Kiosc", "model 'kiosk:Kiosc': no class or function 'Kiosc' in 'kiosk'; did you"),
        ("kiosk:Buy", "kiosk:Buy is no model: it needs roles, begin, score and metrics"),
        ("kiosk:rule", "kiosk:rule needs arguments; a function that returns a model takes none"),
        ("nothere:Kiosk", "model 'nothere:Kiosk': there is no module 'nothere' here"),
        ("queue:Kiosk", f"(read from {queue.__file__})"),
        ("queue.kiosk:Kiosk", f"no module 'queue.kiosk' here (read from {queue.__file__})"),
        (":Kiosk", "model ':Kiosk' names no module; write module:Class"),
    ],
)
def test_an_unknown_model_is_an_error(desim: Callable[..., Result], name: str, text: str) -> None:
    """One sentence with what was given and what is possible."""
    with pytest.raises(UsageError) as refused:
        catalog.model(name)
    assert text in str(refused.value)


# -- policies --------------------------------------------------------------------------------------


def test_policies_are_those_for_every_model_and_those_of_one() -> None:
    """A model's own heuristics are found for it alone."""
    assert {"greedy", "random"} <= {*catalog.policies()}
    assert "base_stock" in catalog.policies(BeerGame)
    assert "base_stock" not in catalog.policies()
    assert catalog.policy("base_stock", BeerGame()) is catalog.policies(BeerGame)["base_stock"]


def test_baselines_end_with_the_generic_policies() -> None:
    """Every model whose default roles have options is also played greedily and at random."""
    for name in catalog.models():
        assert catalog.baselines(catalog.model(name))[-2:] == ("greedy", "random")


def test_an_unknown_policy_is_an_error(desim: Callable[..., Result]) -> None:
    """The text suggests a near miss among the model's policies and the generic ones."""
    with pytest.raises(UsageError, match="no policy 'base_stok' for beer_game; did you mean 'base"):
        catalog.policy("base_stok", BeerGame)
    with pytest.raises(UsageError, match="no class or function 'rul' in 'kiosk'; did you mean"):
        catalog.policy("kiosk:rul", BeerGame)


# -- functions as policies -------------------------------------------------------------------------


def test_a_function_plays_a_role() -> None:
    """Given for a role or for the default roles; its label names where it is defined."""
    for policies in ({"retailer": order_twelve}, order_twelve):
        episode = play(BeerGame(horizon=4), policies)
        assert [step.action for step in episode.steps] == [Order(12)] * 4
        assert episode.header.policies == {"retailer": f"{__name__}:order_twelve"}


def test_a_function_is_a_policy_on_the_command_line(desim: Callable[..., Result]) -> None:
    """`--policy module:function`, alone and for a role; it takes no arguments."""
    for spec in ("kiosk:rule", "vendor=kiosk:rule"):
        done = desim("run", "kiosk:Kiosk", "--policy", spec, "--json")
        assert done.exit_code == 0, done.stderr
        assert '"score":10.0' in done.stdout
        assert '"policies":{"vendor":"kiosk:rule"}' in done.stdout
    refused = desim("run", "kiosk:Kiosk", "--policy", "kiosk:rule,papers=3")
    assert refused.exit_code == 2
    assert "policy 'kiosk:rule,papers=3' is a function and takes no arguments" in refused.stderr


def test_functions_are_swept() -> None:
    """Also coroutines, beside other policies."""
    game = BeerGame(horizon=4)
    expected = play(game, order_twelve).score
    rows = sweep(game, [order_twelve, order_later, "typical"], range(2), jobs=1)
    assert [row["score"] for row in rows][:4] == [expected] * 4


def test_a_function_is_swept_on_the_command_line(desim: Callable[..., Result]) -> None:
    """Workers import the user's module as well; a coroutine is awaited."""
    done = desim(
        *("sweep", "kiosk:Kiosk", "--policy", "kiosk:rule", "--policy", "kiosk:slow"),
        *("--seeds", "0:4", "--jobs", "2", "--json"),
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count('"score":10.0') == 4
    assert done.stdout.count('"score":14.0') == 4
