"""`desim commit`: an entry is fixed before its seeds exist."""

from pathlib import Path
from typing import Any

import click
from attrs import field, frozen

from desim.cli.options import command as command_of


@frozen
class NewCommitment:
    """The entry that is committed.

    Attributes:
        suite: The suite's file.
        entry: The name of the entry in it.
        season: The season that shares the seeds with others.
        count: Seeds of each world.
        out: The folder of the commitment, which is made.
        key: The private key that signs it, NAME.pem of `desim key new`.
        password: The environment variable that holds the password of the key.
        minutes: The drand round appears so many minutes from now, at least.
        board: The first beacon of the board after these minutes counts, in place of drand.
    """

    suite: Path
    entry: str = field(kw_only=True)
    season: str = field(kw_only=True)
    out: Path = field(kw_only=True)
    key: Path = field(kw_only=True)
    count: int = field(default=20, kw_only=True)
    password: str = field(default="", kw_only=True)
    minutes: int = field(default=60, kw_only=True)
    board: bool = field(default=False, kw_only=True)


@frozen
class Committed:
    """A commitment whose beacon has appeared.

    Attributes:
        folder: The folder of the commitment, with `receipt.json` and `beacon.json`.
        board: The folder of the board that received it.
    """

    folder: Path
    board: Path = field(kw_only=True)


@frozen
class DrandBeacon:
    """The signature of a drand round.

    Attributes:
        folder: The folder of the commitment.
        signature: The signature of its round, 96 hexadecimal digits, as drand publishes it.
    """

    folder: Path
    signature: str = field(kw_only=True)


_PATH: dict[str, Any] = {"type": click.Path(path_type=Path), "callback": None}


@click.group("commit")
def command() -> None:
    """Fix an entry before its seeds exist, and derive the seeds once they do."""


@command_of(
    "new",
    suite={"metavar": "SUITE.toml", "type": click.Path(path_type=Path)},
    out=_PATH,
    key=_PATH,
    count={"type": click.IntRange(1, 100_000)},
    minutes={"type": click.IntRange(min=11)},
    password={"option": "--password-env", "metavar": "VARIABLE"},
)
def new(made: NewCommitment) -> None:
    """Write the commitment of an entry of SUITE; send it to a board, which gives a receipt."""
    import time

    from desim.suites.suite_plan import read_plan
    from desim.verification.boards.commitment import BeaconKind, new_commitment, write_commitment
    from desim.verification.boards.drand import round_after
    from desim.verification.rule_code import code_digest, code_of
    from desim.verification.signed.keys import password_of, read_private

    key = read_private(made.key, password_of(made.password))
    at = int(time.time()) + 60 * made.minutes
    beacon: BeaconKind = "board" if made.board else "drand"
    at = at if made.board else round_after(at)
    suite = read_plan(made.suite, keys=False).suite
    table = suite.entries.get(made.entry)
    code = code_digest(code_of(table)) if table else ""
    commitment = new_commitment(suite, made.entry, made.count, made.season, beacon, at, key, code)
    write_commitment(commitment, key, made.out)
    where = f"drand round {at:,}" if beacon == "drand" else f"the board's first beacon after {at}"
    click.echo(f"{made.out}: commitment {commitment.digest[:16]}; its seeds come from {where}")


@command_of("beacon", folder={"metavar": "DIR", "type": click.Path(path_type=Path)})
def beacon(given: DrandBeacon) -> None:
    """Check the signature of the drand round that the commitment in DIR names, and keep it."""
    from desim.verification.boards.commitment import write_drand

    write_drand(given.folder, given.signature)
    click.echo(f"{given.folder}: the beacon has the signature of its network")


@command_of("seeds", folder={"metavar": "DIR", "type": click.Path(path_type=Path)}, board=_PATH)
def seeds(committed: Committed) -> None:
    """Print the line `seeds = ...` that replaces the one of the suite, for `desim bench`."""
    from desim.verification.boards.commitment import files_of, opened
    from desim.verification.boards.entry_board import read_board

    found = opened(files_of(committed.folder), read_board(committed.board).log)
    click.echo(f'seeds = "{found.seeds.text}"')


for one in (new, beacon, seeds):
    command.add_command(one)
