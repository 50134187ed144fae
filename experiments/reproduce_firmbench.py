"""Which numbers of the FirmBench paper can be rebuilt?

Every published number of the paper: its question tasks and case interviews, which desim has no
world of, the Beer Game and the Enterprise Digital Twin, whose own scripts say more.
"""

import click
import reproduce_beer_game
import reproduce_edt
from beside import console, show
from fates import CannotBe, NeedsModel, Rule
from published import read

PAPER = "firmbench"

SUITE = NeedsModel("firmbench.toml")
RULES = (
    *reproduce_beer_game.RULES,
    *reproduce_edt.RULES,
    Rule("table_1|table_2|figure_3", "*", "*", SUITE),
    Rule(
        "table_5", "*", "*", CannotBe("sizes of the paper's data sets, which desim does not hold")
    ),
    Rule("parameters_*", "*", "*", CannotBe("desim has no world of questions or case interviews")),
    Rule("text", "base_methods", "*", CannotBe("the size of the paper's experiment")),
    Rule("text", "*", "*", SUITE),
)


@click.command()
def main() -> None:
    """Print the published sheets."""
    show(console(), read(PAPER), RULES)


if __name__ == "__main__":
    main()
