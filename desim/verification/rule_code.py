"""The code of a rule of the submitter's own: the Python files in the folder `code/` of an entry."""

import hashlib
from collections.abc import Iterator, Mapping

from desim.catalog.policy_spec import Spec
from desim.definitions.reached import own_files
from desim.errors import UsageError
from desim.show.files import read_regular
from desim.suites.suite_file import EntryTable
from desim.verification.entries.entry_folder import MAX_CODE_BYTES, MAX_CODE_FILES, is_code

#: The packages of desim, which are never copied.
_SHIPPED = ("desim", "ledgers", "models", "policies")


def rules_of(table: EntryTable) -> list[str]:
    """Return the rules of an entry that are named as `module:Name`, each once."""
    specs = table.policy.values() if isinstance(table.policy, dict) else (table.policy,)
    names = (Spec.read(spec).name for spec in specs if spec)
    return [*dict.fromkeys(name for name in names if ":" in name)]


def code_of(table: EntryTable) -> dict[str, bytes]:
    """Return the submitter's own files that the rules of an entry reach, by path below `code/`.

    Nothing is imported for it.

    Raises:
        UsageError: They are too many or too large, are not readable, or name files of data.
    """
    if not (rules := rules_of(table)):
        return {}
    files = own_files(rules, _SHIPPED)
    for path in files:
        if not is_code(f"code/{path}"):
            raise UsageError(f"{path} is no name of a file of code in an entry")
    if len(files) > MAX_CODE_FILES:
        raise UsageError(
            f"{', '.join(rules)} reach {len(files):,} files of your own; an entry has at most "
            f"{MAX_CODE_FILES}"
        )
    try:
        found = {path: read_regular(file, MAX_CODE_BYTES) for path, file in files.items()}
    except OSError as fault:
        raise UsageError(f"cannot copy {fault.filename}: {fault.strerror}") from None
    if (size := sum(map(len, found.values()))) > MAX_CODE_BYTES:
        raise UsageError(f"the code has {size:,} bytes; an entry has at most {MAX_CODE_BYTES:,}")
    return found


def code_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of files by their paths; empty without any.

    Source: reference `verification.md`, section 3.2.
    """
    lines = "".join(sorted(_lines(files)))
    return hashlib.sha256(lines.encode()).hexdigest() if lines else ""


def _lines(files: Mapping[str, bytes]) -> Iterator[str]:
    for path, content in files.items():
        yield f"{path}\0{hashlib.sha256(content).hexdigest()}\n"
