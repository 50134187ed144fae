"""Refuses arguments of commands that click would drop or take as not given."""

from collections import Counter

import click


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
