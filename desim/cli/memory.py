"""`desim memory`: what a learning policy keeps in a file."""

import click

from desim.cli.options import json_option
from desim.core.policy_protocols import ShownMemory
from desim.errors import UsageError

__all__ = ["command"]


@click.command("memory")
@click.argument("file", type=click.Path())
@json_option
def command(
    file: str,
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Print what a policy has learned and keeps in FILE, such as `memory=FILE` of `llm`.

    The file is read as data, checked, and limited in size; nothing that it names is opened.
    """
    from desim.cli.memory_tables import print_memory

    print_memory(_shown(file), as_json=as_json)


def _shown(file: str) -> ShownMemory:
    """Return the memory, by the first policy class that takes the file.

    Raises:
        UsageError: None does; the text is that of the first one.
    """
    from desim import catalog
    from desim.core.model_protocols import offers
    from desim.core.policy_protocols import ShowsMemory

    faults = []
    for policy in catalog.policies().values():
        if offers(policy, ShowsMemory):
            try:
                return policy.shown_memory(file)
            except UsageError as fault:
                faults.append(fault)
    raise faults[0] if faults else UsageError("no policy here keeps a memory in a file")
