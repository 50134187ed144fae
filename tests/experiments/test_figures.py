"""The figures: drawn through the command from a suite's folder; axes, captions and data."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from figure_episodes import Suite
from figure_style import Drawn
from figures import drawn, main
from matplotlib.figure import Figure
from published import find
from support.stub import Served, call, serving, text
from support.suites import bench, suite_file

WORLDS = """
[tables."all questions"]
worlds = ["questions"]
published = { file = "firmbench.json", table = "figure_3" }
columns = [{ figure = "by_item.numerical_calculation", show = "share", published = "value" }]

[worlds.founder]
model = "yc_bench/default"
seeds = [1]

[worlds.idle]
model = "yc_bench/default"
seeds = [1]
set = { idle_limit = 5 }

[worlds.lender]
model = "enterprise_arena/paper"
seeds = [1]

[worlds.questions]
model = "reasoning/small"
"""

_MODEL = 'model = "m"\nbase_url = "{url}"\nprice_in = 1\nprice_out = 1\n'

#: What each entry of a language model has; two state a window of history.
MODELS = {
    "priced": 'published = ["GPT-5.4"]\nworlds = ["idle"]',
    "short": 'worlds = ["idle"]\noptions = { history = 5 }',
    "long": 'worlds = ["idle"]\noptions = { history = 20 }',
    "steps": 'method = "cot"\npublished = ["ACE", "ace"]\nworlds = ["questions"]',
}

RULES = {
    "greedy_founder": 'policy = "published_greedy"\nworlds = ["founder"]',
    "focus": 'policy = "focus,tasks=1"\nworlds = ["founder"]\n'
    'published = ["Claude Opus 4.6", "Opus 4.6"]',
    "treasurer": 'policy = "treasurer"\nworlds = ["lender"]',
}


def answer(_: int, body: dict[str, Any]) -> Served:
    """Let time pass, or answer a question."""
    return call(("sim_resume", {})) if body.get("tools") else text('{"final_answer": "1"}')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite that plays every figure."""
    place = tmp_path_factory.mktemp("figures")
    with serving(answer) as stub:
        models = {name: _MODEL.format(url=stub.url) + more for name, more in MODELS.items()}
        suite = suite_file(place, "", WORLDS, model="", **models, **RULES)
        code, _, errors = bench(suite, place / "out")
    assert code == 0, errors
    return place / "out"


@pytest.fixture(scope="module")
def figures(folder: Path) -> dict[str, Drawn]:
    """Each figure by its name."""
    return {name: made for name, _, made in drawn([Suite.of(folder)]) if made}


def run(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, [str(each) for each in arguments])


def test_every_figure_is_drawn_from_a_suites_folder(folder: Path, tmp_path: Path) -> None:
    """The names of the files are printed; each is a picture of its own."""
    done = run(folder, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    files = sorted(tmp_path.iterdir())
    assert sorted(done.stdout.split()) == [str(file) for file in files]
    assert len(files) == 2 * 11
    assert "left out" not in done.stderr


def texts(figure: Figure, panel: int = 0) -> list[str]:
    """Return the texts beside the rows of a panel."""
    return [each.get_text() for each in figure.axes[panel].texts]


def test_the_published_value_is_beside_ours(figures: dict[str, Drawn]) -> None:
    """In the row of the same label, for printed numbers as for measured ones."""
    printed = find("yc_bench", "table_3")["Claude Opus 4.6"].cells["avg_concurrent"].text
    assert f"{printed} | 1" in texts(figures["yc_bench_9"][0], 2)
    measured = find("yc_bench", "figure_3a")["Opus 4.6"].cells["mean"].text
    trust = next(each for each in texts(figures["yc_bench_3a_4a"][0]) if each.startswith(measured))
    assert float(trust.partition(" | ")[2]) > 0
    assert any(each.startswith("(0.725) 0.725 | ") for each in texts(figures["firmbench_3"][0]))
    # A model that does nothing keeps its funds or goes bankrupt, at a cost; a rule has no cost.
    *efficiency, _ = texts(figures["yc_bench_5b"][0])
    assert sum(bool(each.partition(" | ")[2]) for each in efficiency) == 1


def test_published_curves_and_months_are_those_of_the_data(figures: dict[str, Drawn]) -> None:
    """Eighteen models and the greedy rule; all months of a recorded episode."""
    left, middle, right = figures["yc_bench_1_8"][0].axes
    assert [len(panel.lines) for panel in (left, middle, right)] == [19, 3, 3]
    curve = [cell.value for cell in find("yc_bench", "curves")["Greedy Bot"].cells.values()]
    assert [1e3 * y for y in left.lines[-1].get_ydata()] == pytest.approx(curve)
    requests, closings, cash = figures["enterprise_arena_2_3_4"][0].axes
    assert len(requests.lines[0].get_ydata()) == len(cash.lines[0].get_ydata()) == 132
    assert list(closings.lines[0].get_ydata()) == sorted(closings.lines[0].get_ydata())


def test_a_folder_without_episodes_of_a_figure_names_the_suite(tmp_path: Path) -> None:
    """One sentence for each figure that is left out."""
    rule = {"treasurer": RULES["treasurer"]}
    lender = '[worlds.lender]\nmodel = "enterprise_arena/paper"\nset = { horizon = 6 }\n'
    suite = suite_file(tmp_path, "", lender, model="", **rule)
    assert bench(suite, tmp_path / "out")[0] == 0
    done = run(tmp_path / "out", "--out", tmp_path / "figures")
    assert done.exit_code == 0, done.output
    assert len(done.stdout.split()) == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 10
    assert (
        "yc_bench_10 is left out: no folder has its episodes; "
        "experiments/suites/yc_bench_memory.toml plays them" in lines
    )


def test_a_folder_without_a_suite_is_one_sentence(tmp_path: Path) -> None:
    """And exit code 2; nothing is written."""
    done = run(tmp_path, "--out", tmp_path / "figures")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert "holds no suite" in done.stderr
    assert not (tmp_path / "figures").exists()
