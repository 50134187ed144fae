"""Figures of tables: numbers that are missing, and whether higher or lower is better."""

import json
from pathlib import Path

import pytest
from support.command_line import Desim, refused

#: A world with figures that strides raise: of `far` and `debt` it says which values are better.
#: Those of `lost` and `huge` are no numbers after long strides if the first gust is not negative.
WORLD = """
import math
from desim.core.reported import Figures
from desim.show.column import Column
from support.small_worlds import Stride, Walk

class Lab(Walk):
    figures = Figures(columns={"far": Column(better="higher"), "debt": Column(better="lower")})

    def metrics(self, path):
        far, first = path.places[-1], path.gusts[0]
        return {
            **dict.fromkeys(("far", "debt", "plain"), far + first / (1 + (far > 3))),
            "lost": math.nan if far > 3 and first >= 0 else 1.0,
            "huge": math.inf if far > 3 and first >= 0 else 1.0,
        }
"""

SWEEP = ("sweep", "mine:Lab", "--policy", "mine:Stride", "--set", "policy.size=1,9", "--jobs", "1")


@pytest.fixture(autouse=True)
def _world(folder: Path) -> None:
    (folder / "mine.py").write_text(WORLD)


@pytest.mark.parametrize("figure", ["lost", "huge"])
def test_numbers_that_are_missing_are_counted(desim: Desim, figure: str) -> None:
    """Two equal values beside two that are none are not "all equal"."""
    code, out, _ = desim(*SWEEP, "--seeds", "0:4", "--show", figure)
    assert code == 0
    assert f"NaN or infinite: mine:Stride,size=9 in {figure}: 2 of 4 episodes have no " in out
    lines = {line.split()[0]: line.split()[2:] for line in out.splitlines() if "mine:" in line}
    assert lines["mine:Stride,size=9"] == ["2", "0", "1", "0", "—"]
    assert lines["mine:Stride,size=1"] == ["4", "0", "1", "—", "all", "equal"]
    other = ("--against", "mine:Stride,size=1")
    assert (
        "2           0              —"
        in desim(*SWEEP, "--seeds", "0:4", "--show", figure, *other).out
    )


def test_a_candidate_without_every_number_is_left_out(desim: Desim) -> None:
    """The sentence names it; among such candidates alone nothing is selected."""
    goal = ("--minimise", "lost", "--delta", "1")
    out = desim(*SWEEP, *goal).out
    assert "no other candidate has a mean; left out: mine:Stride,size=9 (22 of 60 episodes" in out
    alone = [one.replace("1,9", "8,9") for one in SWEEP]
    refused(desim(*alone, *goal), "every candidate has episodes without a lost: ")


#: Figures and options, and the stride that is best by them.
DIRECTIONS = [
    (("--show", "far"), "9"),
    (("--show", "debt"), "1"),
    (("--show", "metrics.debt"), "1"),
    (("--show", "plain", "--minimise", "plain"), "1"),
    (("--minimise", "far"), "1"),
]


@pytest.mark.parametrize(("options", "best"), DIRECTIONS)
@pytest.mark.parametrize("goal", [("--delta", "2"), ("--budget", "120")])
def test_the_best_is_selected_in_the_direction_of_a_figure(
    desim: Desim, options: tuple[str, ...], best: str, goal: tuple[str, ...]
) -> None:
    """The world declares it, or `--minimise`; the table says which."""
    code, out, err = desim(*SWEEP, *options, *goal)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[:2] == [f"mine:Stride,size={best}", "yes"]
    assert f"{options[1]}: {'higher' if best == '9' else 'lower'} is better\n" in out


@pytest.mark.parametrize(("options", "best"), DIRECTIONS)
def test_the_best_point_is_searched_in_the_direction_of_a_figure(
    desim: Desim, options: tuple[str, ...], best: str
) -> None:
    """All points of a small range are played; the figures have their own sign."""
    search = ("--set", "policy.size=choice:1|9", "--seeds", "0:4", "--budget", "30", "--json")
    code, out, _ = desim("tune", "mine:Lab", "--policy", "mine:Stride", *options, *search)
    found = json.loads(out)
    assert (code, found["best"]["parameters"]) == (0, {"policy.size": best})
    assert found["figure"] == options[1]
    assert abs(found["training"]["mean"] - 3 * int(best)) < 5


def test_a_figure_without_a_direction_selects_nothing(desim: Desim) -> None:
    """Nor does a search take it; lower scores are never better."""
    text = "nothing says whether a higher or a lower plain is better; give --minimise plain"
    refused(desim(*SWEEP, "--delta", "2", "--show", "plain"), text)
    search = ("tune", "mine:Lab", "--policy", "mine:Stride", "--set", "policy.size=int:1:9")
    refused(desim(*search, "--budget", "40", "--show", "plain"), text)
    refused(desim(*search, "--budget", "40", "--minimise", "score"), "a higher score is better")
    refused(desim(*SWEEP, "--minimise", "score"), "a higher score is better in every world")
    refused(desim(*SWEEP, "--show", "far", "--minimise", "debt"), "the table shows far")


def test_a_report_is_about_the_figure_that_is_minimised(desim: Desim) -> None:
    """The lowest mean is the best one, and how far the others are above it is positive."""
    assert desim(*SWEEP, "--seeds", "0:8", "--out", "kept").code == 0
    assert desim("report", "kept", "--minimise", "plain").code == 0
    page = Path("kept/report.html").read_text()
    assert "By mean plain, mine:Stride,size=1 is best, by 23.7 to 26.2 over mine:Stride" in page
    assert "&gt;0 to" in page
    assert "&lt;0" not in page
    refused(desim("report", "kept", "--minimise", "none", "--force"), "there is no column 'none'")
    refused(desim("report", "kept", "--minimise", "score"), "a higher score is better")
