"""A suite's file: what it may say, and one sentence for what is wrong."""

from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from support.suites import suite_file

from desim.errors import UsageError
from desim.suites.suite_plan import Plan, SuiteCell, read_plan, safe_name

SHIPPED = sorted((ROOT / "experiments" / "suites").glob("*.toml"))

GOOD = """
seeds = [3, 1]
[worlds.game]
model = "beer_game/classic"
set = { horizon = 4 }
columns = ["score", { name = "whip", figure = "bullwhip_supply_chain", scale = 2 }]
[entries.rule]
policy = "order_up_to"
[entries.greedy]
policy = { retailer = "greedy" }
"""


def planned(folder: Path, text: str) -> Plan:
    """The plan of a file with that text."""
    path = folder / "suite.toml"
    path.write_text(text, encoding="utf-8")
    return read_plan(path)


def refusal(folder: Path, text: str) -> str:
    """Why a file with that text is refused."""
    with pytest.raises(UsageError) as refused:
        planned(folder, text)
    return str(refused.value)


def policies_of(cell: SuiteCell) -> Any:
    """Return the policies of a cell."""
    return cell.entry.policies


def test_jobs_are_worlds_by_entries_by_seeds_by_repeats(tmp_path: Path) -> None:
    """All pairs with the first seed come before the second seed."""
    plan = planned(tmp_path, "repeats = 2\n" + GOOD)
    names = [str(job) for job in plan.jobs]
    assert names[:3] == [
        "game__rule__seed3__1",
        "game__greedy__seed3__1",
        "game__rule__seed3__2",
    ]
    assert len(set(names)) == len(names) == 8
    assert plan.cells["game", "rule"].model.horizon == 4  # type: ignore[attr-defined]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As some editors write it."""
    assert planned(tmp_path, "\ufeff" + GOOD).jobs


MODEL = "[entries.x]\nmodel = 'm'\nbase_url = 'http://a/v1'\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no [worlds.NAME]"),
        ("x = [" * 5000, "is no TOML"),
        ("seedz = 3\n" + GOOD, "unknown field `seedz`; did you mean 'seeds'?"),
        ("[worlds]\na = 3\n[entries.b]\npolicy = 'greedy'", "Expected `object`"),
        (GOOD.replace("[3, 1]", "[3, 3]"), "worlds.game: seed 3 is given twice"),
        (GOOD.replace("[3, 1]", f"'0:{10**30}'"), "more than 10,000,000 episodes"),
        (GOOD.replace("[3, 1]", "'0:100000'"), "there are 200,000 episodes"),
        ("max_cost = nan\n" + GOOD, "max_cost"),
        ("concurrent = 1001\n" + GOOD, "<= 1000 - at `suite.concurrent`"),
        (
            GOOD.replace("[entries.rule]", "episodes = 1000\n[entries.rule]"),
            "<= 999 - at `worlds.game.episodes`",
        ),
        (
            GOOD.replace("[entries.rule]", "episodes = 3\n[entries.rule]"),
            "two series would play the same seed; give seeds 3 apart, such as [0, 3]",
        ),
        (
            GOOD + MODEL + "method = 'ace'\noptions = { learning = 'offline', train = 2 }",
            "train=2 leaves none of its 1 episodes in a row to be scored",
        ),
        (GOOD.replace("scale = 2", "show = 'over_bets'"), "did you mean 'over_best'?"),
        (GOOD.replace('"score", {', '"score", "score", {'), "the column score is given twice"),
        (GOOD.replace("horizon = 4", "horizn = 4"), "worlds.game: BeerGame has no parameter"),
        (GOOD.replace('"beer_game/classic"', '"beer_gam"'), "worlds.game: there is no model"),
        (GOOD + '[entries."a\\nb"]\npolicy = "greedy"', "is no name"),
        (GOOD + "[entries.x]\nprice_in = 1", "entries.x: it names neither a policy nor a language"),
        (GOOD + "[entries.x]\npolicy = 'gredy'", "entries.x in worlds.game: there is no policy"),
        (GOOD + "[entries.x]\npolicy = 'greedy'\nprice_in = 1", "belongs to a language model"),
        (GOOD + "[entries.x]\npolicy = 'greedy'\nworlds = ['gam']", "there is no world 'gam'; did"),
        (GOOD + MODEL + "key_env = 'NO_SUCH'", "the environment variable NO_SUCH (key_env) is not"),
        (
            "max_cost = 3\n" + GOOD + "[entries.x]\npolicy = 'llm,model=m,base_url=http://a/v1'",
            "needs prices",
        ),
        ("max_cost = 3\n" + GOOD + MODEL, "a limit of money needs price_in"),
        (GOOD + MODEL + "options.memory = 'f'", "several episodes would write"),
        (GOOD + MODEL + "options.mode = 'a,b'", "holds a comma"),
        (GOOD + "[tables.game]\nworlds = ['game']", "tables.game: a world has the same name"),
        (GOOD + "[tables.all]\nworlds = ['game', 'game']", "the world game is given twice"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """Nothing is played, and the sentence has the place and says what is possible."""
    assert says in refusal(tmp_path, text)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    """It is missing, too large, or no text."""
    with pytest.raises(UsageError, match="cannot read"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is no TOML"):
        read_plan(tmp_path / "bytes.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(UsageError, match="is larger than"):
        read_plan(tmp_path / "large.toml")


def test_names_of_files_are_safe_and_different() -> None:
    """Whatever a suite calls its entries."""
    names = ["a", "a/b", "a_b", "../x", "a b", "a__b", "x" * 500, "x" * 501, "Ü", ".x", "CON:1", ""]
    safe = [safe_name(name) for name in names]
    assert len(set(safe)) == len(names)
    assert all("/" not in one and "__" not in one and not one.startswith(".") for one in safe)
    assert max(map(len, safe)) <= 70


def test_a_policy_that_contacts_a_host_is_known_as_one(tmp_path: Path) -> None:
    """It is played where budgets hold, also as a spec, and as the policy of one role."""
    spec = "llm,model=m,base_url=http://127.0.0.1:1/v1"
    path = suite_file(
        tmp_path,
        worlds='[worlds.game]\nmodel = "beer_game"',
        model="",
        spec=f'policy = "{spec}"',
        role=f'policy = {{ retailer = "{spec}" }}',
        plain='policy = "greedy"',
    )
    hosts = {name: cell.host for (_, name), cell in read_plan(path).cells.items()}
    assert hosts == {"spec": "http://127.0.0.1:1/v1", "role": "http://127.0.0.1:1/v1", "plain": ""}


def test_a_model_may_take_some_roles_beside_rules(tmp_path: Path) -> None:
    """A line-up plays the roles that the model does not take."""
    path = suite_file(
        tmp_path,
        worlds='[worlds.group]\nmodel = "enterprise/small"',
        model="",
        mixed='model = "m"\nbase_url = "http://127.0.0.1:1/v1"\nroles = ["treasury.cfo"]\n'
        'policy = "laissez_faire"',
    )
    (cell,) = read_plan(path).cells.values()
    assert isinstance(policies_of(cell), dict)
    assert set(policies_of(cell)) == {"", "treasury.cfo"}


@pytest.mark.filterwarnings("ignore:router=table_4")  # a rule for a published data set
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_suites_are_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is checked as before its first call; no host is contacted."""
    for name in ("OPENROUTER_API_KEY", "DEEPSEEK_API_KEY"):
        monkeypatch.setenv(name, "none")
    assert read_plan(path).jobs


@pytest.mark.filterwarnings("ignore:router=table_4")  # a rule for a published data set
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_shipped_suites_guess_is_marked(path: Path) -> None:
    """Names and addresses of language models are examples, and the entry says so."""
    entries = read_plan(path, keys=False).suite.entries.values()
    assert all("an example to be edited" in entry.note for entry in entries if entry.model)


def test_a_world_names_the_policies_of_roles_that_models_leave(tmp_path: Path) -> None:
    """The model plays the other default roles; in the other worlds it plays all."""
    path = suite_file(
        tmp_path,
        worlds='[worlds.case]\nmodel = "consulting"\npolicy = { judge = "rubric" }\n'
        '[worlds.beer]\nmodel = "beer_game"',
        model='model = "m"\nbase_url = "http://a/v1"\n',
    )
    specs = {pair: policies_of(cell) for pair, cell in read_plan(path).cells.items()}
    model = "llm,model=m,base_url=http://a/v1"
    assert specs["case", "model"] == {"judge": "rubric", "": model}
    assert specs["beer", "model"] == model


def test_a_world_names_the_policies_of_roles_that_rules_leave(tmp_path: Path) -> None:
    """Rules and models have the same judge, unless an entry names its own."""
    path = suite_file(
        tmp_path,
        worlds='[worlds.case]\nmodel = "consulting"\npolicy = { judge = "rubric" }',
        model="",
        rule='policy = "framework"',
        own='policy = { candidate = "silent", judge = "rubric,strictness=2" }',
    )
    specs = {name: policies_of(cell) for (_, name), cell in read_plan(path).cells.items()}
    assert specs == {
        "rule": {"judge": "rubric", "": "framework"},
        "own": {"candidate": "silent", "judge": "rubric,strictness=2"},
    }


def test_a_world_has_options_of_its_own(tmp_path: Path) -> None:
    """They are the language models' in this world alone; what an entry says goes before."""
    model = 'model = "m"\nbase_url = "http://a/v1"\n'
    path = suite_file(
        tmp_path,
        worlds='[worlds.edt]\nmodel = "edt"\noptions = { feedback = false, mode = "tools" }\n'
        '[worlds.beer]\nmodel = "beer_game"',
        model=model + 'options = { mode = "json" }',
        rule='policy = "greedy"',
    )
    specs = {pair: policies_of(cell) for pair, cell in read_plan(path).cells.items()}
    assert specs["beer", "model"] == "llm,model=m,base_url=http://a/v1,mode=json"
    assert specs["edt", "model"] == ("llm,model=m,base_url=http://a/v1,feedback=false,mode=json")
    assert specs["edt", "rule"] == "greedy"
