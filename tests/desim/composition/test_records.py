"""Records of composites: replay, resume, branch, export, and what a stranger's record may name."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.companies import FIRM, Firm, Hike, company
from support.recorded import lines_of, played_lines, telltale

from desim import Episode, branch, export, play, replay, resume
from desim.catalog import model_name
from desim.composition import Composite, PartSpec
from desim.core.limits import Limits
from desim.episodes.resume import play_branch
from desim.errors import BadRecord, LimitReached, UsageError
from desim.records.reach import model_reaches
from desim.schema import to_plain

COMPOSITE = model_name(Composite)

INNER = Composite({"a": Firm(ticks="days"), "b": Hike()}, ends="any")
MODELS = {
    "linked": company(),
    "nested": Composite({"inner": INNER, "twice": PartSpec(model=Firm(), times=2)}),
    "worlds": Composite({"plant": "beer_game", "firm": "edt"}),
}
POLICIES = {
    "linked": {"north": "greedy", "south.boss": "random"},
    "nested": "greedy",
    "worlds": {"plant": "order_up_to", "firm.manager": "simple"},
}


@pytest.fixture(params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a composite; worlds of the catalog are quick to skip where they cannot."""
    return str(request.param)


def recorded(name: str, file: Path, **options: Any) -> Episode:
    """Play a composite into a record."""
    return play(MODELS[name], POLICIES[name], 3, record=file, **options)


def test_a_record_replays(name: str, tmp_path: Path) -> None:
    """To the same result, parts within parts, repetitions and links included."""
    episode = recorded(name, tmp_path / "run.jsonl")
    assert replay(tmp_path / "run.jsonl").result == episode.result
    assert Episode.read(tmp_path / "run.jsonl").header.build() == MODELS[name]


def test_every_prefix_is_resumed(tmp_path: Path) -> None:
    """To the same lines."""
    whole = tmp_path / "whole.jsonl"
    recorded("nested", whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        cut = tmp_path / f"cut{count}.jsonl"
        cut.write_bytes(b"".join(lines[:count]) + lines[count][: len(lines[count]) // 2])
        resume(cut)
        assert played_lines(cut) == played_lines(whole)


def test_a_linked_record_is_resumed_and_branched(tmp_path: Path) -> None:
    """The link pays in the repeated part as well."""
    file = tmp_path / "run.jsonl"
    with pytest.raises(LimitReached):
        recorded("linked", file, limits=Limits(decisions=3))
    episode = resume(file)
    assert episode.result == play(MODELS["linked"], POLICIES["linked"], 3).result
    other = play_branch(
        file, 2, {"north": "greedy", "south": "greedy"}, record=tmp_path / "b.jsonl"
    )
    assert replay(tmp_path / "b.jsonl").result == other.result
    open_run = branch(episode, decisions=2)
    assert [decision.role for decision in open_run.open] == [episode.steps[2].role]


def test_ledgers_of_parts_are_exported_under_their_names(tmp_path: Path) -> None:
    """Each in files of its own, with the dates of the part; statements too."""
    recorded("nested", tmp_path / "run.jsonl")
    files = {file.name: file.read_text() for file in export(tmp_path / "run.jsonl")}
    journals = sorted(name for name in files if "journal" in name)
    assert len(journals) == 3
    assert "inner.a.income.csv" in files


# -- trust -----------------------------------------------------------------------------------------


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that the import of a module `evil` leaves."""
    source = (
        "from support.companies import Firm\n"
        "class World(Firm): pass\n"
        "def run(world, group): yield world.timeout(1)\n"
        "def build(): return Firm()\n"
    )
    with telltale(tmp_path, "evil", source, monkeypatch) as left:
        yield left


def forged(tmp_path: Path, model: str = COMPOSITE, policies: Any = None, **params: Any) -> Path:
    """Write a record of a header alone, as a stranger would."""
    file = tmp_path / "stranger.jsonl"
    play(Composite({"firm": Firm()}), "greedy", record=file)
    head = lines_of(file)[0]
    head["model"] = model
    head["params"] |= params
    head["policies"] = policies or head["policies"]
    file.write_text(json.dumps(head) + "\n")
    return file


def part(model: str, **params: Any) -> dict[str, Any]:
    """Return a part as a record holds it."""
    return {"firm": {"model": model, "params": params}}


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"parts": part("evil:World")}, "import module 'evil' for part 'firm'"),
        ({"parts": part("evil:build")}, "import module 'evil' for part 'firm'"),
        ({"parts": {"firm": "evil:World/a"}}, "import module 'evil' for part 'firm'"),
        ({"links": [{"function": "evil:run"}]}, "call 'evil:run'"),
        ({"links": ["evil:run"]}, "call 'evil:run'"),
        ({"links": "evil:run"}, "call 'evil:run'"),
        ({"links": [{"function": "os:walk"}]}, "call 'os:walk'"),
        ({"links": [{"function": "support.companies:played"}]}, "call 'support.companies:played'"),
        (
            {"parts": part(COMPOSITE, parts=part("evil:World"))},
            "import module 'evil' for part 'firm.firm'",
        ),
        (
            {"parts": part(COMPOSITE, parts=part(FIRM), links=["os:walk"])},
            "call 'os:walk' for part 'firm'",
        ),
        ({"parts": part("edt", scenario="/etc/passwd")}, "open '/etc/passwd' for part 'firm'"),
        (
            {"parts": part(COMPOSITE, parts=part("beer_game", demand="csv:/etc/passwd"))},
            "open '/etc/passwd' for part 'firm.firm'",
        ),
    ],
)
def test_what_parts_and_links_of_a_record_would_reach_is_refused(
    tmp_path: Path, evil: Path, params: Any, says: str
) -> None:
    """Nothing is imported, opened or called; a loaded module is no reason to call its functions."""
    file = forged(tmp_path, **params)
    before = file.read_bytes()
    for use in (
        resume,
        export,
        lambda file: play_branch(file, 0),
        lambda file: branch(Episode.read(file, whole=False)),
        lambda file: Episode.read(file, whole=False).header.build(),
    ):
        with pytest.raises(UsageError, match="Nothing was done") as refused:
            use(file)
        assert says in str(refused.value)
    assert not evil.exists()
    assert file.read_bytes() == before


@pytest.mark.parametrize("model", ["evil:build", "support.companies:company", "os:getcwd"])
def test_a_record_names_no_function_as_its_model(tmp_path: Path, evil: Path, model: str) -> None:
    """A function is called for a user who names it, and never for a record."""
    file = forged(tmp_path, model=model)
    with pytest.raises((UsageError, BadRecord)):
        resume(file)
    assert not evil.exists()


def test_a_policy_of_a_part_that_opens_a_file_is_refused(tmp_path: Path) -> None:
    """Also one that only the part's model has."""
    file = forged(tmp_path, policies={"firm.boss": "script,file=/etc/passwd"})
    with pytest.raises(UsageError, match="build 'script' for 'firm\\.boss', which opens files"):
        resume(file)


def test_what_code_of_this_process_has_named_needs_no_trust(tmp_path: Path) -> None:
    """The link of the script that runs, whether it was given as a function or by its name."""
    file = tmp_path / "own.jsonl"
    recorded("linked", file)
    assert resume_from_start(file).result is not None
    assert [*model_reaches(COMPOSITE, to_plain(company()))] == []


def resume_from_start(file: Path) -> Episode:
    """Cut a record behind its header and resume it."""
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0])
    return resume(file)


def test_trust_allows_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust imports the module of a part and calls its links."""
    (tmp_path / "my_own.py").write_text(
        "from desim.composition import Composite\n"
        "from support.companies import Firm\n"
        "class World(Firm): pass\n"
        "def pool(world, group): yield world.timeout(1)\n"
        "def company(): return Composite({'firm': World()}, links=pool)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    file = forged(tmp_path, parts=part("my_own:World"), links=[{"function": "my_own:pool"}])
    with pytest.raises(UsageError, match="call 'my_own:pool'; import module 'my_own' for part"):
        resume(file)
    assert "my_own" not in sys.modules
    assert resume(file, trust=True).result is not None
    sys.modules.pop("my_own", None)


#: How deep composites may be nested in every case.
SHALLOW = 10


@pytest.mark.parametrize("depth", [SHALLOW, 120, 240, 10_000])
def test_composites_in_composites_without_end_are_refused(tmp_path: Path, depth: int) -> None:
    """With a sentence, from the depth on at which Python's stack would overflow."""
    file = forged(tmp_path, parts=part(FIRM))
    firm = json.dumps({"model": FIRM, "params": {}})
    inside = f'{{"model":"{COMPOSITE}","params":{{"parts":{{"p":'
    text = file.read_text().replace(firm, inside * depth + firm + "}}}" * depth)
    file.write_text(text.replace('"firm.boss"', f'"firm{".p" * depth}.boss"'))
    if depth == SHALLOW:
        assert resume(file).score
        return
    with pytest.raises((BadRecord, UsageError)) as refused:
        resume(file)
    assert len(str(refused.value)) < 5_000
