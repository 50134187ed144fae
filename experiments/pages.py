"""Which blocks of our pages hold published numbers, and what do the generated blocks contain?

A page puts published numbers between `<!-- published: PAPER -->` and `<!-- /published -->`: every
number there is in the paper's data file. Where the mark ends in `generated`, this script writes
the block: `python experiments/pages.py` after a change of fates.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import reproduce_beer_game
import reproduce_edt
import reproduce_enterprise_arena
import reproduce_firmbench
import reproduce_yc_bench
from beside import CannotBe, NeedsModel, Parameter, Rebuilt, Rule, count, entries
from published import FIGURES, PAPERS, read

ROOT = Path(__file__).resolve().parents[1]
FATES = tuple(fate.name for fate in (Rebuilt, Parameter, NeedsModel, CannotBe))
#: The fates of all numbers, by paper.
RULES: dict[str, Sequence[Rule]] = {
    "enterprise_arena": reproduce_enterprise_arena.rules(),
    "firmbench": reproduce_firmbench.RULES,
    "yc_bench": reproduce_yc_bench.RULES,
}
_REGION = re.compile(r"<!-- published: (\w+)(, generated)? -->(.*?)<!-- /published -->", re.DOTALL)
_TOKEN = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?\s?(?:[KM]\b)?")
_SCALE = {"K": 1e3, "M": 1e6}


def regions(text: str) -> list[tuple[str, bool, str]]:
    """Return paper, whether it is generated, and text of every marked block of a page."""
    return [(paper, bool(made), body) for paper, made, body in _REGION.findall(text)]


def tokens(text: str) -> list[float]:
    """Return the numbers of a text, with and without what K and M stand for."""
    found = []
    for token in _TOKEN.findall(text):
        plain = float(token.strip("KM \n").replace(",", ""))
        found.append(plain * _SCALE.get(token[-1], 1))
    return found


def allowed(paper: str) -> set[float]:
    """Return every number of a data file, notes and our arithmetic included, and its millions."""
    text = json.dumps(json.loads((FIGURES / f"{paper}.json").read_text()))
    plain = {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    millions = {round(number * 1e6, 4) for number in plain}
    return plain | millions | set(tokens(text)) | {-number for number in plain}


def summary(paper: str, rules: Sequence[Rule]) -> str:
    """Return the sheets of a paper that some rules cover, and how many numbers have which fate."""
    lines = []
    total: Counter[str] = Counter()
    for sheet in read(paper):
        found = count(entries(sheet, rules))
        if found:
            total += found
            lines.append([sheet.key, sheet.title, *_numbers(found)])
    return _table(["in the data file", "what", *HEAD], [*lines, ["all", "", *_numbers(total)]])


def totals() -> str:
    """Return how many numbers of every paper have which fate."""
    lines = []
    every: Counter[str] = Counter()
    for paper in PAPERS:
        found = sum((count(entries(s, RULES[paper])) for s in read(paper)), Counter[str]())
        every += found
        lines.append([paper, *_numbers(found)])
    return _table(["paper", *HEAD], [*lines, ["all", *_numbers(every)]])


HEAD = ["numbers", *FATES]


def _numbers(found: Counter[str]) -> list[str]:
    return [str(found.total()), *(str(found[fate]) for fate in FATES)]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


#: The generated block of each page.
GENERATED: dict[str, Callable[[], str]] = {
    "experiments/README.md": totals,
    "models/beer_game/README.md": lambda: summary("firmbench", reproduce_beer_game.RULES),
    "models/edt/README.md": lambda: summary("firmbench", reproduce_edt.RULES),
    "models/enterprise_arena/README.md": lambda: summary(
        "enterprise_arena", RULES["enterprise_arena"]
    ),
    "models/yc_bench/README.md": lambda: summary("yc_bench", RULES["yc_bench"]),
}


def generated(page: str) -> str:
    """Return the block that a page should hold."""
    return f"\n{GENERATED[page]()}\n"


def rewritten(page: str, text: str) -> str:
    """Return a page with its generated block made anew."""

    def renew(found: re.Match[str]) -> str:
        old = found.group(3)
        return found.group(0).replace(old, generated(page)) if found.group(2) else found.group(0)

    return _REGION.sub(renew, text)


@click.command()
def main() -> None:
    """Write the generated blocks into the pages."""
    for page in GENERATED:
        file = ROOT / page
        text = rewritten(page, file.read_text())
        file.write_text(text)
        click.echo(page)


if __name__ == "__main__":
    main()
