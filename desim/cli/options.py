"""Options and arguments that several commands share.

`--max-calls` and `--max-cost`: limits on what all policies of one command use together.
"""

import functools
import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from desim.cli.completion import complete_model, complete_policy, complete_preset
from desim.core.limits import Limits
from desim.errors import UsageError, sentence

model_argument = click.argument("model", shell_complete=complete_model)


preset_option = click.option(
    "--preset",
    default="",
    help="A preset of the model; `desim list MODEL` shows them.",
    shell_complete=complete_preset,
)


set_option = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the model, or with dots a field inside one.",
)


policy_option = click.option(
    "--policy",
    "specs",
    multiple=True,
    metavar="[ROLE=]SPEC",
    help="NAME or module:Name, then ,KEY=VALUE for each argument. "
    "Several that name different roles play together.",
    shell_complete=complete_policy,
)


seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    help="Worker processes; default: one a core.",
)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one line of JSON and nothing else."
)


key_option = click.option(
    "--key",
    "key_file",
    type=click.Path(),
    help="A file of 16 to 4,096 bytes; with it the record proves that it was not altered.",
)


trace_option = click.option(
    "--trace",
    type=click.Path(dir_okay=False),
    help="Write a trace of the episode to a new file, which ui.perfetto.dev opens; NAME.gz is "
    "compressed.",
)


_trust_options = (
    click.option(
        "--model",
        default="",
        help="The model instead of the recorded one; allows module:Class to be imported.",
    ),
    click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="KEY=VALUE",
        help="A parameter instead of the recorded one; allows its file to be opened.",
    ),
    click.option(
        "--trust",
        is_flag=True,
        help="Use whatever the record names: modules, files, hosts, the environment.",
    ),
)


def trust_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--model`, `--set` and `--trust`, which allow what a record names."""
    for option in reversed(_trust_options):
        function = option(function)
    return function


_limit_options = (
    click.option(
        "--time-limit", type=float, metavar="SECONDS", help="Wall time of an episode, at most."
    ),
    click.option("--max-events", type=int, metavar="N", help="Events of an episode, at most."),
    click.option("--max-decisions", type=int, metavar="N", help="Decisions of an episode."),
)


def limit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--time-limit`, `--max-events` and `--max-decisions`; pass them on as `limits`.

    Args:
        function: Receives `limits`, a `Limits`, or None if none of the options is given.
    """

    @wraps(function)
    def packed(
        *args: Any,
        time_limit: float | None,
        max_events: int | None,
        max_decisions: int | None,
        **others: Any,
    ) -> Any:
        limits = _read_limits(time_limit, max_events, max_decisions)
        return function(*args, limits=limits, **others)

    for option in reversed(_limit_options):
        packed = option(packed)
    return packed


def _read_limits(seconds: float | None, events: int | None, decisions: int | None) -> Limits | None:
    """Return the limits; None if no limit is given.

    Raises:
        UsageError: A limit is not above 0.
    """
    try:
        limits = Limits(seconds, events, decisions)
    except ValueError as fault:
        raise UsageError(f"limit {sentence(fault)}") from None
    return limits or None


def read_key_option(path: str | None) -> bytes | None:
    """Return the bytes of the file given by `--key`, or None.

    Raises:
        UsageError: The file cannot be read, or is too short or too long.
    """
    if path is None:
        return None
    from desim.records.seal import read_key

    return read_key(path)


def read_parameters(texts: tuple[str, ...]) -> dict[str, str]:
    """Split KEY=VALUE texts.

    Raises:
        UsageError: A text has no key or no equals sign, or a key is given twice.
    """
    parameters: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(f"--set {text!r} is not KEY=VALUE")
        if key in parameters:
            raise UsageError(f"--set {key} was given twice: {parameters[key]!r} and {value!r}")
        parameters[key] = value
    return parameters


def spending_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add both options to the function of a command, which does not receive them."""

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
