"""`desim board`: a board of verified entries."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import field, frozen

from desim.cli.options import command as command_of
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from desim.verification.signed.keys import PrivateKey


@frozen(kw_only=True, slots=False)
class BoardKey:
    """The key with which a board signs its log.

    Attributes:
        key: The board's private key, NAME.pem of `desim key new`.
        password: The environment variable that holds the password of the key.
    """

    key: Path
    password: str = ""

    def read(self) -> "PrivateKey":
        """Return the private key.

        Raises:
            UsageError: It cannot be read.
        """
        from desim.verification.signed.keys import password_of, read_private

        return read_private(self.key, password_of(self.password))


@frozen
class NewBoard(BoardKey):
    """A board that is made.

    Attributes:
        folder: Its folder.
        title: Its title.
    """

    folder: Path
    title: str = field(kw_only=True)


@frozen
class Received(BoardKey):
    """A commitment that a board receives.

    Attributes:
        folder: The folder of the board.
        commitment: The folder of the commitment, which gets the receipt.
    """

    folder: Path
    commitment: Path


@frozen
class Drawn(BoardKey):
    """A beacon that a board draws.

    Attributes:
        folder: The folder of the board.
    """

    folder: Path


@frozen
class Added(BoardKey):
    """Entries that come on a board.

    Attributes:
        folder: The folder of the board.
        entries: Folders of entries.
        jobs: Episodes that are played again at once.
        server: The public folder of the server of entries with sealed seeds.
        minutes: Wall time for each entry; one that takes longer is not decidable.
    """

    folder: Path
    entries: tuple[Path, ...]
    jobs: int = field(default=1, kw_only=True)
    minutes: float = field(default=60.0, kw_only=True)
    server: Path | None = field(default=None, kw_only=True)


@frozen
class Left(BoardKey):
    """An entry that leaves a board.

    Attributes:
        folder: The folder of the board.
        entry: The beginning of the entry's digest.
        note: Why, in a sentence that the board shows.
        removal: The maintainer removes it; otherwise its owner has withdrawn it.
    """

    folder: Path
    entry: str
    note: str = field(default="", kw_only=True)
    removal: bool = field(default=False, kw_only=True)


@frozen
class ShownBoard:
    """A board that is shown.

    Attributes:
        folder: The folder of the board.
        out: A folder that receives index.html, board.csv and board.json; default: the tables are
            printed.
    """

    folder: Path
    out: Path | None = field(default=None, kw_only=True)


@frozen
class CheckedBoard:
    """A board that is checked.

    Attributes:
        folder: The folder of the board.
        since: An older copy of its log.
    """

    folder: Path
    since: Path | None = field(default=None, kw_only=True)


_PATH: dict[str, Any] = {"type": click.Path(path_type=Path), "callback": None}
_FOLDER: dict[str, Any] = {"metavar": "BOARD", "type": click.Path(path_type=Path)}
_PASSWORD: dict[str, Any] = {"option": "--password-env", "metavar": "VARIABLE"}


@click.group("board")
def command() -> None:
    """Keep a board of verified entries: its log, commitments, beacons."""


@command_of("new", folder=_FOLDER, key=_PATH, password=_PASSWORD)
def new(made: NewBoard) -> None:
    """Make the folder of a board."""
    from desim.verification.boards.entry_board import new_board

    key = made.read()
    board = new_board(made.folder, made.title, key)
    click.echo(f"{board.path}: {board.title}, identity {key.public.id[:16]}")


@command_of(
    "receive",
    folder=_FOLDER,
    commitment={"metavar": "COMMITMENT", "type": click.Path(path_type=Path)},
    key=_PATH,
    password=_PASSWORD,
)
def receive(received: Received) -> None:
    """Enter the commitment in the log of BOARD, and write its receipt beside it."""
    from desim.show.files import write_whole
    from desim.verification.boards.commitment import RECEIPT, read_commitment
    from desim.verification.boards.entry_board import read_board

    key = received.read()
    content, signature = read_commitment(received.commitment)
    line = read_board(received.folder).receive(content, signature, key)
    write_whole(received.commitment / RECEIPT, [line.content])
    click.echo(f"{received.commitment}: received as line {line.line.number} of the log")


@command_of("beacon", folder=_FOLDER, key=_PATH, password=_PASSWORD)
def beacon(drawn: Drawn) -> None:
    """Draw randomness for the commitments that name the board's own beacon.

    The line that is printed is the content of their `beacon.json`. The maintainer could try several
    lines and keep one, so a drand round is worth more.
    """
    from desim.verification.boards.entry_board import read_board

    key = drawn.read()
    click.echo(read_board(drawn.folder).draw(key).content, nl=False)


@command_of("check", folder=_FOLDER, since=_PATH)
def check(checked: CheckedBoard) -> None:
    """Check the log of BOARD, its signatures, its past and the entries that it names."""
    from desim.verification.boards.board_log import BoardLog
    from desim.verification.boards.entry_board import read_board

    board = read_board(checked.folder)
    board.check_entries()
    log = board.log
    if checked.since is not None:
        if not checked.since.exists():
            raise UsageError(f"{checked.since} does not exist; give an older copy of the log")
        log.check_continues(BoardLog(checked.since, log.key))
    click.echo(f"{log.path}: {len(log.lines):,} lines, signed and in order")


@command_of(
    "add",
    folder=_FOLDER,
    entries={
        "nargs": -1,
        "required": True,
        "metavar": "ENTRY...",
        "type": click.Path(path_type=Path),
    },
    minutes={"type": click.FloatRange(min=0, min_open=True)},
    key=_PATH,
    password=_PASSWORD,
)
def add(added: Added) -> None:
    """Verify each ENTRY and put it on BOARD.

    Exit code: as of `desim verify`; what is not accepted is not on the board.
    """
    from desim.show.progress import shown_progress
    from desim.verification.boards.entry_board import read_board
    from desim.verification.checked_jobs import CheckProcesses
    from desim.verification.enter import enter
    from desim.verification.sealed.listed_server import ListedServer
    from desim.verification.verify import EXIT_CODES

    key = added.read()
    board, worst = read_board(added.folder), 0
    server = ListedServer.read(added.server) if added.server else None
    with CheckProcesses(added.jobs) as workers:
        for entry in added.entries:
            try:
                with shown_progress(None) as progress:
                    verdict, line = enter(
                        board, entry, key, workers, server, added.minutes, progress
                    )
            except UsageError as fault:
                click.echo(f"{entry}: not entered: {fault}")
                worst = worst or EXIT_CODES["not decidable"]
                continue
            end = f" Line {line.line.number} of the log." if line else ""
            click.echo(f"{verdict.text}{end}")
            code = EXIT_CODES[verdict.decision]
            worst = 1 if 1 in (code, worst) else max(code, worst)
    click.get_current_context().exit(worst)


@command_of(
    "end",
    folder=_FOLDER,
    entry={"metavar": "DIGEST"},
    key=_PATH,
    password=_PASSWORD,
)
def end(left: Left) -> None:
    """Mark an entry of BOARD as withdrawn or removed; it stays to be seen, without a rank."""
    from desim.verification.boards.entry_board import read_board
    from desim.verification.enter import leave

    key = left.read()
    board = read_board(left.folder)
    line = leave(board, left.entry, key, left.note, removal=left.removal)
    click.echo(f"{line.line.event} of {line.line.subject[:16]}: line {line.line.number} of the log")


@command_of("show", folder=_FOLDER, out={"type": click.Path(file_okay=False, path_type=Path)})
def show(shown: ShownBoard) -> None:
    """Print the tables of BOARD, or write them as a page that opens offline, as CSV and as JSON."""
    from desim.show.console import console
    from desim.show.table import print_tables
    from desim.verification.boards.entry_board import read_board
    from desim.verification.verified_tables import board_tables, shown_table

    board = read_board(shown.folder)
    if shown.out is None:
        tables = [shown_table(key, lines) for key, lines in board_tables(board).items()]
        print_tables(console(), tables)
        return
    from desim.reports.board_page import write_board

    for file in write_board(board, shown.out):
        click.echo(str(file))


for one in (new, receive, beacon, add, end, show, check):
    command.add_command(one)
