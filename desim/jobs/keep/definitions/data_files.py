"""Files beside a module that its code names, and digests of files."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from desim.errors import UsageError

#: A text that may name a file or a folder beside a module, also several by `*`.
_NAME = re.compile(r"[\w*][\w .*-]*(?:/[\w*][\w .*-]*)*/?")

#: Suffixes of files that no episode depends on.
_NO_DATA = {".pyc", ".md"}


def data_files(folder: Path, texts: Iterable[str]) -> Iterator[Path]:
    """Yield the files that texts name in a folder, with those of the folders that they name."""
    for text in texts:
        if not _NAME.fullmatch(text) or "**" in text:
            continue
        for found in sorted(folder.glob(text)) if "*" in text else [folder / text]:
            for file in sorted(found.rglob("*")) if found.is_dir() else [found]:
                if file.is_file() and file.suffix not in _NO_DATA:
                    yield file


def digest(path: str | Path) -> str:
    """Return a digest of the bytes of a file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path may be a text)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
