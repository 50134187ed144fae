"""Case files: a folder of JSON files, one case each, read and checked.

`{"id", "title", "length", "opening", "open", "gated": [{"topic", "fact"}], "internal"}` and, where
there is one, `"rubric"`; a case that was published as one text has a `"document"` instead of its
parts. The field `"canary"` is not read. Other fields are refused, and a fault is one sentence with
the file and the path in it.
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
from models.consulting.case import Case

#: Cases of a folder.
MOST_CASES = 200

#: Bytes of a case file.
MOST_BYTES = 1_000_000

#: The folder of the cases that ship.
_SHIPPED = Path(__file__).with_name("cases")


@cache
def shipped() -> tuple[Case, ...]:
    """Return the cases that ship with the model, ordered by id."""
    return read(_SHIPPED)


def read(given: Any) -> tuple[Case, ...]:
    """Return the cases of a folder, ordered by id; cases are returned as they are.

    Args:
        given: The path of a folder, cases, or the empty text, which stands for the shipped cases
            and yields an empty tuple.

    Raises:
        ValueError: *given* is of another type, a file has a fault, whose text holds its path, two
            cases have one id, or there are too many cases.
    """
    if given == "":
        return ()
    if isinstance(given, str | os.PathLike):
        cases = sorted(map(_case, _files(Path(given))), key=lambda case: case.id)
    elif isinstance(given, Sequence) and all(isinstance(each, Case) for each in given):
        cases = list(given)
    else:
        raise ValueError(f"cases={short_repr(given)} was given; it is a folder of case files")
    if len(cases) > MOST_CASES:
        raise ValueError(f"cases: {len(cases)} cases were given; the limit is {MOST_CASES}")
    ids = [case.id for case in cases if case.id]
    if len(set(ids)) < len(ids):
        twice = next(each for at, each in enumerate(ids) if each in ids[:at])
        raise ValueError(f"cases: two cases have the id {short_repr(twice)}; an id is used once")
    return tuple(cases)


def _files(folder: Path) -> list[Path]:
    try:
        files = sorted(each for each in folder.iterdir() if each.suffix == ".json")
    except OSError as fault:
        raise ValueError(
            f"cases: cannot read the folder {str(folder)!r}: {fault.strerror}"
        ) from None
    if not files:
        raise ValueError(f"cases: {str(folder)!r} holds no case file; their names end in .json")
    if len(files) > MOST_CASES:
        raise ValueError(
            f"cases: {str(folder)!r} holds {len(files)} files; the limit is {MOST_CASES}"
        )
    return files


def _case(file: Path) -> Case:
    """Read one case; a case without an id is named after its file."""
    try:
        fields = decode_json(read_text(file, MOST_BYTES))
        if isinstance(fields, dict):
            fields.pop("canary", None)  # a line by which a corpus shows that it holds the file
            fields.setdefault("id", file.stem)
        case: Case = from_plain(fields, Case)
    except OSError as fault:
        raise ValueError(f"cases: cannot read {str(file)!r}: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"cases: cannot read {str(file)!r}: it is no text") from None
    except (ValueError, SchemaError) as fault:
        raise ValueError(f"cases: {str(file)!r}: {fault}") from None
    return case
