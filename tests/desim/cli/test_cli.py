"""The command line: what goes to which stream, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import MINE, Desim, Ended, refused
from support.paths import PYTHONPATH

from desim import Episode, catalog
from desim.errors import UsageError

# -- schema ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "last"), [("beer_game", "brewery"), ("beer_game/classic", "factory")]
)
def test_schema_is_valid_json(desim: Desim, model: str, last: str) -> None:
    """Of every role's observation and action, and of the parameters."""
    code, out, err = desim("list", model, "--schema")
    printed = json.loads(out)
    assert (code, err, printed["model"]) == (0, "", "beer_game")
    assert [*printed["roles"]] == ["retailer", "wholesaler", "distributor", last]
    order = printed["roles"]["retailer"]["action"]["$defs"]["Order"]
    assert order["properties"]["do"] == {"enum": ["order"]}
    assert order["properties"]["quantity"]["description"].startswith("Units to order this week")
    assert printed["params"]["$defs"]["BeerGame"]["properties"]["horizon"]["maximum"] == 10_000


# -- run -------------------------------------------------------------------------------------------


def test_run_with_json_prints_one_line_and_nothing_else(shell: Desim) -> None:
    """In a process of its own, with warnings as errors."""
    code, out, err = shell("run", "beer_game", "--policy", "base_stock,target=1200", "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    printed = json.loads(out)
    assert printed["score"] == -30_200
    assert printed["policies"] == {"retailer": "base_stock,target=1200"}
    assert (printed["model"], printed["preset"], printed["seed"]) == ("beer_game", "firmbench", 0)
    assert (printed["ended"], printed["decisions"], printed["version"]) == ("horizon", 25, "0.1.0")
    assert len(printed["ledger_digest"]) == 64


def test_run_shows_people_a_table(desim: Desim) -> None:
    """Thousands are separated, and the digest is shortened."""
    code, out, err = desim("run", "beer_game", "--policy", "constant,quantity=100", "--seed", "3")
    assert (code, err) == (0, "")
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    printed = {line[0]: line[1].strip() for line in lines if len(line) > 1}
    assert printed["score"] == "-78,700"
    assert printed["policies"] == "retailer=constant,quantity=100 (rules)"
    assert (printed["seed"], printed["ended"], printed["decisions"]) == ("3", "horizon", "25")


def test_a_record_is_written_and_replayed(desim: Desim, folder: Path) -> None:
    """The table goes to standard output, the name of the record to standard error."""
    code, out, err = desim("run", "beer_game/classic", "--record", "run.jsonl.gz")
    assert (code, err) == (0, "recorded in run.jsonl.gz\n")
    assert "score" in out
    score = Episode.read(folder / "run.jsonl.gz").score
    assert desim("replay", "run.jsonl.gz") == Ended(
        0,
        f"run.jsonl.gz: 32 decisions replayed, all the same; score {score:,.10g}, ended horizon\n",
        "",
    )


def test_json_stays_pure_with_a_record_and_a_log(process: Desim) -> None:
    """Log lines carry the simulated time and go to standard error."""
    arguments = ("run", "beer_game", "--set", "opponents=oracle", "--record", "run", "--json")
    code, out, err = process("--log-level", "info", *arguments)
    assert code == 0
    assert out.count("\n") == 1
    assert json.loads(out)["params"]["opponents"] == "oracle"
    assert "unknown rule passes orders through" in err
    assert "2025-01-13       delivery                       role=retailer units=100" in err
    assert "opponents=oracle" in err
    assert "Traceback" not in err


def test_a_record_that_does_not_replay_ends_with_one(desim: Desim, folder: Path) -> None:
    """As does an incomplete record; the sentence names the file."""
    desim("run", "beer_game", "--policy", "typical", "--record", "run")
    whole = (folder / "run").read_bytes()
    assert b'"last_order":' in whole
    (folder / "run").write_bytes(whole.replace(b'"last_order":', b'"last_order":1', 1))
    refused(desim("replay", "run"), "run: the record was altered", 1)
    (folder / "run").write_bytes(whole[:-20])
    refused(desim("replay", "run"), "run: the record was cut after", 1)
    refused(desim("replay", "nothing"), "cannot read nothing: No such file")
    (folder / "run").write_text("junk")
    refused(desim("replay", "run"), "no episode record", 1)


# -- a user's own ----------------------------------------------------------------------------------


def test_own_policies_are_found_in_the_current_folder(shell: Desim, folder: Path) -> None:
    """Also in a folder `policies` of the user's own, which is searched like desim's."""
    (folder / "policies").mkdir()
    (folder / "policies" / "extra.py").write_text(MINE)
    for spec in ("mine:Cover,weeks=5", "policies.extra:Cover,weeks=5"):
        code, out, err = shell("run", "beer_game", "--policy", spec, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["policies"] == {"retailer": spec}
    code, out, _ = shell("run", "beer_game", "--policy", "greedy", "--json")
    assert code == 0


def test_an_own_model_runs_and_replays(process: Desim, folder: Path) -> None:
    """Under its name `module:Class`."""
    code, out, err = process(
        "run", "mine:World", "--policy", "mine:Cover", "--record", "r", "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["model"] == "mine:World"
    refused(process("replay", "r"), "r: the record would import module 'mine'")
    assert process("replay", "r", "--trust").code == 0
    assert (
        json.loads(process("list", "mine:World/classic", "--schema").out)["model"] == "mine:World"
    )


def test_an_own_folder_of_models_joins_ours(shell: Desim, folder: Path) -> None:
    """A world in it is listed by its file, and imported and played where its name is given."""
    (folder / "models" / "corner").mkdir(parents=True)
    (folder / "models" / "corner" / "__init__.py").write_text(
        "import models.beer_game\n\n\nclass Corner(models.beer_game.BeerGame):\n"
        '    """A shop at the corner."""\n'
    )
    code, out, err = shell("list")
    assert (code, err) == (0, "")
    assert f"corner: {folder}/models/corner/__init__.py was not imported" in out
    assert "A shop at the corner." not in out
    assert "beer_game" in out
    assert "A shop at the corner." in shell("list", "corner").out
    printed = json.loads(shell("run", "corner/classic", "--json").out)
    assert (printed["model"], printed["preset"]) == ("corner", "classic")


@pytest.mark.slow
def test_the_report_of_a_sweep_imports_no_world_of_the_current_folder(
    shell: Desim, folder: Path
) -> None:
    """The folder of the sweep may be a stranger's, and the world that its rows name."""
    package = folder / "models" / "corner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import pathlib\nimport models.beer_game\npathlib.Path('imported').touch()\n"
        "class Corner(models.beer_game.BeerGame): pass\n"
    )
    sweep = ("sweep", "corner", "--set", "horizon=1,2", "--seeds", "0:2", "--jobs", "1")
    assert shell(*sweep, "--out", "rows").code == 0
    (folder / "imported").unlink()
    assert shell("report", "rows").code == 0
    assert not (folder / "imported").exists()


def test_a_file_named_like_a_library_is_not_imported(folder: Path) -> None:
    """The current folder is searched last, as the installed command starts without it."""
    for name in ("msgspec", "gzip", "rich"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported')")
    started = [sys.executable, "-P", "-m", "desim"]
    environment = os.environ | {"PYTHONPATH": PYTHONPATH}
    for command in (["run", "beer_game", "--record", "run.jsonl.gz"], ["replay", "run.jsonl.gz"]):
        done = subprocess.run([*started, *command], env=environment, cwd=folder, check=False)
        assert done.returncode == 0


# -- wrong usage -----------------------------------------------------------------------------------

RUN = ("run", "beer_game")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "beer_gam"), "there is no model 'beer_gam'; did you mean 'beer_game'?"),
        (("run", ""), "there is no model ''; Possible: "),
        (("list", ""), "there is no model ''; Possible: "),
        (("run", "beer_game/clasic"), "no preset 'clasic'; did you mean 'classic'?"),
        ((*RUN, "--preset", "clasic"), "no preset 'clasic'; did you mean 'classic'?"),
        (("run", "beer_game/classic", "--preset", "poisson"), "presets 'classic' and 'poisson'"),
        ((*RUN, "--set", "horizn=3"), "no parameter 'horizn'; did you mean 'horizon'?"),
        ((*RUN, "--set", "horizon=x"), "horizon=x was given; horizon is a whole number"),
        ((*RUN, "--set", "horizon=0"), "'horizon' must be >= 1: 0"),
        ((*RUN, "--set", "holding_cost=nan"), "holding_cost=nan was given"),
        ((*RUN, "--set", "demand=sinus"), "demand='sinus' was given; it is step:LOW:HIGH:WEEK"),
        ((*RUN, "--set", "controlled=bar"), "controlled='bar' was given; possible: retailer"),
        ((*RUN, "--set", "horizon"), "--set 'horizon' is not KEY=VALUE"),
        ((*RUN, "--set", "=3"), "--set '=3' is not KEY=VALUE"),
        ((*RUN, "--set", "horizon=3", "--set", "horizon=4"), "--set horizon was given twice"),
        ((*RUN, "--policy", "base_stok"), "no policy 'base_stok' for beer_game; did you mean"),
        ((*RUN, "--policy", "base_stock,targt=3"), "no argument 'targt'; did you mean 'target'?"),
        ((*RUN, "--policy", "base_stock,target=x"), "target=x was given; target is a whole number"),
        ((*RUN, "--policy", "base_stock,target=-1"), "'target' must be >= 0: -1"),
        ((*RUN, "--policy", "base_stock,target"), "'target' in policy 'base_stock,target' is not"),
        ((*RUN, "--policy", "constant"), "policy 'constant' needs quantity"),
        ((*RUN, "--policy", ""), "has no name; write NAME[,KEY=VALUE]"),
        ((*RUN, "--policy", "retailr=typical"), "no role 'retailr'; did you mean 'retailer'?"),
        ((*RUN, "--policy", "retailer="), "has no name"),
        ((*RUN, "--policy", "greedy", "--policy", "random"), "name no role; write ROLE=SPEC"),
        (
            (*RUN, "--policy", "brewery=greedy", "--policy", "brewery=random"),
            "two policies for 'brewery'",
        ),
        ((*RUN, "--policy", "nowhere:X"), "policy 'nowhere:X': there is no module 'nowhere' here"),
        (
            (*RUN, "--policy", "mine:Covr"),
            "no class or function 'Covr' in 'mine'; did you mean 'Cover'?",
        ),
        ((*RUN, "--policy", "mine:"), "no class or function '' in 'mine'"),
        ((*RUN, "--policy", ":Cover"), "policy ':Cover' names no module; write module:Class"),
        ((*RUN, "--policy", ".mine:Cover"), "names no module; write module:Class"),
        ((*RUN, "--policy", "mine:NoPolicy"), "is no policy: it has no method decide(observation)"),
        ((*RUN, "--policy", "builtins:int"), "is no policy: it has no method decide(observation)"),
        (
            (*RUN, "--policy", "mine:NoSubclass"),
            "class NoSubclass is no policy: write class NoSubclass(desim.Policy)",
        ),
        ((*RUN, "--policy", "mine:Cover,weeks=x"), "weeks=x was given; weeks is a whole number"),
        (("run", "mine:Cover"), "mine:Cover is no model: it needs roles, begin, score and metrics"),
        (("run", "mine:Wrld"), "no class or function 'Wrld' in 'mine'; did you mean 'World'?"),
        (("replay", "none.jsonl"), "cannot read none.jsonl: No such file"),
        (("run", "nowhere:World"), "there is no module 'nowhere' here"),
        ((*RUN, "--policy", "script,file=none"), "cannot read the script none: No such file"),
        ((*RUN, "--record", "missing/run"), "cannot write missing/run: No such file"),
        ((*RUN, "--record", "mine.py"), "mine.py exists and is kept; choose another name"),
        (("list", "--schema"), "--schema belongs to a model: desim list MODEL --schema"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_wrong_usage_ends_with_one_sentence(
    desim: Desim, folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    """Exit code 2, nothing on standard output, no file left behind."""
    refused(desim(*arguments), says)
    assert {f.name for f in folder.iterdir()} <= {"mine.py", "__pycache__"}
    assert (folder / "mine.py").read_text() == MINE


HUGE = ("--seeds", "0:999999999999")
TOO_MANY = "more than 10,000,000 episodes were asked for"
TUNED = ("tune", "beer_game", "--policy", "base_stock", "--set", "policy.target=int:1:5")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sweep", "beer_game", *HUGE), TOO_MANY),
        (
            ("sweep", "beer_game", "--seeds", f"0:{10**30}"),
            TOO_MANY,
        ),
        (
            ("sweep", "beer_game", "--seeds", "0:5000001", "--policy=greedy", "--policy=random"),
            TOO_MANY,
        ),
        (
            ("sweep", "beer_game", *HUGE, "--until", "5%"),
            TOO_MANY,
        ),
        ((*TUNED, "--budget", "9", *HUGE), TOO_MANY),
        ((*TUNED, "--budget", "99", "--held-out", HUGE[1]), TOO_MANY),
        (("check", "beer_game", *HUGE), TOO_MANY),
        (("baselines", "beer_game", *HUGE), TOO_MANY),
        (("sweep", "beer_game", "--until", "5%", "--series"), "--series belongs to plain sweeps"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_huge_ranges_are_refused_at_once(
    desim: Desim, arguments: tuple[str, ...], says: str
) -> None:
    """In one sentence; none of them is held in memory."""
    refused(desim(*arguments), says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*RUN, "--seed", "-1"), "-1 is not in the range x>=0"),
        ((*RUN, "--seed", "1.5"), "'1.5' is not a valid integer"),
        ((*RUN, "--sed", "1"), "No such option"),
        (("rnu",), "No such command 'rnu'; did you mean 'run'?"),
        (("run",), "Missing argument 'MODEL'"),
        (("--log-level", "loud", "list"), "'loud' is not one of"),
        ((*RUN, "--record", "."), "'.' is a directory"),
        ((*RUN, "--seed", "1", "--seed=2"), "'--seed' was given 2 times; give it once"),
        (("--log-level", "info", "list", "--log-level=debug"), "'--log-level' was given 2 times"),
        (("report", "a", "--out", "b", "--out", "c"), "'--out' was given 2 times"),
        (("sweep", "beer_game", "--seeds", ""), "'--seeds' is an empty text; give a value"),
        (("check", "beer_game", "--seeds="), "'--seeds' is an empty text; give a value"),
        ((*RUN, "--record", ""), "'--record' is an empty text; give a value"),
        (("replay", ""), "'FILE' is an empty text; give a value"),
        *(
            ((name, ".", *more), "is a directory")
            for name, *more in (
                ("replay",),
                ("resume",),
                ("branch", "--at=1"),
                ("regret",),
                ("export",),
                ("memory",),
            )
        ),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_what_click_refuses_ends_with_one_sentence_too(
    desim: Desim, arguments: tuple[str, ...], says: str
) -> None:
    """With click's own text, and the help text to read."""
    ended = desim(*arguments)
    refused(ended, says)
    assert "--help shows the usage" in ended.err


def test_a_run_that_fails_ends_with_one(desim: Desim) -> None:
    """The sentence names the policy and the original error."""
    says = "policy mine:Breaks failed as 'retailer' at t=0: RuntimeError: out of order"
    refused(desim("run", "beer_game", "--policy", "mine:Breaks", "--json"), says, 1)


def test_debug_shows_a_traceback(process: Desim) -> None:
    """Of both errors, the policy's and desim's; without --debug there is none."""
    quiet = process("run", "beer_game", "--policy", "mine:Breaks")
    loud = process("--debug", "run", "beer_game", "--policy", "mine:Breaks")
    assert (quiet.code, loud.code, loud.out) == (1, 1, "")
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err
    assert 'raise RuntimeError("out of order")' in loud.err
    assert "PolicyFailed" in loud.err


def test_help_and_version(desim: Desim) -> None:
    """For every command, with exit code 0."""
    for arguments in (["--help"], ["-h"], ["run", "-h"], ["replay", "--help"], ["--version"]):
        code, out, err = desim(*arguments)
        assert (code, err) == (0, "")
        assert "desim" in out


# -- the catalog in this process -------------------------------------------------------------------


def test_a_module_that_cannot_be_imported_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module missing inside a user's module is not mistaken for that module."""
    monkeypatch.syspath_prepend(str(folder))
    (folder / "needy.py").write_text("import not_installed_anywhere\n")
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        catalog.model_class("needy:World")
    with pytest.raises(UsageError, match="there is no module 'absent' here"):
        catalog.model_class("absent:World")


def test_tables_are_written_in_any_encoding() -> None:
    """A character that the encoding of the output lacks is written as `?`, also into a file."""
    words = [
        "sweep",
        "beer_game",
        "--policy",
        "greedy",
        "--seeds",
        "0:1",
        "--jobs",
        "1",
        "--max-decisions",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "desim", *words],
        env={**os.environ, "PYTHONPATH": PYTHONPATH, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "UnicodeEncodeError" not in done.stderr
    assert "?" in done.stdout
