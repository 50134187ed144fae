"""Nothing stale: a sweep is not continued once anything that its rows depend on has changed."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Ended
from support.forked import desim_process, ended
from support.paths import PYTHONPATH
from support.small_worlds import STRIDE, WALK, Stride

from desim.core.limits import Limits
from desim.errors import UsageError
from desim.sweeps.fingerprint import fingerprint
from desim.sweeps.grid import grid
from desim.sweeps.rows import Rows
from desim.sweeps.sources import source_digests
from desim.sweeps.sweep import sweep

#: A user's policies; the second file is imported by the first, the third by the second.
MINE = "from support.small_worlds import Go, Stride\nfrom helpers import (\n    rules,\n)\n"
FILES = {
    "mine.py": MINE + "class Mine(Stride):\n    def decide(self, spot): return Go(rules.size())\n",
    "helpers/__init__.py": "",
    "helpers/rules.py": "def size():\n    from . import sizes\n    return sizes.ONE\n",
    "helpers/sizes.py": "ONE = 1\n",
    "other.py": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a user's modules and a file of actions."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "steps.jsonl").write_text('{"do": "go", "places": 1}\n' * 3)
    return tmp_path


COMMON = ("--seeds", "0:3", "--jobs", "1", "--out", "out")


def desim(folder: Path, *arguments: str) -> Ended:
    """Sweep three episodes in a folder, by the command line."""
    return ended(desim_process("sweep", WALK, *COMMON, *arguments, cwd=folder))


@pytest.mark.parametrize(
    ("policy", "files"),
    [
        ("mine:Mine", ["mine.py", "helpers/sizes.py", "helpers/__init__.py"]),
        ("script,file=steps.jsonl", ["steps.jsonl"]),
    ],
)
def test_an_edited_file_is_named(folder: Path, policy: str, files: list[str]) -> None:
    """The sweep is refused with the ways on; `--restart` plays it anew."""
    assert desim(folder, "--policy", policy).code == 0
    (folder / "other.py").write_text("changed = True")
    assert desim(folder, "--policy", policy).code == 0
    for file in files:
        path = folder / file
        path.write_text((before := path.read_text()) + "# end\n")
        refused = desim(folder, "--policy", policy)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            f"desim: out/sweep.sqlite holds rows of other code or data (file {file} has changed); "
            "choose another folder (--out), or discard its rows (--restart)\n"
        )
        path.write_text(before)
    path.write_text(f"{before}# end\n")
    restarted = desim(folder, "--policy", policy, "--restart")
    assert restarted.code == 0
    assert restarted.err.startswith("desim: out/sweep.sqlite: 3 rows were discarded\n")


def test_a_script_is_compared_as_well(folder: Path) -> None:
    """Classes of the script itself count, and what it imports from its folder."""
    script = folder / "script.py"
    script.write_text(
        "from support.small_worlds import Walk\nfrom mine import Mine\nfrom desim import sweep\n"
        "class Own(Mine): pass\n"
        "print(len(sweep(Walk, Own, range(2), out='out')))\n"
    )

    def played() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": PYTHONPATH},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert played().stdout == "2\n"
    (folder / "helpers" / "sizes.py").write_text("ONE = 2\n")
    assert "(file helpers/sizes.py has changed)" in played().stderr
    (folder / "helpers" / "sizes.py").write_text("ONE = 1\n")
    assert played().stdout == "2\n"
    script.write_text(script.read_text() + "# the end\n")
    assert "(file script.py has changed)" in played().stderr


def swept(out: Path, limits: Limits | None = None) -> Rows:
    """A small sweep into a folder."""
    return sweep(WALK, STRIDE, range(3), out=out, limits=limits)


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (("fingerprint.__version__", "9.9"), r"another sweep \(desim '.*', now '9\.9'\)"),
        (
            ("sources.digest", lambda path: str(Path(path).name == "run.py")),
            r"rows of other code or data \(.*the source of desim has changed",
        ),
    ],
)
def test_another_desim_is_another_sweep(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patch: tuple[str, str | Callable[[object], str]],
    text: str,
) -> None:
    """Its version counts, and its source."""
    swept(tmp_path)
    monkeypatch.setattr(f"desim.sweeps.{patch[0]}", patch[1])
    with pytest.raises(UsageError, match=f"holds {text}"):
        swept(tmp_path)


def test_limits_are_part_of_a_sweep(tmp_path: Path) -> None:
    """An episode that failed by a limit may not fail with another one."""
    swept(tmp_path)
    with pytest.raises(UsageError, match=r"\(limits 'none', now '9 decisions'\)"):
        swept(tmp_path, Limits(decisions=9))
    assert swept(tmp_path, Limits()) == swept(tmp_path)


def test_a_named_file_counts_by_its_content(tmp_path: Path) -> None:
    """In a parameter, in an argument, in an instance, and between colons; not a folder."""
    steps = tmp_path / "steps"
    steps.write_text('{"do": "go", "places": 1}\n' * 3)
    for policies, changes in (
        (f"script,file={steps}", {}),
        ("script", {"policy.file": [str(steps)]}),
        ({"walker": f"script,file={steps}"}, {}),
    ):
        topics = fingerprint(grid(WALK, policies, [0], changes=changes))
        assert f"file {steps}" in topics
    beer = grid("beer_game", "random", [0], changes={"demand": _csv(tmp_path / "a b.csv")})
    assert f"file {tmp_path / 'a b.csv'}" in fingerprint(beer)
    assert not [t for t in fingerprint(grid(WALK, STRIDE, [0])) if t.startswith(f"file {tmp_path}")]


def _csv(path: Path) -> str:
    path.write_text("week,units\n1,4\n2,5\n")
    return f"csv:{path}:units"


def test_the_rooms_of_desim_count_by_package() -> None:
    """A model brings its package and the ledgers, a policy its module and what that imports."""
    topics = fingerprint(grid("beer_game", ["base_stock,target=20", "random"], [0]))
    assert {topic for topic in topics if topic.startswith(("the source", "file"))} == {
        "the source of desim",
        "the source of ledgers",
        "the source of models.beer_game",
        "the source of policies.heuristics.beer_game",
        "the source of policies.chance",
        "the source of policies.greedy",
    }


def test_installed_packages_and_python_are_not_followed() -> None:
    """A class of a user's module brings its file and desim, and nothing of attrs or typing."""
    assert [*source_digests([Stride])] == ["file support/small_worlds.py", "the source of desim"]


def test_a_folder_that_is_twice_on_the_path_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespace package lists it twice then, as with PYTHONPATH=. in the folder itself."""
    import ledgers

    root = str(Path(next(iter(ledgers.__path__))).parent)
    others = [entry for entry in sys.path if not Path(entry, "ledgers").is_dir()]
    digests = []
    for times in (1, 2):
        monkeypatch.setattr(sys, "path", [*others, *[root] * times])
        importlib.invalidate_caches()
        assert len([*ledgers.__path__]) == times
        digests.append(source_digests([ledgers])["the source of ledgers"])
    assert digests[0] == digests[1]
