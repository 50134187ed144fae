"""How do our rules look beside the papers' figures that need no language model?

Grey is published, black ours. Every figure is written to `--out` as PNG and SVG.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import click
from figure_style import Drawn, save
from figures_arena import arena_months, arena_survival
from figures_beer import beer_bullwhip
from figures_yc import yc_conduct, yc_funds
from published import reference

#: The functions that draw, and how many seeds each plays unless it is said.
FIGURES: dict[str, tuple[Callable[[int], Drawn], int]] = {
    "beer_bullwhip": (beer_bullwhip, 100),
    "yc_funds": (yc_funds, 5),
    "yc_conduct": (yc_conduct, 5),
    "arena_months": (arena_months, 100),
    "arena_survival": (arena_survival, 100),
}


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("figures"))
@click.option("--seeds", type=click.IntRange(1), help="Episodes of each policy, in all figures.")
@click.option("--only", multiple=True, type=click.Choice(list(FIGURES)), help="Draw these alone.")
def main(out: Path, seeds: int | None, only: Sequence[str]) -> None:
    """Draw the figures."""
    reference()
    out.mkdir(parents=True, exist_ok=True)
    for name in only or FIGURES:
        draw, usual = FIGURES[name]
        figure, caption = draw(seeds or usual)
        for file in save(figure, caption, out, name):
            click.echo(file)


if __name__ == "__main__":
    main()
