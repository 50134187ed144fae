"""Writes an episode for other programs: its ledgers and statements, tables, messages, trace."""

import csv
import datetime as dt
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from attrs import evolve

from desim.core.model import Model, statements_of
from desim.core.points import Points
from desim.core.reported import Rows, ledgers_of
from desim.core.run import Run
from desim.episodes.replay import repeated_whole, trusted_model
from desim.errors import BadRecord, DesimError, UsageError, possible
from desim.records.episode import Episode, Inside
from desim.records.messages import messages_of
from desim.records.record_file import record_stem
from desim.records.tables import What
from desim.show.files import check_new, write_new
from desim.show.frames import Columns, lines, write_parquet

#: The exportable parts of an episode.
Exported = Literal["ledgers", "series", "decisions"]

#: The forms of series and decisions.
_TABLE_FORMS = ("csv", "json", "parquet")

#: The form in which statements are written.
STATEMENTS_FORM = "csv"


def export(
    record: str | Path | Episode,
    form: str = "csv",
    folder: str | Path | None = None,
    *,
    what: Exported = "ledgers",
    trust: bool = False,
) -> tuple[Path, ...]:
    """Replay an episode and write its ledgers and statements, or a table of it, into a folder.

    Args:
        record: A record or an episode; one that was cut is exported as of its last decision.
        form: "csv", or another form that a ledger of the world offers. Statements are written with
            "csv" alone. Series and decisions have "csv", "json" and "parquet".
        folder: It is made if it is missing; None for one beside the record, of the same name
            without suffixes.
        what: "ledgers", or a table of `Episode.columns`: "decisions", or "series" with the points
            of `world.point` and of monitors.
        trust: Whether a module may be imported and files may be opened that the record names.

    Returns:
        The files, in the order of the ledgers.

    Raises:
        UsageError: The world has nothing of that form, a ledger cannot be written in it, or a file
            exists. No file is written then.
        BadRecord: The record cannot be read, or does not replay to the same ledgers.
    """
    if isinstance(record, Episode):
        if folder is None:
            raise UsageError("an episode has no file name; give the folder to export into")
        episode = record
    else:
        folder = export_folder(record) if folder is None else folder
        episode = Episode.read(record, whole=False, keep_steps=False)
    if what not in (known := get_args(Exported)):
        raise UsageError(f"{what!r} cannot be exported; {possible(what, known)}")
    if what != "ledgers":
        return _export_table(record, episode, what, form, Path(folder), trust=trust)
    run = _repeated(record, episode, trust=trust)
    return _write(Path(folder), _texts(run.model, run.state, form))


def _repeated(
    record: str | Path | Episode, episode: Episode, *, trust: bool, **watching: Any
) -> Run[Any]:
    """Play the answers of an episode again; a fault begins with the name of its record."""
    name = "" if isinstance(record, Episode) else record
    model = trusted_model(name, episode.header, trust=trust)
    try:
        return repeated_whole(model, episode, **watching)
    except DesimError as fault:
        raise BadRecord(f"{name}{name and ': '}{fault}") from None


def export_folder(record: str | Path) -> Path:
    """Return the folder beside a record into which it is exported by default."""
    path = Path(record) if Path(record).name else Path(record).resolve()
    name = record_stem(path)
    return path.with_name(name if name not in {"", path.name} else f"{path.name}.export")


def _export_table(
    record: str | Path | Episode,
    episode: Episode,
    what: What,
    form: str,
    folder: Path,
    *,
    trust: bool,
) -> tuple[Path, ...]:
    if form not in _TABLE_FORMS:
        raise UsageError(f"there is no form {form!r} of {what}; {possible(form, _TABLE_FORMS)}")
    if what == "series" and episode.result is None:
        raise UsageError(
            "the record was cut, and only an ended episode has series; desim resume ends it"
        )
    points = Points()
    run = _repeated(record, episode, trust=trust, points=points)
    inside = Inside.of(run, points, keep_state=True, series=False)
    columns: Columns = evolve(episode, inside=inside).columns(what)
    if not any(columns.values()):
        raise UsageError(f"{type(run.model).__name__} reports no {what}, so there is no table")
    name = f"{what}.{form}"
    if form == "parquet":
        _prepare(folder, [folder / name])
        write_parquet(lines(columns), folder / name)
        return (folder / name,)
    rows = [*lines(columns)]
    objects = ",\n".join(msgspec.json.encode(row).decode() for row in rows)
    return _write(folder, {name: _csv(rows) if form == "csv" else f"[\n{objects}\n]\n"})


def _texts(model: Model[Any], state: Any, form: str) -> dict[str, str]:
    ledgers = [one for one in ledgers_of(state) if hasattr(one, "export_forms")]
    statements = statements_of(model, state)
    forms = list(dict.fromkeys(form for ledger in ledgers for form in ledger.export_forms))
    if statements and STATEMENTS_FORM not in forms:
        forms.append(STATEMENTS_FORM)
    if not forms:
        raise UsageError(f"{type(model).__name__} has no ledgers and no statements to export")
    if form not in forms:
        raise UsageError(f"there is no form {form!r} of this world; {possible(form, forms)}")
    texts = _of_ledgers(ledgers, form, model.time.date)
    for name, rows in statements.items() if form == STATEMENTS_FORM else ():
        file = f"{name.replace(' ', '_')}.csv"
        if file in texts:
            raise UsageError(f"a ledger and a statement are both exported as {file}")
        texts[file] = _csv(rows)
    return texts


def _of_ledgers(
    ledgers: Sequence[Any], form: str, date: Callable[[int], dt.date] | None
) -> dict[str, str]:
    """Return the texts of ledgers by file; of files of one name each begins with its ledger's."""
    names = Counter(ledger.name for ledger in ledgers)
    exported: list[tuple[str, str, str]] = []
    for at, ledger in enumerate(ledgers, 1):
        is_named = ledger.name and names[ledger.name] == 1
        label = ledger.name if is_named else f"{ledger.name or 'ledger'}{at}"
        if form in ledger.export_forms:
            try:
                texts = ledger.export(form, date)
            except ValueError as fault:
                raise UsageError(f"the ledgers cannot be exported as {form}: {fault}") from None
            exported += [(label, file, text) for file, text in texts.items()]
    uses = Counter(file for _, file, _ in exported)
    return {
        (file if uses[file] == 1 else f"{label}_{file}"): text for label, file, text in exported
    }


def _csv(rows: Rows) -> str:
    """Return rows as CSV; the columns are those of all rows, in the order of their appearance."""
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _prepare(folder: Path, files: Collection[Path]) -> None:
    for file in files:
        if file.parent != folder:
            raise UsageError(f"{str(file.relative_to(folder))!r} is not the name of a file")
    check_new(files)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {fault.filename}: {fault.strerror}") from None


def export_messages(record: str | Path, episode: Episode, folder: Path) -> Path:
    """Write `messages.jsonl`: the messages of a record, which is read, as of chat completions."""
    lines = [msgspec.json.encode(each) for each in messages_of(record, episode)]
    (file,) = _write(folder, {"messages.jsonl": b"\n".join([*lines, b""]).decode()})
    return file


def _write(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    files = {folder / name: text for name, text in texts.items()}
    _prepare(folder, files)
    for file, text in files.items():
        write_new(file, [text.encode()])
    return tuple(files)


def write_trace(record: str | Path, out: str | Path, *, trust: bool = False) -> Path:
    """Replay a record, cut or whole, and write a trace to a new file, as `play` writes one."""
    from desim.tracing.trace_file import save_trace
    from desim.tracing.tracer import Tracer

    file = Path(out)
    check_new([file])
    episode = Episode.read(record, whole=False, keep_steps=False)
    tracer = Tracer()
    _repeated(record, episode, trust=trust, observers=[tracer])
    save_trace(tracer, file, {"policies": episode.header.policies})
    return file
