"""A record imports, opens and contacts nothing by itself."""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.recorded import GAME, telltale

from desim import Episode, branch, export, play, replay, resume
from desim.catalog.imports import folders
from desim.episodes.resume import play_branch
from desim.errors import BadRecord, UsageError
from desim.records.reach import model_reaches
from desim.reports.record.replayed import played_again
from models.beer_game import BeerGame


def forged(path: Path, **header: Any) -> Path:
    """Write a record of a header alone, as a stranger would."""
    play(GAME, "typical", record=path)
    head = json.loads(path.read_text().splitlines()[0])
    for name, value in header.items():
        head[name] = {**head[name], **value} if name == "params" else value
    path.write_text(json.dumps(head) + "\n")
    return path


@pytest.fixture
def sneaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that the import of a module `sneaky` leaves."""
    source = (
        "from desim import Policy\n"
        "from models.beer_game import BeerGame\n"
        "class X(BeerGame): pass\n"
        "class P(Policy):\n"
        "    def decide(self, stage): raise SystemExit\n"
    )
    with telltale(tmp_path, "sneaky", source, monkeypatch) as left:
        yield left


@pytest.mark.parametrize(
    ("use", "model"),
    [
        (replay, "sneaky:X"),
        (resume, "sneaky"),
        (export, ".sneaky:X"),
        (lambda file: play_branch(file, 0), "sneaky:Missing"),
        (lambda file: branch(Episode.read(file, whole=False)), "sneaky:X"),
        (lambda file: Episode.read(file, whole=False).header.build(), "sneaky"),
    ],
    ids=["replay", "resume", "export", "play_branch", "branch", "build"],
)
def test_no_module_of_a_header_is_imported(
    tmp_path: Path, sneaky: Path, use: Any, model: str
) -> None:
    """Neither for the model nor for a hint about its name."""
    file = forged(tmp_path / "run.jsonl", model=model)
    with contextlib.suppress(BadRecord, UsageError):
        use(file)
    assert not sneaky.exists()


def test_what_a_header_would_do_is_shown(tmp_path: Path, sneaky: Path) -> None:
    """All of it in one sentence, with the option that allows it."""
    file = forged(tmp_path / "run.jsonl", model="sneaky:X", policies={"retailer": "sneaky:P"})
    with pytest.raises(UsageError) as refused:
        resume(file)
    assert str(refused.value) == (
        f"{file}: the record would import module 'sneaky'; import module 'sneaky' for 'retailer'. "
        "Nothing was done; allow it with --trust (trust=True in Python)"
    )


def test_what_is_given_again_is_allowed(tmp_path: Path, sneaky: Path) -> None:
    """A policy by its spec, or everything at once."""
    file = forged(tmp_path / "run.jsonl", policies={"retailer": "sneaky:P"})
    assert resume(file, {"retailer": "greedy"}).result is not None
    assert not sneaky.exists()
    file = forged(tmp_path / "again.jsonl", model="sneaky:X", policies={"retailer": "greedy"})
    assert resume(file, trust=True).result is not None
    assert sneaky.exists()


@pytest.mark.parametrize(
    ("policy", "shows"),
    [
        ("script,file=/etc/passwd", "file=/etc/passwd"),
        (
            "llm,model=m,base_url=http://HOST/,key_env=ANY",
            "base_url=http://HOST/, key_env=ANY",
        ),
        ("llm,model=m", "as by default"),
        ("os:getcwd", "import module 'os'"),
        ("rollout,base=pdb:main", "import module 'pdb'"),
        ("rollout,others=script+file=/etc/passwd", "file=/etc/passwd"),
    ],
)
def test_policies_that_reach_outside_are_refused(tmp_path: Path, policy: str, shows: str) -> None:
    """A module that is loaded already is no policy's either."""
    file = forged(tmp_path / "run.jsonl", policies={"retailer": policy})
    before = file.read_bytes()
    for use in (resume, lambda file: play_branch(file, 0)):
        with pytest.raises(UsageError, match="Nothing was done") as refused:
            use(file)
        assert shows in str(refused.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("model", "params"),
    [
        ("beer_game", {"demand": "csv:/etc/passwd:root"}),
        ("edt", {"scenario": "/etc/passwd"}),
        ("enterprise_arena", {"macro": "/etc/passwd"}),
    ],
)
def test_files_in_parameters_are_refused(
    tmp_path: Path, model: str, params: dict[str, str]
) -> None:
    """They are named, and no line of them appears in an error."""
    file = forged(tmp_path / "run.jsonl", model=model)
    head = json.loads(file.read_text())
    file.write_text(json.dumps(head | {"params": params}) + "\n")
    for use in (resume, lambda file: branch(Episode.read(file, whole=False))):
        with pytest.raises(UsageError, match="would open '/etc/passwd'") as refused:
            use(file)
        assert "root:" not in str(refused.value).replace("passwd:root", "")


@pytest.mark.parametrize("name", ["desim.sandbox.child.__main__:x", "desim.__main__:x", "this:s"])
def test_modules_of_desim_and_of_python_are_not_imported(tmp_path: Path, name: str) -> None:
    """Their modules run code as a stranger's do; only classes that are loaded are used."""
    module = name.partition(":")[0]
    before = module in sys.modules
    file = forged(tmp_path / "run.jsonl", model=name)
    with pytest.raises(UsageError, match=f"would import module '{module}'"):
        resume(file)
    assert (module in sys.modules) == before


@pytest.fixture
def corner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a world into a folder `models` of the current folder, and search that folder."""
    left, package = tmp_path / "imported", tmp_path / "models" / "corner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"import pathlib; pathlib.Path({str(left)!r}).touch()\n"
        "import models.beer_game\nclass Corner(models.beer_game.BeerGame): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    folders.cache_clear()
    yield left
    sys.modules.pop("models.corner", None)
    monkeypatch.undo()
    folders.cache_clear()


def test_a_world_that_is_not_shipped_needs_trust_wherever_it_lies(
    tmp_path: Path, corner: Path
) -> None:
    """Also in a folder of models."""
    file = forged(tmp_path / "run.jsonl", model="corner")
    says = rf"would import module 'models.corner' of '{tmp_path}/models.*--trust"
    for use in (resume, export):
        with pytest.raises(UsageError, match=says):
            use(file)
    assert played_again(Episode.read(file, whole=False)).model is None
    with pytest.raises(BadRecord, match="there is no model 'korner'; did you mean 'corner'"):
        resume(forged(tmp_path / "other.jsonl", model="korner"))
    assert not corner.exists()
    assert resume(file, {"retailer": "greedy"}, trust=True).result is not None
    assert corner.exists()


def test_what_was_played_here_needs_no_trust(tmp_path: Path) -> None:
    """The modules of the script that runs are loaded; nothing else is asked of its user."""
    played = play(GAME, "typical", record=tmp_path / "run")
    assert not branch(played).open
    assert [*model_reaches(f"{__name__}:Mine", {})] == []


@frozen
class Mine(BeerGame):
    """A model of the script that runs."""


def test_every_model_with_a_path_says_so() -> None:
    """A parameter that takes a path is declared by the class; a model of parts names these."""
    from desim import catalog
    from desim.composition.parts_model import PartsModel

    for cls in catalog.models().values():
        if issubclass(cls, PartsModel):
            parts = {
                part: {"model": "x", "params": {"p": 1}, "p": 1} for part in ("plant", "treasury")
            }
            assert list(cls.inner_models({"parts": parts, **parts}))
        else:
            assert cls.files({}) == []


def test_escapes_in_keys_of_a_record_are_shown_as_text(tmp_path: Path) -> None:
    """A name or key that would steer a terminal is escaped in every error, as values are."""
    file = tmp_path / "run.jsonl"
    play(GAME, "typical", record=file)
    lines = file.read_text().splitlines(keepends=True)[:3]
    lines[1] = lines[1].replace('"week":', '"\\u001b[2J\\u202eweek":')
    file.write_text("".join(lines))
    with pytest.raises(BadRecord) as refused:
        resume(file)
    assert r"\x1b[2J\u202eweek" in str(refused.value)
    assert str(refused.value).isprintable()
