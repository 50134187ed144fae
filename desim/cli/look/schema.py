"""`desim schema`: a model's roles and parameters as JSON Schema."""

from typing import Any

import click

from desim import catalog
from desim.cli.options import command as command_of
from desim.episodes.episode_options import ModelOptions


@command_of("schema")
def command(options: ModelOptions) -> None:
    """Print the JSON Schemas of MODEL.

    They describe each role's observation and action, and the parameters, also of its parts.
    """
    import msgspec

    from desim.schema import codec, json_schema

    world = options.build()
    schemas: dict[str, Any] = {
        "model": catalog.model_name(type(world)),
        "roles": {
            name: {
                "observation": json_schema(role.observation),
                "action": codec(role.action).json_schema(),
            }
            for name, role in world.roles.items()
        },
        "params": json_schema(type(world)),
    }
    if world.models:
        schemas["parts"] = {
            name: {"model": catalog.model_name(type(part)), "params": json_schema(type(part))}
            for name, part in world.models.items()
        }
    click.echo(msgspec.json.format(msgspec.json.encode(schemas), indent=2))
