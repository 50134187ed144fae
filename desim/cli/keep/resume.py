"""`desim resume`: play an interrupted episode to its end."""

import click

from desim.cli.exit_codes import warnings_as_sentences
from desim.cli.options import (
    json_option,
    key_option,
    limit_options,
    policy_option,
    read_key_option,
    read_parameters,
    spending_options,
    trace_option,
    trust_options,
)
from desim.core.limits import Limits
from desim.errors import PolicyWarning


@click.command("resume")
@click.argument("file", type=click.Path())
@spending_options
@policy_option
@key_option
@limit_options
@trust_options
@trace_option
@json_option
def command(
    file: str,
    specs: tuple[str, ...],
    key_file: str | None,
    limits: Limits | None,
    model: str,
    sets: tuple[str, ...],
    trust: bool,  # noqa: FBT001 (click passes flags so)
    trace: str | None,
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Play an interrupted record to its end, in the same file.

    Replies on record are used again, so that no paid call is made twice. Whatever would import a
    module, open a file or contact a host is refused, unless it is given again or trusted. A trace
    holds the whole episode, and says from when on it was resumed.
    """
    from desim.catalog.policy_spec import read_policies
    from desim.cli.tables import print_episode, print_traced
    from desim.episodes.resume import resume

    with warnings_as_sentences(PolicyWarning):
        episode = resume(
            file,
            read_policies(specs) if specs else None,
            trust=trust,
            model=model,
            params=read_parameters(sets),
            limits=limits,
            keep_steps=False,
            key=read_key_option(key_file),
            trace=trace,
        )
    print_episode(episode, as_json=as_json)
    print_traced(trace, as_json=as_json)
