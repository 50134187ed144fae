"""Which numbers of the FirmBench paper's case interviews can be rebuilt?

The fates of Table 2, of the interviews' row of Table 1, and of the interviews' parameters.
`reproduce_firmbench.py` prints them among the others.
"""

from typing import Any

import click
from beside import console, show
from fates import CannotBe, NeedsModel, Parameter, Rule
from published import Line, read

from models.consulting import Consulting
from models.consulting.actions import FIELDS

PAPER = "firmbench"

SUITE = NeedsModel("firmbench_interviews.toml")


def parameter(line: Line, _: str) -> Any:
    """Return a parameter of the preset `paper` by its name in the paper."""
    paper = Consulting.preset("paper")
    # A round is a message of either side; the judge's last field is not one of the four dimensions.
    ours = {
        "max_rounds": paper.messages // 2,
        "max_words": paper.word_limit,
        "dimensions": len(FIELDS) - 1,
    }
    return ours[line.label]


_HELD = Parameter("preset paper of consulting", parameter)
_CASES = CannotBe("the paper's cases are not ours to ship; six of our own do")
_TOLD = CannotBe("told to the model that interviews or judges, no parameter of the world")

RULES = (
    Rule("table_1", "*Consulting", "*", SUITE),
    Rule("table_2", "*", "*", SUITE),
    Rule("parameters_consulting", "max_rounds|max_words|dimensions", "*", _HELD),
    Rule("parameters_consulting", "cases", "*", _CASES),
    Rule("parameters_consulting", "*", "*", _TOLD),
)


@click.command()
def main() -> None:
    """Print the published sheets of the interviews."""
    show(console(), read(PAPER), RULES)


if __name__ == "__main__":
    main()
