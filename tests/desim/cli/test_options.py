"""Options made of the attrs classes that they fill."""

import re
from typing import Any, Literal

import click
import pytest
from attrs import field, frozen
from click.testing import CliRunner

from desim.cli.main import COMMANDS, main
from desim.cli.options import command


@frozen(kw_only=True)
class Shared:
    """What several commands have.

    Attributes:
        loud: Print more than *how_often* lines. In Python a logger does it.
    """

    loud: bool = False


@frozen(kw_only=True)
class Greeting(Shared):
    """What one command has.

    Attributes:
        name: Who is greeted; no option, because it is needed and has a place.
        how_often: How often.
        tone: The tone.
        extra: Not for the command line.
        words: Further words.
    """

    name: str = field(kw_only=False)
    how_often: int = 2
    tone: Literal["warm", "cool"] | None = None
    extra: object = None
    words: tuple[str, ...] = ()


@command("greet", extra=None, words={"option": "--word", "multiple": True})
def greet(greeting: Greeting) -> None:
    """Greet somebody."""
    click.echo(repr(greeting))


def ended(*arguments: str) -> Any:
    """Run the command."""
    return CliRunner().invoke(greet, arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Missing argument 'NAME'"),
        (("Ann", "--how-often", "x"), "'x' is not a valid integer"),
        (("Ann", "--tone", "hot"), "'hot' is not one of 'warm', 'cool'"),
        (("Ann", "--extra", "1"), "No such option"),
    ],
)
def test_wrong_values_are_refused(arguments: tuple[str, ...], says: str) -> None:
    """By the type of the field."""
    done = ended(*arguments)
    assert done.exit_code == 2
    assert says in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_has_a_help(name: str) -> None:
    """Also those whose text is that of a Python argument, without what holds in Python alone."""
    context = click.Context(main, **main.context_settings)
    found = main.get_command(context, name)
    assert found is not None
    for parameter in found.get_params(context):
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert "Python" not in parameter.help
            assert "*" not in parameter.help


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_the_first_sentence_of_its_help(name: str) -> None:
    """`desim --help` prints it without importing the command."""
    found = main.get_command(click.Context(main), name)
    assert found is not None
    assert found.help is not None
    assert re.split(r"(?<=\.)\s", " ".join(found.help.split()))[0] == COMMANDS[name][1]
