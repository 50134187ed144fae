"""`desim list`: models with their presets and roles, and the policies that play them."""

import click

from desim.cli.completion import complete_model


@click.command("list")
@click.argument("model", required=False, shell_complete=complete_model)
@click.option("--policy", metavar="NAME", help="Show one policy: its arguments and what they set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def command(
    model: str | None,
    policy: str | None,
    as_json: bool,  # noqa: FBT001 (click passes flags so)
) -> None:
    """Show models with their roles and policies. With MODEL, show that one in detail."""
    import msgspec
    from attrs import asdict

    from desim.catalog.summaries import summarise_catalog
    from desim.cli.tables import print_catalog, print_model, print_policy

    summary = summarise_catalog([model] if model else [])
    if as_json:
        click.echo(msgspec.json.encode(asdict(summary)))
    elif policy:
        print_policy(policy, summary)
    elif model:
        print_model(model, summary)
    else:
        print_catalog(summary)
