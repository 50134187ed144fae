"""The folder of a suite: the code of its episodes, damage, strangers, full disks, silent models."""

import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.forked import desim_process, ended
from support.paths import ROOT
from support.stub import Served, Stub, serving, text
from support.suites import answer, bench, lose_rows, outcomes, started, suite_file, table

from desim import sweep
from desim.errors import UsageError
from desim.reports.report import write_report

BEER = '[worlds.beer]\nmodel = "beer_game"\nset = { horizon = 6 }'

#: A rule in a file of the user.
RULE = """
from desim import Policy
from models.beer_game.stage import Order

class Mine(Policy):
    def decide(self, stage):
        return Order(4)
"""

GREEDY = 'policy = "greedy"'


@pytest.fixture
def stub() -> Iterator[Stub]:
    """An endpoint whose replies are orders."""
    with serving(answer) as served:
        yield served


def of_rule(folder: Path, head: str = 'seeds = "0:2"', worlds: str = BEER) -> Path:
    """A suite of a rule in `mine.py` and a shipped one."""
    (folder / "mine.py").write_text(RULE)
    rules = {"mine": 'policy = "mine:Mine"', "rule": 'policy = "order_up_to"'}
    return suite_file(folder, "", worlds, head, model="", **rules)


def played(suite: Path, out: Path, *options: str) -> tuple[int, str, str]:
    """`desim bench` of rules, with one process."""
    return bench(suite, out, "--jobs", "1", *options)


def verified(out: Path, *options: str) -> tuple[int, str, str]:
    """`desim verify DIR` in the folder beside it."""
    done = ended(desim_process("verify", str(out), *options, cwd=out.parent))
    return done.code, done.out, done.err


def show(out: Path, *options: str) -> tuple[int, str, str]:
    """`desim bench DIR` in the folder beside it."""
    done = ended(desim_process("bench", str(out), *options, cwd=out.parent))
    return done.code, done.out, done.err


# -- the code that episodes are of -----------------------------------------------------------------


@pytest.mark.parametrize("half", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_edited_policy_is_refused_and_restart_plays_it(tmp_path: Path, half: bool) -> None:  # noqa: FBT001 (a parameter)
    """After the end, and after a kill before it; the sentence names the entry and the class."""
    suite, out = of_rule(tmp_path), tmp_path / "out"
    assert played(suite, out)[0] == 0
    if half:
        lose_rows(out, "seed = '1'")
    before = (out / "rows.csv").read_bytes()
    (tmp_path / "mine.py").write_text(RULE.replace("Order(4)", "Order(9)"))
    code, printed, errors = played(suite, out)
    assert (code, printed) == (2, "")
    assert "of beer, mine" in errors
    assert "beer, rule" not in errors
    assert (out / "rows.csv").read_bytes() == before
    code, _, errors = played(suite, out, "--restart")
    assert code == 0, errors
    assert "rows were discarded" in errors
    assert played(suite, tmp_path / "new")[0] == 0
    scores = [_scores(tmp_path / name) for name in ("out", "new")]
    assert scores[0] == scores[1]
    assert verified(out, "--trust")[0] == 0


def _scores(out: Path) -> dict[str, float | None]:
    return {name: outcome.score for name, outcome in outcomes(out).items()}


@pytest.mark.slow
def test_a_sweep_is_refused_in_the_folder_of_a_suite(tmp_path: Path) -> None:
    """Its rows are not those of a suite, which would not be read any more."""
    (tmp_path / "suite.toml").touch()
    with pytest.raises(UsageError, match="holds a suite; choose another folder"):
        sweep("beer_game", "greedy", range(1), out=tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["suite.toml"]


def test_a_suite_grows_in_its_folder(tmp_path: Path) -> None:
    """More seeds, entries and worlds are played beside what is kept; a smaller suite shows less."""
    out = tmp_path / "out"
    assert played(of_rule(tmp_path), out)[0] == 0
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    more = {"mine": 'policy = "mine:Mine"', "rule": 'policy = "order_up_to"', "greedy": GREEDY}
    worlds = f"{BEER}\n{BEER.replace('beer]', 'long]').replace('6', '8')}"
    suite = suite_file(tmp_path, "", worlds, 'seeds = "0:3"', model="", **more)
    assert played(suite, out, "--dry-run")[0] == 0
    code, printed, errors = played(suite, out)
    assert code == 0, errors
    assert len(list((out / "records").iterdir())) == 2 * 3 * 3
    now = {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    assert kept.items() <= now.items()
    assert show(out)[1] == printed
    assert played(of_rule(tmp_path, 'seeds = "0:1"'), out)[0] == 0
    assert len(list((out / "records").iterdir())) == 2 * 3 * 3
    assert len((out / "rows.csv").read_text().splitlines()) == 1 + 2


@pytest.mark.slow
def test_an_edited_prompt_is_refused(tmp_path: Path, stub: Stub) -> None:
    """In an entry of a language model, with a copy of the tree whose prompt is edited."""
    tree = tmp_path / "tree"
    for name in ("desim", "ledgers", "models", "policies"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    suite, out = suite_file(tmp_path, stub.url, BEER, rule='policy = "order_up_to"'), "out"

    def run() -> tuple[int, str]:
        words = [sys.executable, "-P", "-m", "desim", "bench", str(suite), "--out", out, "--yes"]
        env = {**os.environ, "PYTHONPATH": str(tree)}
        done = subprocess.run(
            words, cwd=tmp_path, env=env, capture_output=True, check=False, text=True
        )
        return done.returncode, done.stderr

    assert run()[0] == 0
    prompt = tree / "policies" / "llm" / "worlds" / "beer_game.py"
    edited = prompt.read_text().replace("week", "fortnight")
    prompt.write_text(edited)
    code, errors = run()
    assert code == 2
    assert "of beer, model" in errors
    assert "beer, rule" not in errors


#: A world of the user, whose code and whose rules are edited.
WORLD = """
from desim.core.reported import Texts
from models.beer_game.model import BeerGame

class World(BeerGame):
    def texts(self, role):
        return Texts("Order beer.")

    def score(self, state):
        return super().score(state) - 0
"""


def test_what_is_on_record_is_not_asked_again_for_other_code(tmp_path: Path, stub: Stub) -> None:
    """After --restart the model is asked only what it was not asked: here after other rules."""
    world, out = tmp_path / "world.py", tmp_path / "out"
    alone = BEER.replace("beer_game", "world:World")
    worlds = f"{alone}\n{alone.replace('beer]', 'row]')}\nepisodes = 2"
    suite = suite_file(tmp_path, stub.url, worlds, rule=GREEDY)
    world.write_text(WORLD)
    code, printed, errors = bench(suite, out)
    assert code == 0, errors
    before, asked = _scores(out), len(stub.requests)
    assert before["beer__model__seed0__1"] is not None
    for rules, again in (("Order beer.", 0), ("Order it well.", asked)):
        stub.requests.clear()
        # Each text has its own length: Python's cache does not see another one of the same second.
        world.write_text(WORLD.replace("- 0", "- 9.0").replace("Order beer.", rules))
        assert bench(suite, out)[0] == 2
        code, printed, errors = bench(suite, out, "--restart")
        assert code == 0, errors
        assert len(stub.requests) == again
        assert f"in {asked} calls" in printed
        assert _scores(out) == {job: score and score - 9 for job, score in before.items()}
        assert verified(out, "--trust")[0] == 0
        assert not (out / "earlier").exists()


# -- damage ----------------------------------------------------------------------------------------


def test_lost_outcomes_are_read_from_the_records_again(tmp_path: Path, stub: Stub) -> None:
    """The results are the same, a limit that was reached too, and nothing is bought."""
    suite, out = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:3"'), tmp_path / "out"
    suite.write_text(suite.read_text().replace("max_calls = 12", "max_calls = 4"))
    assert bench(suite, out)[0] == 0
    assert b"max_calls=4 reached" in (out / "rows.csv").read_bytes()
    before, sent = (out / "rows.csv").read_bytes(), len(stub.requests)
    lose_rows(out, "seed = '1'")
    assert bench(suite, out)[0] == 0
    assert ((out / "rows.csv").read_bytes(), len(stub.requests)) == (before, sent)


@pytest.mark.parametrize(
    "name",
    [
        "sweep.sqlite",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("suite.toml", "rows.csv")),
    ],
)
def test_no_flipped_bit_changes_results_in_silence(tmp_path: Path, stub: Stub, name: str) -> None:
    """The same command ends with the same files, or says what is damaged."""
    suite, out = suite_file(tmp_path, stub.url, BEER), tmp_path / "out"
    code, printed, _ = bench(suite, out)
    assert code == 0
    results, whole = (out / "rows.csv").read_bytes(), (out / name).read_bytes()
    chance = random.Random(name)  # noqa: S311 (places)
    for _ in range(3):
        bit = chance.randrange(8 * len(whole))
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        (out / name).write_bytes(damaged)
        code, again, errors = bench(suite, out)
        same = (again, (out / "rows.csv").read_bytes()) == (printed, results)
        assert same if code == 0 else errors, bit
        (out / name).write_bytes(whole)
    assert len(stub.requests) == 6


# -- money -----------------------------------------------------------------------------------------

#: Money for a reply: 15 tokens at 100 a million.
REPLY = 15 * 100 / 1e6


@pytest.mark.parametrize("cut_episode", [pytest.param(False, marks=pytest.mark.slow), True])
def test_money_is_what_rows_and_records_say(
    tmp_path: Path,
    stub: Stub,
    cut_episode: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """Of ended and of cut episodes, also where a kill has lost their rows."""
    limit = 12 * REPLY - (1.5 * REPLY if cut_episode else 0.0)
    suite, out = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:4"'), tmp_path / "out"
    words = ["--jobs", "1", "--max-cost", str(limit)]
    assert bench(suite, out, *words)[0] == 1
    sent = len(stub.requests)
    for where in ("seed = '0'", "true"):
        lose_rows(out, where)
        code, _, errors = bench(suite, out, *words)
        assert code == 1
        assert "the limit of money is spent" in errors
        assert len(stub.requests) == sent
    assert f"spent {sent * REPLY:.6g} in {sent} calls" in show(out)[1]


# -- strangers -------------------------------------------------------------------------------------

TRAP = "raise SystemExit('a module was imported')\n"


def test_printing_a_strangers_suite_imports_nothing(tmp_path: Path) -> None:
    """The table and the report; verify refuses to import without --trust."""
    suite, out = of_rule(tmp_path, 'seeds = "0:2"'), tmp_path / "out"
    assert played(suite, out)[0] == 0
    printed = show(out)[1]
    (tmp_path / "mine.py").write_text(TRAP)
    (tmp_path / "trap.py").write_text(TRAP)
    shown = (out / "suite.toml").read_text()
    forged = shown.replace('"beer_game"', '"trap:World"').replace("order_up_to", "trap:f")
    (out / "suite.toml").write_text(forged)
    assert show(out)[:2] == (0, printed)
    assert write_report([out]).exists()
    code, _, errors = verified(out)
    assert (code, "the suite would import module 'trap'" in errors) == (2, True)


def test_a_suite_is_verified_with_ones_own_world_only_with_trust(tmp_path: Path) -> None:
    """The model of a user's file, once it is another process that has not imported it."""
    (tmp_path / "world.py").write_text(
        "from models.beer_game.model import BeerGame\nclass World(BeerGame):\n    pass\n"
    )
    worlds = BEER.replace("beer_game", "world:World")
    suite = suite_file(tmp_path, "", worlds, model="", rule='policy = "greedy"')
    out = tmp_path / "out"
    assert bench(suite, out)[0] == 0
    code, _, errors = verified(out)
    assert code == 2
    assert "the suite would import module 'world'" in errors
    assert verified(out, "--trust")[0] == 0


# -- the disk --------------------------------------------------------------------------------------


@pytest.mark.parametrize("started", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_full_disk_is_a_sentence_and_loses_nothing(
    tmp_path: Path,
    stub: Stub,
    started: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """At the start and on the way; what was written is kept, and the same command goes on."""
    most = 6_000
    if started:  # a page more than a folder of one episode needs
        one = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:1"')
        assert bench(one, tmp_path / "one")[0] == 0
        most = (tmp_path / "one" / "sweep.sqlite").stat().st_size + 4096
        stub.requests.clear()
    suite, out = suite_file(tmp_path, stub.url, BEER, 'seeds = "0:20"'), tmp_path / "out"
    code, _, errors = limited(suite, out, most)
    assert code in {1, 2}
    assert "Traceback" not in errors
    assert "cannot" in errors.splitlines()[-1]
    sent = len(stub.requests)
    assert (sent > 0) == started
    code, _, errors = bench(suite, out)
    assert code == 0, errors
    assert table(out)["model"]["score"]["done"] == 20
    assert 20 * 6 <= len(stub.requests) <= 20 * 6 + 20
    code, printed, errors = verified(out)
    assert code == 0, printed + errors


def limited(suite: Path, out: Path, most: int) -> tuple[int, str, str]:
    """Run `desim bench` where no file may grow beyond a size in bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        process = started(suite, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    printed, errors = process.communicate(timeout=120)
    return process.returncode, printed, errors


# -- silent models ---------------------------------------------------------------------------------


def silent_from(call: int) -> Any:
    """A model whose replies are empty from a call on."""

    def reply(number: int, _: dict[str, Any]) -> Served:
        return text('{"order_qty": 120}' if number < call else "")

    return reply


@pytest.mark.parametrize(("read", "played"), [(2, 0), (3, 1)])
def test_an_episode_of_mostly_defaults_is_not_played(
    tmp_path: Path, stub: Stub, read: int, played: int
) -> None:
    """Up to one half it counts; the share is in the table and in all files."""
    stub.script = silent_from(read)
    suite, out = suite_file(tmp_path, stub.url, BEER), tmp_path / "out"
    suite.write_text(suite.read_text().replace("max_calls = 12", "retries = 0"))
    code, printed, errors = bench(suite, out)
    assert code == 0, errors
    score = table(out)["model"]["score"]
    share = 1 - read / 6
    assert (score["done"], score["not_played"]) == (played, 1 - played)
    assert score["defaults"] == pytest.approx(share)
    assert (score["mean"] is not None) == bool(played)
    heads, values = (row.split(",") for row in (out / "rows.csv").read_text().splitlines())
    row = dict(zip(heads, values, strict=True))
    assert row["state"] == ("done" if played else "not played")
    assert float(row["defaults"]) == pytest.approx(share)
    assert f"{share:.0%}" in printed
    assert ("not played: episodes with more than 50% defaults" in printed) != bool(played)
    page = write_report([out]).read_text()
    assert ("not played" in page) != bool(played) or "that mostly took" in page


def test_a_silent_model_beside_another_is_not_played(tmp_path: Path, stub: Stub) -> None:
    """Each role is judged by its own decisions, and the report names the silent one."""
    with serving(text("")) as silent:
        roles = 'roles = ["retailer", "wholesaler", "distributor"]\noptions = { retries = 0 }'
        model = f'model = "m"\nbase_url = "{stub.url}"\n{roles}'
        world = BEER.replace("beer_game", "beer_game/classic") + (
            f'\npolicy.factory = "llm,model=m,base_url={silent.url},retries=0"'
        )
        out = tmp_path / "out"
        code, _, errors = bench(suite_file(tmp_path, "", world, model=model), out)
    assert code == 0, errors
    score = table(out)["model"]["score"]
    assert (score["done"], score["not_played"], score["defaults"]) == (0, 1, 0.25)
    assert "most of factory" in write_report([out]).read_text()


# -- keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["", pytest.param('base_url = "http://127.0.0.1:1/v1"', marks=pytest.mark.slow)]
)
def test_a_dry_run_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """It says which is missing; playing is refused before anything is written."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    entries = {
        "model": f'model = "m"\nkey_env = "NO_SUCH_KEY"\n{host}',
        "spec": 'policy = "llm,model=m,base_url=http://127.0.0.1:1/v1,key_env=NO_SUCH_KEY"',
        "role": 'policy = { retailer = "llm,model=m" }',
    }
    suite, out = suite_file(tmp_path, "", BEER, **entries), tmp_path / "out"
    code, printed, errors = bench(suite, out, "--dry-run")
    assert (code, out.exists()) == (0, False), errors
    assert "3 of 3 episodes are left" in printed
    assert "entries.model: the environment variable NO_SUCH_KEY (key_env) is not set" in printed
    code, _, errors = bench(suite, out)
    assert (code, out.exists()) == (2, False)
    assert "NO_SUCH_KEY" in errors
