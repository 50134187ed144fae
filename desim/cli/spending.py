"""`--max-calls` and `--max-cost`: limits on what all policies of one command use together."""

import functools
from collections.abc import Callable
from typing import Any

import click

__all__ = ["spending_options"]


def spending_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add both options to the function of a command, which need not know them."""

    @click.option(
        "--max-calls",
        type=click.IntRange(min=0),
        help="Requests that all policies of this command may send; then it stops, exit 1.",
    )
    @click.option(
        "--max-cost",
        type=click.FloatRange(min=0),
        help="Money that all policies of this command may use, by their prices; likewise.",
    )
    @functools.wraps(command)
    def limited(*args: Any, max_calls: int | None, max_cost: float | None, **options: Any) -> None:
        from desim.episodes.usage import CommandBudget, spending

        with spending(CommandBudget(max_calls, max_cost)):
            command(*args, **options)

    return limited
