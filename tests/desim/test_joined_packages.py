"""A user's own `models`, `policies` and `ledgers`, compared with those of desim."""

import json
import sys
from pathlib import Path

import pytest
from support.installed import call, install_wheel

#: A world in a package of a folder `models`, and a rule for it.
KIOSK = """
from models.beer_game import BeerGame


class Kiosk(BeerGame):
    '''A game of the user's.'''
"""
RULE = """
from desim import Policy
from models.beer_game import Order


class Dozen(Policy):
    '''Order twelve.'''

    def decide(self, stage):
        return Order(12)


def baselines(model):
    return ("dozen",)
"""
#: A file of the user's that ends Python where it is executed, although nobody has named it.
UNNAMED = "raise SystemExit('executed')\n"
#: A script that uses the user's `models.py` and `policies` in worker processes.
SCRIPT = """
import desim
from models import Steady
from models.beer_game import BeerGame
from policies import WEEKS
from policies.heuristics.beer_game import BaseStock

if __name__ == "__main__":
    rows = desim.sweep(BeerGame(horizon=WEEKS), [Steady(), "base_stock"], range(2), jobs=2)
    print(*(row["score"] for row in rows))
"""
STEADY = """
from attrs import frozen
from desim import Policy


@frozen
class Steady(Policy):
    def decide(self, stage):
        from models.beer_game import Order
        return Order(8)
"""


@pytest.fixture(scope="module", params=["checkout", pytest.param("wheel", marks=pytest.mark.slow)])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with desim."""
    if request.param == "checkout":
        return Path(sys.executable)
    return install_wheel(tmp_path_factory.mktemp("installed"))


def write(folder: Path, **files: str) -> None:
    """Write Python files: `models__kiosk` is the package `models/kiosk`, `models` is a module."""
    for name, text in files.items():
        package = name.endswith("__")
        path = folder.joinpath(*name.removesuffix("__").split("__"))
        file = path / "__init__.py" if package else path.with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.mark.parametrize(
    "files",
    [
        {"models": UNNAMED, "ledgers": UNNAMED, "policies": UNNAMED},
        {
            "models__": UNNAMED,
            "models__beer_game__": UNNAMED,
            "models__utilities__": UNNAMED,
            "ledgers__": UNNAMED,
            "policies__": UNNAMED,
            "policies__heuristics__": UNNAMED,
        },
        {"models__kiosk__": UNNAMED, "ledgers__book__": UNNAMED, "policies__greedy": UNNAMED},
    ],
    ids=["modules", "packages", "namespaces"],
)
def test_files_of_the_current_folder_hide_no_world(
    python: Path, tmp_path: Path, files: dict[str, str]
) -> None:
    """Shipped worlds, rules and ledgers are those of desim, and no file of the user's runs."""
    write(tmp_path, **files)
    run = (python, "-m", "desim", "run", "beer_game", "--policy", "base_stock", "--json")
    assert json.loads(call(tmp_path, *run))["score"] == -18150.0
    assert "enterprise_arena" in call(tmp_path, python, "-m", "desim", "list")


def test_a_foreign_package_on_the_import_path_hides_no_policy(python: Path, tmp_path: Path) -> None:
    """Also where it is searched before desim, as folders of PYTHONPATH are."""
    write(tmp_path / "foreign", policies__=UNNAMED, policies__greedy=UNNAMED)
    run = (python, "-m", "desim", "run", "beer_game", "--policy", "greedy", "--json")
    foreign = call(tmp_path, *run, PYTHONPATH=str(tmp_path / "foreign"))
    assert json.loads(foreign)["score"] == json.loads(call(tmp_path, *run))["score"]


def test_a_users_world_and_rules_join(python: Path, tmp_path: Path) -> None:
    """In every list under the folder's name, also beside files that would hide ours."""
    write(tmp_path, models__=UNNAMED, models__kiosk__=KIOSK, policies__=UNNAMED)
    write(tmp_path, policies__heuristics__kiosk__=RULE)
    listed = json.loads(call(tmp_path, python, "-m", "desim", "list", "kiosk", "--json"))
    assert listed["models"]["kiosk"]["baselines"][0] == "dozen"
    ran = call(tmp_path, python, "-m", "desim", "run", "kiosk", "--policy", "dozen", "--json")
    assert json.loads(ran)["model"] == "kiosk"


def test_a_script_uses_both_packages_of_a_name(python: Path, tmp_path: Path) -> None:
    """The user's `models.py` and `policies/__init__.py` and ours, in worker processes too."""
    write(tmp_path, script=SCRIPT, models=STEADY, policies__="WEEKS = 5\n")
    scores = call(tmp_path, python, "script.py").split()
    assert len(scores) == 4
    first = SCRIPT.replace("import desim\nfrom models import Steady\n", "")
    write(tmp_path, script="from models import Steady\nimport policies\nimport desim\n" + first)
    assert call(tmp_path, python, "script.py").split() == scores


def test_a_users_file_that_fails_fails_each_time(python: Path, tmp_path: Path) -> None:
    """As an import of it does; the shipped worlds are found after it."""
    write(tmp_path, models="1 / 0\n")
    code = """
import desim
for _ in range(2):
    try:
        from models import Mine
    except ZeroDivisionError:
        print("failed")
from models.beer_game import BeerGame
import models
print(hasattr(models, "__file__"), len([*models.__path__]))
"""
    printed = call(tmp_path, python, "-c", code)
    assert printed == "failed\nfailed\nFalse 1\n"


def test_a_users_file_may_make_its_names_when_they_are_used(python: Path, tmp_path: Path) -> None:
    """As a module with a function `__getattr__` does."""
    late = "    if name == 'Late':\n        return 7\n    raise AttributeError(name)\n"
    write(tmp_path, models=f"def __getattr__(name):\n{late}")
    code = "import desim, models; print(models.Late, hasattr(models, 'Other'))"
    assert call(tmp_path, python, "-c", code).split() == ["7", "False"]


def test_a_package_that_was_loaded_from_elsewhere_keeps_its_folder(
    python: Path, tmp_path: Path
) -> None:
    """As with `pytest --import-mode=importlib`, which adds no folder to the path of imports."""
    write(tmp_path, away__models__="", away__models__firm="WEEKS = 4\n")
    code = """
import sys
sys.path.insert(0, "away")
import models
sys.path.remove("away")
import desim
from models.firm import WEEKS
from models.beer_game import BeerGame
print(WEEKS)
"""
    assert call(tmp_path, python, "-c", code).strip() == "4"


def test_a_package_without_a_world_is_no_world(python: Path, tmp_path: Path) -> None:
    """A user's folder `models` may hold others; the error of its name says so."""
    write(tmp_path, models__utilities__="")
    code = """
from desim import catalog
print(catalog.foreign_models().keys(), "utilities" in catalog.models())
try:
    catalog.model("utilities")
except catalog.model_finder.UsageError as fault:
    print(fault)
"""
    listed, refused = call(tmp_path, python, "-c", code).splitlines()
    assert listed == "dict_keys(['utilities']) False"
    assert refused == "models.utilities must export one model class; it exports 0"
