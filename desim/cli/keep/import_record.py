"""`desim import`: a record made of a trajectory."""

from pathlib import Path

import click
from attrs import field, frozen

from desim.cli.options import command as command_of


@frozen
class TrajectoryFile:
    """A trajectory that becomes a record.

    Attributes:
        file: A trajectory that `desim export --format atif` wrote.
        record: The new record, gzipped if its name ends in .gz; default: beside FILE.
    """

    file: Path
    record: Path | None = field(default=None, kw_only=True)


@command_of(
    "import",
    file={"type": click.Path(path_type=Path)},
    record={"type": click.Path(path_type=Path)},
)
def command(trajectory: TrajectoryFile) -> None:
    """Write the record of a trajectory that `desim export --format atif` wrote.

    The file is read as data: nothing that it names is imported, opened or contacted, and nothing is
    played. `desim replay` plays the record and compares every step. What language models read and
    wrote stays in FILE. An existing file is never overwritten.
    """
    from desim.exports.atif_record import import_trajectory

    file = trajectory.file
    record = trajectory.record or file.with_suffix(".jsonl")
    episode = import_trajectory(file, record)
    end = "cut" if episode.result is None else f"score {episode.score:,.10g}"
    click.echo(f"{record}: {len(episode.steps):,} decisions, {end}")
