"""`desim list`: models with their presets and roles, and the policies that play them."""

import click
from attrs import field, frozen

from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of


@frozen
class Listed:
    """The model or the policy that is listed.

    Attributes:
        model: A name in the catalog or `module:Class`, with or without `/preset`.
        policy: Show one policy: its arguments and what they set.
    """

    model: str | None
    policy: str | None = field(default=None, kw_only=True)


@command_of("list", model={"required": False}, policy={"metavar": "NAME"})
def command(listed: Listed, printed: PrintOptions) -> None:
    """Show models with their roles and policies. With MODEL, show that one in detail."""
    import msgspec
    from attrs import asdict

    from desim.catalog.summaries import summarise_catalog
    from desim.cli.tables import print_catalog, print_model, print_policy

    model, policy = listed.model, listed.policy
    summary = summarise_catalog([] if model is None else [model])
    if printed.as_json:
        click.echo(msgspec.json.encode(asdict(summary)))
    elif policy:
        print_policy(policy, summary)
    elif model:
        print_model(model, summary)
    else:
        print_catalog(summary)
