"""`desim verify`: whether entries and records are what they claim to be."""

from pathlib import Path

import click
from attrs import field, frozen

from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.errors import UsageError


@frozen
class Verified:
    """The entries and records that are verified.

    Attributes:
        paths: Folders of entries, or records.
        every: Take the later steps too after one has failed.
        trust: Import the modules and open the files that they name.
        jobs: Episodes that are played again at once.
        board: The folder of the board that received the commitment of an entry with fresh seeds.
        minutes: Wall time for each entry or record; one that takes longer is not decidable.
        server: The public key of the server of an entry with sealed seeds; or the server's public
            folder, whose log is then checked too.
    """

    paths: tuple[str, ...]
    every: bool = field(default=False, kw_only=True)
    trust: bool = field(default=False, kw_only=True)
    jobs: int = field(default=1, kw_only=True)
    board: Path | None = field(default=None, kw_only=True)
    server: Path | None = field(default=None, kw_only=True)
    minutes: float = field(default=60.0, kw_only=True)


@command_of(
    "verify",
    paths={"nargs": -1, "required": True, "metavar": "FOLDER|RECORD..."},
    every={"option": "--all"},
    minutes={"type": click.FloatRange(min=0, min_open=True)},
    board={"type": click.Path(file_okay=False, path_type=Path)},
    server={"type": click.Path(path_type=Path)},
)
def command(verified: Verified, printed: PrintOptions) -> None:
    """Play every episode of an entry again, ask its policies again, and compare all bytes.

    A rule decides again by what it observes; the recorded replies of a language model are parsed
    again by the prompt and the method of the suite. A new record is written and compared. Nothing
    that an entry names is imported or opened, and no connection is made; a rule of the submitter's
    own is asked in a process that the sandbox confines.

    Exit code: 0 accepted, 1 refused, 2 not decidable here. The worst of several counts.
    """
    import msgspec
    from attrs import asdict

    from desim.show.progress import shown_progress
    from desim.verification.boards.entry_board import read_board
    from desim.verification.checked_jobs import CheckProcesses
    from desim.verification.sealed.listed_server import ListedServer
    from desim.verification.verify import EXIT_CODES, Verdict, verify

    board = read_board(verified.board).log if verified.board else None
    server = ListedServer.read(verified.server) if verified.server else None
    codes = []
    with CheckProcesses(verified.jobs) as workers:
        for path in verified.paths:
            try:
                with shown_progress(None) as progress:
                    verdict = verify(
                        path,
                        every=verified.every,
                        trust=verified.trust,
                        workers=workers,
                        board=board,
                        server=server,
                        minutes=verified.minutes,
                        progress=progress,
                    )
            except UsageError as fault:
                if len(verified.paths) == 1:
                    raise
                verdict = Verdict(path, "not decidable", (str(fault),))
            click.echo(msgspec.json.encode(asdict(verdict)) if printed.as_json else verdict.text)
            codes.append(EXIT_CODES[verdict.decision])
    worst = 1 if 1 in codes else max(codes)
    click.get_current_context().exit(worst)
