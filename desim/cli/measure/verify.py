"""`desim verify`: whether records and suites are what they claim to be."""

from pathlib import Path

import click
from attrs import field, frozen

from desim.cli.exit_codes import FAILED, warnings_as_sentences
from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.errors import BadRecord, PolicyWarning


@frozen
class Subject:
    """What is verified.

    Attributes:
        path: The folder of a suite, or a record.
        trust: Import the modules and open the files that it names.
    """

    path: Path
    trust: bool = field(default=False, kw_only=True)


@command_of(
    "verify",
    path={"metavar": "DIR|RECORD", "type": click.Path(exists=True, path_type=Path)},
)
def command(subject: Subject, printed: PrintOptions) -> None:
    """Play every record of a suite's folder again, ask its policies again, and compare.

    A rule decides again by what it observes; the recorded replies of a language model are read
    again; answers of people are repeated. Tables and money are computed anew. Each difference is
    printed. A suite that names modules or files of one's own needs --trust.

    Exit code: 0 all is as it claims, 1 something differs, 2 it cannot be verified here.
    """
    import msgspec
    from attrs import asdict

    from desim.engine.keep.record_folder import RecordFolder
    from desim.show.progress import shown_progress
    from desim.suites.verify import Verified, verify_record, verify_suite

    try:
        with warnings_as_sentences(PolicyWarning), shown_progress(None) as progress:
            found = (
                verify_suite(RecordFolder(subject.path), trust=subject.trust, progress=progress)
                if subject.path.is_dir()
                else verify_record(subject.path, trust=subject.trust)
            )
    except BadRecord as fault:
        found = Verified(differences=(str(fault),))
    if printed.as_json:
        click.echo(msgspec.json.encode(asdict(found)))
    else:
        for each in found.differences:
            click.echo(each)
        count = f"{found.asked:,} episodes played again by their policies"
        asked = count if found.asked != 1 else "1 episode played again by its policies"
        repeated = f", {found.repeated:,} with their recorded answers" if found.repeated else ""
        same = "all as recorded" if not found.differences else "see above"
        click.echo(f"{subject.path}: {asked}{repeated}; {same}")
    click.get_current_context().exit(FAILED if found.differences else 0)
