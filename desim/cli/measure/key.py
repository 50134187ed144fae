"""`desim key`: keys with which entries are signed."""

from pathlib import Path

import click
from attrs import field, frozen

from desim.cli.options import command as command_of


@frozen
class NewKey:
    """A key that is made.

    Attributes:
        owner: Its name, which the files bear.
        out: The folder of the files; default: the present one.
        password: The environment variable that holds a password with which the private key is
            encrypted; default: none.
    """

    owner: str
    out: Path = field(default=Path(), kw_only=True)
    password: str = field(default="", kw_only=True)


@frozen
class ShownKeys:
    """Public keys that are shown.

    Attributes:
        files: Files of public keys.
    """

    files: tuple[str, ...]


@click.group("key")
def command() -> None:
    """Make a key that signs entries, or print the identity of one."""


@command_of(
    "new",
    owner={"metavar": "NAME"},
    out={"type": click.Path(file_okay=False, path_type=Path)},
    password={"option": "--password-env", "metavar": "VARIABLE"},
)
def new(made: NewKey) -> None:
    """Write NAME.pem, the private key, which only you may read, and NAME.pub, the public key."""
    from desim.verification.signed.keys import new_key, password_of

    key = new_key(made.owner, made.out, password_of(made.password))
    click.echo(f"{made.out / made.owner}.pem and .pub; identity {key.public.id}")


@command_of("show", files={"nargs": -1, "required": True, "metavar": "NAME.pub..."})
def show(shown: ShownKeys) -> None:
    """Print the identity of each public key: the SHA-256 of its bytes."""
    from desim.verification.signed.keys import read_public

    for file in shown.files:
        key = read_public(Path(file))
        click.echo(f"{key.id}  {key.name}")


command.add_command(new)
command.add_command(show)
