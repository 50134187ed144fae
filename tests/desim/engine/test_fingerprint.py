"""Nothing stale: a sweep is not continued once anything that its rows depend on has changed."""

import importlib
import importlib.metadata
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Ended, python
from support.forked import desim_process, ended
from support.small_worlds import STRIDE, WALK, Stride

from desim.catalog import policy_finder
from desim.catalog.presets import from_preset
from desim.engine.fingerprint import code_topics, file_topics
from desim.engine.grid import grid
from desim.engine.store import Store
from desim.errors import UsageError
from desim.studies.sweep import sweep
from models.enterprise import Enterprise

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
    ("policy", "file", "changed", "named"),
    [
        ("mine:Mine", "helpers/sizes.py", "ONE = 2\n", "the code of helpers.sizes"),
        ("script,file=steps.jsonl", "steps.jsonl", "\n", "file steps.jsonl"),
    ],
)
def test_a_change_is_named(folder: Path, policy: str, file: str, changed: str, named: str) -> None:
    """The sweep is refused with the ways on; `--restart` plays it anew."""
    assert desim(folder, "--policy", policy).code == 0
    (folder / "other.py").write_text("changed = True")
    (folder / file).write_text((folder / file).read_text() + changed)
    refused = desim(folder, "--policy", policy)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        f"desim: out/sweep.sqlite holds rows of other code or data (changed: {named}): 3 of "
        f"{WALK}/short, {policy}; choose another folder (--out), or discard the 3 rows "
        "(--restart)\n"
    )
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

    played = partial(python, str(script), cwd=folder)
    assert played().stdout == "2\n"
    (folder / "helpers" / "sizes.py").write_text("ONE = 2\n")
    assert "(changed: the code of helpers.sizes)" in played().stderr
    (folder / "helpers" / "sizes.py").write_text("ONE = 1\n")
    script.write_text(script.read_text() + "print('the end')  # outside definitions\n")
    assert played().stdout == "2\nthe end\n"
    script.write_text(script.read_text().replace("(Mine): pass", "(Mine): extra = 1"))
    assert "(changed: the code of __main__:Own)" in played().stderr


def test_another_desim_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version counts."""
    sweep(WALK, STRIDE, range(3), out=tmp_path)
    monkeypatch.setattr("desim.engine.fingerprint.__version__", "9.9")
    with pytest.raises(UsageError, match=r"of other code or data \(changed: desim\)"):
        sweep(WALK, STRIDE, range(3), out=tmp_path)


def topics(model: str, policies: Any, **changes: Any) -> dict[str, str]:
    """The topics of one model with one line-up."""
    parts = [*grid(model, policies, [0], changes=changes).cells[0].parts]
    return {**code_topics(parts), **file_topics(parts)}


def test_a_named_file_counts_by_its_content(tmp_path: Path) -> None:
    """In an argument, also in that of one role; not a folder."""
    steps = tmp_path / "steps"
    steps.write_text('{"do": "go", "places": 1}\n' * 3)
    for policies, changes in (
        (f"script,file={steps}", {}),
        ("script", {"policy.file": [str(steps)]}),
        ({"walker": f"script,file={steps}"}, {}),
    ):
        assert f"file {steps}" in topics(WALK, policies, **changes)
    assert not [topic for topic in topics(WALK, STRIDE) if topic.startswith(f"file {tmp_path}")]


def test_a_parameter_that_is_read_from_a_file_counts_by_its_value(tmp_path: Path) -> None:
    """Edited demand makes another cell, whose episodes are kept beside those of before."""
    file = tmp_path / "a b.csv"
    given = {"demand": f"csv:{file}:units", "horizon": 2}
    for played, demand in ((2, "4\n5"), (4, "4\n6"), (4, "4\n5")):
        file.write_text(f"units\n{demand}\n")
        sweep("beer_game", "order_up_to", range(2), set=given, out=tmp_path / "out")
        with Store(tmp_path / "out", read=True) as store:
            assert len(store) == played


def test_folders_of_desim_count() -> None:
    """The kernel, the ledgers, the model and the policy; no other world, and no user's file."""
    names = [topic for topic in topics("beer_game", "base_stock,target=20") if "code of" in topic]
    rooms = {"desim", "ledgers", "models/beer_game", "policies/heuristics/beer_game"}
    assert {f"the code of {room}" for room in rooms} <= {*names}
    assert not [name for name in names if "llm" in name or "yc_bench" in name]


def test_what_shows_rows_is_no_code_of_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a report may change, the clock may not."""
    every: list[Path] = []
    monkeypatch.setattr(
        "desim.engine.fingerprint.file_digest", lambda path: every.append(path) or ""
    )
    code_topics([])
    names = {path.parent.name for path in every}
    assert {"core", "episodes", "records"} <= names
    assert not names & {"cli", "record", "browser", "tracing"}


def test_installed_packages_count_by_their_version(tmp_path: Path) -> None:
    """Those that users' code uses; of desim's own use SimPy and NumPy alone."""
    known = {"desim", "python", "simpy", "numpy", "attrs"}
    assert {one for one in code_topics([Stride]) if "code of" not in one} <= known
    (tmp_path / "with_scipy.py").write_text(
        "from scipy import special\ndef rule(spot): return special.ndtri(0.5)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        found = code_topics([importlib.import_module("with_scipy").rule])
    assert found["scipy"] == importlib.metadata.version("scipy")


def test_texts_that_a_language_model_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Docstrings of actions are part of prompts; the world's conversation is found by its name."""
    policy = "llm,model=m,base_url=http://localhost:1/v1"
    before = topics("beer_game", policy)
    assert "the code of policies/llm/worlds" in before
    monkeypatch.setattr("policies.llm.adapter.world_texts", lambda _: b"another docstring")
    after = topics("beer_game", policy)
    assert [topic for topic in after if after[topic] != before[topic]] == [
        "the rules and schemas that a policy reads"
    ]


def test_the_specs_of_a_named_line_up_count() -> None:
    """A line-up is given by its name, and its function returns the specs."""
    (name, *_) = policy_finder.lineups(from_preset(Enterprise))
    assert "the code of policies/heuristics" in topics("enterprise", name)
