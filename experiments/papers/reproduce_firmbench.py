"""Which numbers of the FirmBench paper can be rebuilt?

Every published number of the paper: its question tasks, its case interviews, the Beer Game and
the Enterprise Digital Twin, whose own scripts say more.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import reproduce_beer_game
import reproduce_edt
import reproduce_reasoning
from beside import CannotBe, NeedsModel, Parameter, Rule, show, suite_size
from published import Line, read
from reproduce_reasoning import show_questions

from desim.show.console import console
from models.consulting import Consulting
from models.consulting.seats import FIELDS

PAPER = "firmbench"

_INTERVIEWS = NeedsModel("firmbench.toml")


def interview_parameter(line: Line, _: str) -> Any:
    """Return a parameter of the preset `paper` by its name in the paper."""
    paper = Consulting.preset("paper")
    low, high = re.findall(r"scores from (\d+) to (\d+)", paper.texts("judge").rules)[0]
    # A round is a message of either side; the judge's last field is not one of the four dimensions.
    ours = {
        "max_rounds": paper.messages // 2,
        "max_words": paper.word_limit,
        "dimensions": len(FIELDS) - 1,
        "judge_low": int(low),
        "judge_high": int(high),
    }
    return ours[line.label]


_HELD = Parameter("preset paper of consulting", interview_parameter)
_CASES = CannotBe("the paper's cases are not ours to ship; six of our own do")
_PACES = CannotBe(
    "the minutes of short, medium and long cases; ours state a length, which sets the answers alone"
)

INTERVIEWS = (
    Rule("table_1", "*Consulting", "*", _INTERVIEWS),
    Rule("table_2", "*", "*", _INTERVIEWS),
    Rule("parameters_consulting", "max_rounds|max_words|dimensions|judge_*", "*", _HELD),
    Rule("parameters_consulting", "cases", "*", _CASES),
    Rule("parameters_consulting", "*", "*", _PACES),
)

SUITE = NeedsModel("firmbench.toml")
RULES = (
    *reproduce_reasoning.RULES,
    *reproduce_beer_game.RULES,
    *reproduce_edt.RULES,
    *INTERVIEWS,
    Rule("table_1|figure_3", "*", "*", SUITE),
    Rule(
        "table_5", "*", "*", CannotBe("sizes of the paper's data sets, which desim does not hold")
    ),
    Rule("parameters_*", "*", "*", CannotBe("a setting of the runs, no parameter of a world")),
    Rule("text", "base_methods", "*", suite_size("firmbench.toml")),
    Rule("text", "*", "*", SUITE),
)


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(paths: Sequence[Path]) -> None:
    """Print the published sheets, and the questions of Table 1 beside PATHS.

    PATHS are records or folders of suites; without any, our baselines play.
    """
    out = console()
    show(out, read(PAPER), RULES)
    show_questions(out, paths)


if __name__ == "__main__":
    main()
