"""A folder grows: what it holds is found by any command, and only what is missing is played."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.paths import PYTHONPATH
from support.small_worlds import STRIDE, WALK

from desim import compare, select, sweep
from desim.core.limits import Limits
from desim.engine.plan import Cell
from desim.engine.store import FILE_NAME, Store, SweepWarning
from desim.errors import UsageError
from desim.rows.rows import Rows
from desim.studies.tune import tune

SEEDS = range(4)

#: A model and two policies of a user; each appends a line to a log when an episode begins.
FILES = {
    "grown_model": """
from attrs import frozen
from support.small_worlds import Walk
from grown_rules import bonus

def log(name):
    import os
    with open(os.environ["GROWN_LOG"], "a") as file: print(name, file=file)

@frozen
class Trek(Walk):
    def begin(self, world):
        log("hike")
        return super().begin(world)

    def score(self, path): return super().score(path) + bonus()
""",
    "grown_rules": """
def bonus(): return 1
def step(): return 2
""",
    "grown_policies": """
from desim import Policy
from support.small_worlds import Go
import grown_rules

class Short(Policy):
    def decide(self, spot): return Go(1)

class Long(Policy):
    def decide(self, spot): return Go(grown_rules.step())
""",
}

MODEL, SHORT, LONG = "grown_model:Trek", "grown_policies:Short", "grown_policies:Long"


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Write the user's modules; return a function that replaces a text in one of them."""
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("GROWN_LOG", str(tmp_path / "log.txt"))

    def forget() -> None:
        for name in FILES:
            sys.modules.pop(name, None)
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        importlib.invalidate_caches()

    def edited(name: str, old: str, new: str) -> None:
        text = (folder / f"{name}.py").read_text()
        assert old in text
        (folder / f"{name}.py").write_text(text.replace(old, new))
        forget()

    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    yield edited
    forget()


@pytest.fixture(autouse=True)
def _once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play no first seed again, so that the episodes played are the rows that were missing."""
    monkeypatch.setattr(Cell, "plays_again", property(lambda _: False))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder that grows."""
    return tmp_path / "out"


def played(out: Path, command: Callable[[], Any]) -> int:
    """The number of episodes that a command plays."""
    log = out.with_name("log.txt")
    log.write_text("")
    command()
    return len(log.read_text().splitlines())


def swept(out: Path, **changes: Any) -> Rows:
    """A sweep of both policies on four seeds."""
    usual = {"model": MODEL, "policies": [SHORT, LONG], "seeds": SEEDS}
    return sweep(**{**usual, **changes}, out=out)


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({"seeds": range(8)}, 8),
        ({"seeds": [9, 2, 1, 2**40, 2**63]}, 6),
        ({"policies": [STRIDE, SHORT, LONG]}, 4),
        ({"set": {"wind": [1, 2]}}, 8),
        ({"preset": "long"}, 8),
        ({"model": [WALK, MODEL]}, 0),  # the other model logs nothing
        ({"limits": Limits(decisions=9)}, 8),
        ({"design": "factorial", "set": {"policy.size": [1, 2]}, "policies": [STRIDE]}, 8),
    ],
)
@pytest.mark.usefixtures("edit")
def test_only_what_is_missing_is_played(out: Path, changes: dict[str, Any], more: int) -> None:
    """More seeds, another policy, another value: rows are those of the command alone."""
    assert played(out, lambda: swept(out)) == 8
    assert played(out, lambda: swept(out, **changes)) == more
    rows = swept(out, **changes)
    assert rows == sweep(**{"model": MODEL, "policies": [SHORT, LONG], "seeds": SEEDS, **changes})
    assert Rows.read(out) == rows
    (out / "rows.jsonl").unlink()
    assert Rows.read(out) == rows
    assert played(out, lambda: swept(out)) == 0


@pytest.mark.usefixtures("edit")
def test_points_with_equal_parameters_are_one_cell(out: Path) -> None:
    """Each has its row, with the index of its point."""
    given: Any = {"policies": [SHORT], "design": "lhs:6", "set": {"wind": "int:1:2"}}
    rows = swept(out, **given)
    with Store(out, read=True) as store:
        assert len(store) < len(rows) == 6 * len(SEEDS)
    assert rows == sweep(MODEL, SHORT, SEEDS, design=given["design"], set=given["set"])


@pytest.mark.usefixtures("edit")
def test_every_study_finds_the_same_cells(out: Path) -> None:
    """A sweep, then a comparison, a selection and a tuning of what it has played."""
    strides = [f"{STRIDE},size={size}" for size in (1, 2, 3)]
    given: Any = {"seeds": range(10), "max_seeds": 20, "score_range": "-99:99"}
    assert played(out, lambda: sweep(MODEL, [*strides, STRIDE], range(20), out=out)) == 80

    def compared() -> None:
        compare(MODEL, strides, until=0.1, **given, out=out)

    def selected() -> None:
        found = select(MODEL, strides, delta=1.0, **given, out=out)
        assert found == select(MODEL, strides, delta=1.0, **given)

    def tuned() -> None:
        budget: Any = {"budget": 30, "seeds": range(10), "held_out": range(10, 20)}
        found = tune(MODEL, STRIDE, {"policy.size": "int:1:3"}, **budget, out=out)
        assert found.best.parameters == {"policy.size": 3}

    assert played(out, compared) == 0
    assert played(out, tuned) == 0
    unkept = played(out, lambda: select(MODEL, strides, delta=1.0, **given))
    assert played(out, selected) == unkept  # that without a folder


CHANGES = (
    ("grown_model", 'log("hike")', 'log("hike" * 1)'),
    ("grown_rules", "return 1", "return 3"),
    ("grown_policies", "Go(1)", "Go(1)  # a comment"),
)


@pytest.mark.parametrize(("name", "old", "new"), CHANGES)
def test_a_changed_file_concerns_the_cells_that_use_it(
    out: Path, edit: Callable[..., None], name: str, old: str, new: str
) -> None:
    """A model's, a policy's, one that both import: refused by name; the others stay."""
    swept(out)
    sweep(WALK, STRIDE, SEEDS, out=out)
    before = (out / FILE_NAME).read_bytes()
    edit(name, old, new)
    text = (
        rf"holds rows of other code or data \(changed: the code of {name}\): 8 of .*Short, .*Long; "
        r"choose another folder \(--out\), or discard the 8 rows \(--restart\)$"
    )
    with pytest.raises(UsageError, match=text):
        swept(out)
    assert (out / FILE_NAME).read_bytes() == before
    assert played(out, lambda: sweep(WALK, STRIDE, SEEDS, out=out)) == 0
    with pytest.warns(SweepWarning, match="8 rows were discarded"):
        assert played(out, lambda: swept(out, restart=True)) == 8
    assert swept(out) == sweep(MODEL, [SHORT, LONG], SEEDS)


def test_code_of_a_group_without_rows_may_change(out: Path, edit: Callable[..., None]) -> None:
    """A command that was stopped before its first episode refuses nothing."""

    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swept(out, progress=stop)
    edit("grown_rules", "return 1", "return 3")
    assert played(out, lambda: swept(out)) == 8


GROWTH = {
    "seeds": ("sweep(MODEL, [SHORT, LONG], range(400), out=out, progress=killed)", 800),
    "policy": ("sweep(MODEL, [SHORT, LONG], range(200), out=out, progress=killed)", 400),
    "tuning": (
        "tune(MODEL, STRIDE, {'policy.size': 'int:1:9'}, budget=200, out=out, progress=killed)",
        0,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("command", "count"), GROWTH.values(), ids=GROWTH)
@pytest.mark.usefixtures("edit")
def test_a_kill_loses_a_chunk_at_most(out: Path, command: str, count: int) -> None:
    """While a folder grows: the same command goes on, and the rows of before stay."""
    sweep(MODEL, SHORT, range(200), out=out)
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from desim import sweep\n"
        "from desim.studies.tune import tune\n"
        f"MODEL, SHORT, LONG, STRIDE = {(MODEL, SHORT, LONG, STRIDE)!r}\n"
        "out = Path(sys.argv[1])\n"
        "def killed(done, total):\n"
        "    if done > 210 or (total == 200 and done > 50):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        f"{command}\n"
    )
    user = str(out.with_name("user"))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([user, PYTHONPATH])}
    done = subprocess.run([sys.executable, "-c", script, str(out)], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    with Store(out, read=True) as store:
        kept = len(store)
    assert kept > 200
    if count:
        seeds = range(count // 2)
        missing = played(out, lambda: sweep(MODEL, [SHORT, LONG], seeds, out=out))
        assert missing == count - kept
    assert played(out, lambda: sweep(MODEL, SHORT, range(200), out=out)) == 0
