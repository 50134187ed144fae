"""Writes the ledgers and statements of an episode as files that other programs read."""

import csv
import datetime as dt
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desim.core.protocols import (
    Exportable,
    HasDates,
    HasLedgers,
    HasStatements,
    Model,
    Rows,
    offers,
)
from desim.core.run import Run
from desim.episodes.branch import branch
from desim.episodes.episode import Episode
from desim.errors import BadRecord, UsageError, possible

__all__ = ["STATEMENTS_FORM", "export", "export_folder"]

#: The form in which statements are written.
STATEMENTS_FORM = "csv"

_RECORD_ENDS = (".gz", ".jsonl")


def export(
    record: str | Path | Episode,
    form: str = "csv",
    folder: str | Path | None = None,
    *,
    trust: bool = False,
) -> tuple[Path, ...]:
    """Replay an episode and write its ledgers and statements into a folder.

    Args:
        record: A record, which may be cut, or an episode. A cut record is exported as of its last
            decision.
        form: "csv", or another form that a ledger of the world offers. Statements are written with
            "csv" alone.
        folder: Where the files are written; made if it is missing. None stands for a folder beside
            the record, which has the record's name without its suffixes.
        trust: Whether a module may be imported and files may be opened that the record names.

    Returns:
        The files, in the order of the ledgers. Files of the same name are distinguished by the name
        of their ledger, or by its position from 1.

    Raises:
        UsageError: The world has no ledger or statement of that form, a ledger cannot be written
            in it, or a file exists. No file is written then.
        BadRecord: The record cannot be read, or does not replay to the same ledgers.
    """
    if isinstance(record, Episode):
        if folder is None:
            raise UsageError("an episode has no file name; give the folder to export into")
        episode = record
    else:
        folder = export_folder(record) if folder is None else folder
        episode = Episode.read(record, whole=False, keep_steps=False)
    run = _replayed(episode, trust=trust)
    texts = _texts(run.model, run.state, form)
    return _write(Path(folder), texts)


def export_folder(record: str | Path) -> Path:
    """Return the folder beside a record into which it is exported by default."""
    path = Path(record)
    name = path.name
    for end in _RECORD_ENDS:
        name = name.removesuffix(end)
    return path.with_name(name if name not in {"", path.name} else f"{path.name}.export")


def _replayed(episode: Episode, *, trust: bool) -> Run[Any]:
    run = branch(episode, trust=trust)
    if episode.result and (run.open or run.result().ledger_digest != episode.ledger_digest):
        raise BadRecord(
            "the record does not replay to the same ledgers; desim replay names the difference"
        )
    return run


def _texts(model: Model[Any], state: Any, form: str) -> dict[str, str]:
    """Return every file's text by name.

    Raises:
        UsageError: There is none in that form, or a ledger refuses it.
    """
    ledgers = [one for one in _ledgers(state) if offers(one, Exportable)]
    statements = model.statements(state) if offers(model, HasStatements) else {}
    forms = list(dict.fromkeys(form for ledger in ledgers for form in ledger.export_forms))
    if statements and STATEMENTS_FORM not in forms:
        forms.append(STATEMENTS_FORM)
    if not forms:
        raise UsageError(f"{type(model).__name__} has no ledgers and no statements to export")
    if form not in forms:
        raise UsageError(f"there is no form {form!r} of this world; {possible(form, forms)}")
    date = model.date if offers(model, HasDates) else None
    texts = _of_ledgers(ledgers, form, date)
    for name, rows in statements.items() if form == STATEMENTS_FORM else ():
        file = f"{name.replace(' ', '_')}.csv"
        if file in texts:
            raise UsageError(f"a ledger and a statement are both exported as {file}")
        texts[file] = _csv(rows)
    return texts


def _ledgers(state: Any) -> Sequence[object]:
    return state.ledgers if offers(state, HasLedgers) else ()


def _of_ledgers(
    ledgers: Sequence[Exportable], form: str, date: Callable[[int], dt.date] | None
) -> dict[str, str]:
    exported = [
        (label, _exported(ledger, form, date))
        for label, ledger in zip(_labels(ledgers), ledgers, strict=True)
        if form in ledger.export_forms
    ]
    uses = Counter(file for _, texts in exported for file in texts)
    return {
        (file if uses[file] == 1 else f"{label}_{file}"): text
        for label, texts in exported
        for file, text in texts.items()
    }


def _labels(ledgers: Sequence[Exportable]) -> list[str]:
    """Return each ledger's name; a missing or repeated name gets the position, from 1."""
    uses = Counter(ledger.name for ledger in ledgers)
    return [
        ledger.name if ledger.name and uses[ledger.name] == 1 else f"{ledger.name or 'ledger'}{at}"
        for at, ledger in enumerate(ledgers, 1)
    ]


def _exported(
    ledger: Exportable, form: str, date: Callable[[int], dt.date] | None
) -> Mapping[str, str]:
    try:
        return ledger.export(form, date)
    except ValueError as fault:
        raise UsageError(f"the ledgers cannot be exported as {form}: {fault}") from None


def _csv(rows: Rows) -> str:
    """Return rows as CSV; the columns are those of all rows, in the order of their appearance."""
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    files = {folder / name: text for name, text in texts.items()}
    for file in files:
        if file.parent != folder:
            raise UsageError(f"{str(file.relative_to(folder))!r} is not the name of a file")
        if file.exists():
            raise UsageError(f"{file} exists; export into another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            with file.open("x", encoding="utf-8", newline="") as out:
                out.write(text)
    except OSError as fault:
        raise UsageError(f"cannot write {fault.filename}: {fault.strerror}") from None
    return tuple(files)
