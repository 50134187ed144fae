"""`desim.reports.report.write_report`: one HTML file about a sweep, a suite or records."""

from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from desim.engine.store import FILE_NAME
from desim.errors import BadRecord, UsageError
from desim.records.record_file import lines_of, record_stem
from desim.reports.html import check_target, rendered
from desim.reports.page import Page, check_installed
from desim.reports.record.record_page import MOST_RECORDS, record_page
from desim.reports.suite_page import suite_page
from desim.reports.sweep_page import sweep_page
from desim.rows.rows import Rows
from desim.schema.signatures import takes
from desim.show.files import write_whole
from desim.studies.options import refuse_score
from desim.suites.suite_folder import holds_suite

#: The beginning of a row of a sweep.
_ROW = b'{"model":'

_ROWS = "rows.jsonl"


@frozen(kw_only=True, slots=False)
class ReportOptions:
    """The arguments of `write_report`.

    Attributes:
        paths: A folder of a sweep or a suite, the rows.jsonl of a sweep, or records.
        out: The file; default: report.html in DIR, or NAME.html beside the first RECORD.
        against: A policy of a sweep with which the others are compared, beside the best one.
        minimise: The figure of a sweep to report on, lower is better; default: the score.
        force: Replace the file even if it is no report.
        trust: Import and open whatever a record names.
        whole: Show every call and text of a conversation.
    """

    paths: Sequence[str | Path] = field(kw_only=False)
    out: str | Path | None = field(default=None, kw_only=False)
    against: str = ""
    minimise: str = ""
    force: bool = False
    trust: bool = False
    whole: bool = False


@takes(ReportOptions)
def write_report(options: ReportOptions) -> Path:
    """Write a report as one HTML file, which opens offline and refers to nothing outside itself.

    Returns:
        The file.

    Raises:
        UsageError: A path is empty or not one of these, matplotlib or jinja2 is not installed, or
            the file cannot be written.
        BadRecord: A record or the rows cannot be read.
    """
    check_installed("reports need", "jinja2", "matplotlib")
    paths = [Path(path) for path in options.paths]
    if not paths:
        raise UsageError("give the folder of a sweep or of a suite, or records")
    target = Path(options.out) if options.out else _beside(paths[0])
    check_target(target, force=options.force)
    write_whole(target, [rendered(_page(paths, options))])
    return target


def _page(paths: Sequence[Path], options: ReportOptions) -> Page:
    first, against, minimise = paths[0], options.against, options.minimise
    refuse_score(minimise)
    if first.is_dir() or _holds_rows(first):
        if len(paths) > 1:
            raise UsageError(f"a report is about one folder or about records, and {first} is one")
        if options.whole:
            raise UsageError("--whole belongs to the report about records")
        if holds_suite(first):
            _refuse(against, minimise)
            return suite_page(first)
        if first.is_dir() and not any((first / name).exists() for name in (_ROWS, FILE_NAME)):
            raise UsageError(f"{first} holds neither a sweep nor a suite; give its folder (--out)")
        return sweep_page(Rows.read(first), first, against, minimise)
    _refuse(against, minimise)
    for path in paths:
        if path.is_dir() or _holds_rows(path):
            raise UsageError(f"a report is about one folder or about records, and {path} is none")
    if len(paths) > MOST_RECORDS:
        raise UsageError(f"{len(paths)} records were given; a report holds at most {MOST_RECORDS}")
    return record_page(paths, trust=options.trust, whole=options.whole)


def _refuse(against: str, minimise: str) -> None:
    for name, value in (("--against", against), ("--minimise", minimise)):
        if value:
            raise UsageError(f"{name} belongs to the report about a sweep")


def _holds_rows(path: Path) -> bool:
    """Return whether a file holds the rows of a sweep.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        return next(lines_of(path), b"").startswith(_ROW)
    except BadRecord as fault:
        raise UsageError(str(fault)) from None


def _beside(path: Path) -> Path:
    """Return the default file of a report."""
    if path.is_dir():
        return path / "report.html"
    return path.with_name(f"{record_stem(path)}.html")
