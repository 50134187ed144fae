"""Case files: a folder of JSON files, one case each, read and checked.

Fields are those of `Case`; a fault is one sentence with the file and the path in it.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from desim.errors import SchemaError
from desim.schema import from_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import read_text
from models.consulting.case import Case, repeated

#: Cases of a folder.
MOST_CASES = 200

#: Bytes of a case file.
MOST_BYTES = 1_000_000


@cache
def shipped() -> tuple[Case, ...]:
    """Return the cases that ship with the model, ordered by id."""
    cases: tuple[Case, ...] = read(Path(__file__).with_name("cases"))
    return cases


def read(given: Any) -> Any:
    """Return the cases of a folder, ordered by id, or given cases; an empty text for none."""
    is_folder = isinstance(given, str | os.PathLike) and given != ""
    found: Sequence[Any] = _files(Path(given)) if is_folder else given
    if not (is_folder or (isinstance(found, Sequence) and all(isinstance(e, Case) for e in found))):
        raise ValueError(f"cases={short_repr(given)} was given; it is a folder of case files")
    if len(found) > MOST_CASES:
        raise ValueError(f"cases: {len(found)} cases were given; the limit is {MOST_CASES}")
    cases: Sequence[Case] = found
    if is_folder:
        cases = sorted(map(_case, found), key=lambda case: case.id)
    if twice := repeated(case.id for case in cases if case.id):
        raise ValueError(f"cases: two cases have the id {short_repr(twice)}; an id is used once")
    return tuple(cases) or ""  # which keeps records of the shipped cases short


def _files(folder: Path) -> list[Path]:
    try:
        files = sorted(each for each in folder.iterdir() if each.suffix == ".json")
    except OSError as fault:
        raise ValueError(
            f"cases: cannot read the folder {str(folder)!r}: {fault.strerror}"
        ) from None
    if not files:
        raise ValueError(f"cases: {str(folder)!r} holds no case file; their names end in .json")
    return files


def _case(file: Path) -> Case:
    try:
        fields = decode_json(read_text(file, MOST_BYTES))
        if isinstance(fields, dict):
            fields.pop("canary", None)  # a line by which a corpus shows that it holds the file
            fields.setdefault("id", file.stem)
        case: Case = from_plain(fields, Case)
    except (OSError, ValueError, SchemaError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise ValueError(f"cases: cannot read {str(file)!r}: {reason}") from None
    return case
