"""Everything outside its data that determines an episode, as text by topic.

These are versions, source files (see `sources`), the code of a notebook or a script (see
`code_without_file`), the content of every file that a parameter or an argument names, and of files
that a policy opens itself (see `desim.engine.opened_files`). Services are not covered.
"""

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from desim.engine.code_without_file import digest_without_file, has_file
from desim.engine.sources import file_digest, source_digests, text_digest
from desim.errors import UsageError
from desim.version import __version__

#: Packages whose version may change a row of any model; users' code adds those that it imports.
_PACKAGES = ("simpy", "numpy")

#: The topic of texts that policies read of a model, and the beginnings of those of code and files.
_TEXTS = "the rules and schemas that a policy reads"
_CODE, _FILE = "the code of ", "file "

#: Most parts of a text such as csv:FILE:COLUMN that are tried as the name of a file.
_MAX_PARTS = 6


def code_topics(made: Iterable[Any]) -> dict[str, str]:
    """Return the versions and the code by which something is played, by topic.

    Args:
        made: The classes, functions, modules and objects that play; texts do not count here.

    Raises:
        UsageError: A source file cannot be read.
    """
    without: dict[str, str] = {}
    met = ["desim"]  # it plays every row
    for root in made:
        for each in root.__mro__ if isinstance(root, type) else (root,):
            if isinstance(each, ModuleType):
                met.append(each.__name__)
            elif isinstance(each, type | FunctionType) and has_file(each):
                met.append(each.__module__)
            elif not isinstance(each, str | bytes):
                kind = each if hasattr(each, "__qualname__") else type(each)
                name = f"{kind.__module__}:{kind.__qualname__}"
                # One that is given twice, under one name, counts with both.
                digest = without.get(name, "") + digest_without_file(each, met)
                without[name] = text_digest(digest.encode())
    digests, packages = source_digests(met)
    code = {**dict(sorted(digests.items())), **without}
    return {
        "desim": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: _version(name) for name in (*_PACKAGES, *sorted(packages))},
        **{_CODE + name: digest for name, digest in code.items()},
    }


def _version(package: str) -> str:
    """Return the version of the package imported by this name; empty if it declares none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        known = importlib.metadata.packages_distributions().get(package, ())
        return ", ".join(importlib.metadata.version(name) for name in sorted({*known}))


def file_topics(parts: Iterable[Any]) -> dict[str, str]:
    """Return the topics of the files that texts name, and of contents given as bytes.

    A text names a file as a whole, or as one of its parts between colons.

    Raises:
        UsageError: A named file cannot be read.
    """
    parts = [*parts]
    texts = (one for one in parts if isinstance(one, str))
    names = (name for text in texts for name in (text, *text.split(":")[:_MAX_PARTS]))
    found = {_FILE + name: file_digest(name) for name in names if os.path.isfile(name)}  # noqa: PTH113 (any text)
    read = b"".join(text_digest(one).encode() for one in parts if isinstance(one, bytes))
    return {**found, **({_TEXTS: text_digest(read)} if read else {})}


def opened_topics(files: Mapping[str, str], known: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the topics of files that were opened, but for results.

    Args:
        files: Their digests by absolute path.
        known: Topics so far; a file that one of them names has that topic.
        folder: The folder of the results.
    """
    paths = (topic.removeprefix(_FILE) for topic in known if topic.startswith(_FILE))
    topics = {os.path.abspath(path): _FILE + path for path in paths}  # noqa: PTH100 (texts)
    results = os.path.join(os.path.abspath(folder), "")  # noqa: PTH100, PTH118 (compared as texts)
    return {
        topics.get(path, _FILE + path): digest
        for path, digest in files.items()
        # A worker on another machine may have files that are not here.
        if not path.startswith(results) and os.path.isfile(path)  # noqa: PTH113
    }


def changed_topics(stored: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the topics of kept rows that differ from those of a command.

    Files that were opened before, and that no parameter names, are compared as they are now.
    """
    opened = {topic: _present(topic) for topic in stored if topic.startswith(_FILE)}
    now = {**opened, **now}
    return [one for one in {**stored, **now} if stored.get(one) != now.get(one)]


def _present(topic: str) -> str:
    try:
        return file_digest(topic.removeprefix(_FILE))
    except UsageError:
        return "gone"
