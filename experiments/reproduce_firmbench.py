"""Which numbers of the FirmBench paper can be rebuilt?

Every published number of the paper: its question tasks, its case interviews, the Beer Game and
the Enterprise Digital Twin, whose own scripts say more.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import reproduce_beer_game
import reproduce_edt
import reproduce_interviews
import reproduce_reasoning
from beside import console, show
from fates import CannotBe, NeedsModel, Rule
from published import read
from reproduce_reasoning import show_questions

PAPER = "firmbench"

SUITE = NeedsModel("firmbench.toml")
RULES = (
    *reproduce_reasoning.RULES,
    *reproduce_beer_game.RULES,
    *reproduce_edt.RULES,
    *reproduce_interviews.RULES,
    Rule("table_1|figure_3", "*", "*", SUITE),
    Rule(
        "table_5", "*", "*", CannotBe("sizes of the paper's data sets, which desim does not hold")
    ),
    Rule("parameters_*", "*", "*", CannotBe("a setting of the runs, no parameter of a world")),
    Rule("text", "base_methods", "*", CannotBe("the size of the paper's experiment")),
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
