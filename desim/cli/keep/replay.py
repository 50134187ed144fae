"""`desim replay`: check that a record replays."""

import click

from desim.cli.options import command as command_of
from desim.episodes.replay import ReplayOptions, not_compared, replay
from desim.schema.signatures import given

#: Metrics that are named in a sentence.
_NAMED = 3


@command_of("replay", without=["series"])
def command(options: ReplayOptions) -> None:
    """Play the answers of a record again and compare every step.

    Whatever would import a module or open a file is refused, unless it is given again or trusted.
    """
    episode = replay(**given(options))
    missing = ""
    if names := not_compared(episode):
        text = f"{', '.join(names[:_NAMED])}{', ...' * (len(names) > _NAMED)}"
        missing = f"; not compared, as the record does not have them: {len(names)} metrics ({text})"
    column = episode.metric_columns.get("score")
    score = column.text(episode.score) if column else f"{episode.score:,.10g}"
    click.echo(
        f"{options.path}: {len(episode.steps)} decisions replayed, all the same; "
        f"score {score}, ended {episode.ended}{missing}"
    )
