"""Wrong arguments, errors and warnings: one sentence on standard error, and an exit code.

It imports little, as `main` imports it before the current folder has its place on the path.
"""

import contextlib
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from desim.errors import DesimError, UsageError
from desim.short_repr import visible_text

#: Exit codes: a run failed or a replay differs, wrong usage, stopped by Ctrl-C.
FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130

#: By package that a command may lack what to do.
_EXTRAS = {
    "mcp": "pip install 'desim[mcp]'",
    "nicegui": "pip install 'desim[play]', or play with --terminal",
    "uvicorn": "pip install 'desim[mcp]'",
}


class CheckedCommand(click.Command):
    """A command whose options are given once, but for flags and those that take several values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            click.UsageError: An option that takes one value was given several times, or it or a
                path is empty.
        """
        if not ctx.resilient_parsing:
            given, _, order = self.make_parser(ctx).parse_args([*args])
            for one, times in Counter(order).items():
                if isinstance(one, click.Option) and (one.multiple or one.is_flag):
                    continue
                if times > 1:
                    ctx.fail(f"{one.get_error_hint(ctx)} was given {times} times; give it once")
                # An empty name of a model has a sentence of its own.
                is_path = isinstance(one.type, click.Path)
                if given[one.name] in {"", ("",)} and (is_path or isinstance(one, click.Option)):
                    ctx.fail(f"{one.get_error_hint(ctx)} is an empty text; give a value")
        return super().parse_args(ctx, args)


def fail(sentence: str, code: int = FAILED) -> NoReturn:
    """Print a sentence on standard error and end the process with an exit code."""
    _say(f"desim: {sentence}")
    sys.exit(code)


def _say(text: str) -> None:
    click.echo(visible_text(text), err=True)


@contextlib.contextmanager
def errors_reported(*, debug: bool) -> Iterator[None]:
    """End the process with one sentence if an exception leaves the block.

    Warnings for users are sentences, too, each once.

    Args:
        debug: Whether exceptions that are not click's leave the block instead, for a traceback.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda text, *_, **__: _say(f"desim: {text}")
            yield
    except (NoArgsIsHelpError, click.exceptions.Exit, BrokenPipeError):
        raise
    except click.ClickException as fault:
        fail(_click_sentence(fault), fault.exit_code)
    except KeyboardInterrupt as stop:
        fail(str(stop) or "stopped", INTERRUPTED)
    except Exception as fault:
        if debug:
            raise
        # For instance the last events; printed first, so that the last line is the sentence.
        for note in getattr(fault, "__notes__", ()):
            _say(note)
        missing = isinstance(fault, ImportError) and (fault.name or "").partition(".")[0]
        if missing in _EXTRAS:
            fail(f"this needs {missing}: {_EXTRAS[missing]}", WRONG_USAGE)
        if not isinstance(fault, DesimError):
            fail(f"{type(fault).__name__}: {fault} (desim --debug ... shows where)")
        fail(str(fault), WRONG_USAGE if isinstance(fault, UsageError) else FAILED)


def _click_sentence(fault: click.ClickException) -> str:
    """Return click's own message in one line, and the help text to read."""
    context = fault.ctx if isinstance(fault, click.UsageError) else None
    helps = f" ({context.command_path} --help shows the usage)" if context else ""
    return " ".join(fault.format_message().split()) + helps
