"""`desim submit`: the folder of an entry, made from the results of a suite."""

from pathlib import Path

import click
from attrs import field, frozen

from desim.cli.options import command as command_of
from desim.errors import UsageError, possible


@frozen
class Submitted:
    """The entry that is made of results.

    Attributes:
        results: The folder of the results of a suite, or the entry of a sealed session.
        out: The folder of the entry, which is made.
        entry: The name of the entry in the suite; default: the only one.
        name: Its name on a board; default: that of the entry.
        submitter: The name of the submitter, as a board shows it.
        attempts: How often the suite was played with this entry in all.
        key: The private key that signs it, NAME.pem of `desim key new`.
        commitment: The folder of a commitment, whose fresh seeds the results are on.
        password: The environment variable that holds the password of the key.
    """

    results: Path
    out: Path = field(kw_only=True)
    entry: str = field(default="", kw_only=True)
    name: str = field(default="", kw_only=True)
    submitter: str = field(default="", kw_only=True)
    attempts: int = field(default=1, kw_only=True)
    key: Path | None = field(default=None, kw_only=True)
    commitment: Path | None = field(default=None, kw_only=True)
    password: str = field(default="", kw_only=True)


_PATH = {"type": click.Path(path_type=Path), "callback": None}


@command_of(
    "submit",
    results={"metavar": "DIR", "type": click.Path(path_type=Path)},
    out=_PATH,
    key=_PATH,
    commitment=_PATH,
    attempts={"type": click.IntRange(min=1)},
    submitter={"option": "--who"},
    password={"option": "--password-env", "metavar": "VARIABLE"},
)
def command(submitted: Submitted) -> None:
    """Write the folder of an entry from the results in DIR.

    DIR is the --out of desim bench. Records of language models are copied; those of rules are named
    by their digests, because anybody plays them again. `desim verify` checks the folder.
    """
    from desim.verification.entries.entry_folder import SESSION
    from desim.verification.signed.keys import password_of, read_private
    from desim.verification.submit import Submission, submit

    password = password_of(submitted.password)
    key = read_private(submitted.key, password) if submitted.key else None
    sealed = (submitted.results / SESSION).exists()
    entry = submitted.entry or ("" if sealed else _only_entry(submitted.results))
    made = submit(
        submitted.results,
        submitted.out,
        Submission(
            entry,
            submitted.name,
            submitted.submitter,
            submitted.attempts,
            key,
            submitted.commitment,
        ),
    )
    signed = f"signed by {key.public.id[:16]}" if key else "not signed"
    click.echo(f"{submitted.out}: {len(made.records):,} records of {made.entry}, {signed}")


def _only_entry(results: Path) -> str:
    """Return the name of the only entry of a suite.

    Raises:
        UsageError: There are several.
    """
    from desim.jobs.keep.record_folder import RecordFolder
    from desim.suites.manifest import plan_of

    names = [*plan_of(RecordFolder(results)).entries]
    if len(names) > 1:
        raise UsageError(f"the suite has several entries; give --entry; {possible('', names)}")
    return names[0]
