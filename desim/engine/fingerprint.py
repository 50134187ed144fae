"""Everything outside its data that determines an episode, as text by topic.

These are versions, source files (see `sources`), the code of a notebook or a script (see
`code_without_file`), the content of every file that a parameter or an argument names, and of files
that a policy opens itself (see `desim.engine.opened_files`). Services are not covered.
"""

import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from desim.engine.code_without_file import digest_without_file, has_file
from desim.engine.sources import Sources, file_digest
from desim.errors import UsageError
from desim.version import __version__

#: Packages whose version may change a row of any model; users' code adds those that it imports.
_PACKAGES = ("simpy", "numpy")

#: The topic of texts that policies read of a model.
_TEXTS = "the rules and schemas that a policy reads"

#: Marks a text that stands for the content of files.
_DIGEST = "sha256:"

#: Begins the topics of code, of files that are named, and of those that were opened.
_CODE, _NAMED, _OPENED = "the code of ", "file ", "opened file "

#: The text of a topic whose file cannot be read any more.
GONE = _DIGEST

#: Most topics that an error text lists, and most characters of one.
_MAX_TOPICS, _MAX_TEXT = 4, 60

#: Most parts of a text such as csv:FILE:COLUMN that are tried as the name of a file.
_MAX_PARTS = 6


def code_topics(found: Iterable[Any]) -> dict[str, str]:
    """Return what determines how something is played, by topic: versions, code and files.

    Args:
        found: The classes and functions that play, texts that may name files, and as bytes what
            counts by its content; see `players`.

    Raises:
        UsageError: A source file or a named file cannot be read.
    """
    found = list(found)
    return {**_program_topics(_roots(found)), **file_topics(found)}


class CodeTopics:
    """Returns the topics of code, which are computed once for each set of classes and functions."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], dict[str, str]] = {}
        self._kept: list[object] = []  # so that no id is used twice

    def of(self, found: Iterable[Any]) -> dict[str, str]:
        """Return the topics without those of files; arguments and errors as of `code_topics`."""
        roots = _roots(found)
        key = tuple(map(id, roots))
        if key not in self._known:
            self._kept += roots
            self._known[key] = _program_topics(roots)
        return self._known[key]


def _roots(found: Iterable[Any]) -> list[Any]:
    """Return the classes and functions, each once."""
    return [*{id(one): one for one in found if not isinstance(one, str | bytes)}.values()]


def _program_topics(roots: Sequence[Any]) -> dict[str, str]:
    without, met = _without_file(roots)
    sources = Sources()
    sources.add("desim")  # it plays every row
    for one in [*roots, *met]:
        is_name = isinstance(one, str | ModuleType) or hasattr(one, "__qualname__")
        sources.add(one if is_name else type(one))
    versions = {name: _version(name) for name in (*_PACKAGES, *sorted(sources.packages))}
    digests = dict(sorted(sources.digests.items())) | without
    return {
        "desim": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        **versions,
        **{_CODE + name: digest_text(digest) for name, digest in digests.items()},
    }


def _without_file(roots: Sequence[Any]) -> tuple[dict[str, str], list[Any]]:
    """Return digests of classes, functions and objects without a file, and what of files they use.

    One that is given twice, under one name, counts with both.
    """
    found: dict[str, str] = {}
    met: list[Any] = []
    for root in roots:
        for each in root.__mro__ if isinstance(root, type) else (root,):
            if isinstance(each, ModuleType):
                continue
            if not isinstance(each, type | FunctionType):
                name = f"an object of {type(each).__qualname__}"
            elif not has_file(each):
                name = f"{each.__module__}:{each.__qualname__}"
            else:
                continue
            digest = found.get(name, "") + digest_without_file(each, met)
            found[name] = hashlib.sha256(digest.encode()).hexdigest()
    return found, met


def file_topics(found: Iterable[Any]) -> dict[str, str]:
    """Return the topics of the files that texts name, and of contents given as bytes.

    Raises:
        UsageError: A named file cannot be read.
    """
    found = list(found)
    named = dict.fromkeys(n for one in found if isinstance(one, str) for n in _named_files(one))
    every = [hashlib.sha256(one).hexdigest() for one in found if isinstance(one, bytes)]
    texts = {_TEXTS: text_digest("".join(every).encode())} if every else {}
    return {**{_NAMED + name: digest_text(file_digest(name)) for name in named}, **texts}


def opened_topics(files: Mapping[str, str], known: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the topics of opened files, without files named already and results.

    Args:
        files: Their digests by absolute path.
        known: Topics so far; the files that they name are left out.
        folder: The folder of the results, which are left out as well.
    """
    named = {
        os.path.abspath(topic.removeprefix(_NAMED))  # noqa: PTH100 (compared as texts)
        for topic in known
        if topic.startswith(_NAMED)
    }
    results = os.path.join(os.path.abspath(folder), "")  # noqa: PTH100, PTH118 (compared as texts)
    return {
        _OPENED + path: digest_text(text)
        for path, text in files.items()
        # A worker on another machine may have files that are not here.
        if path not in named and not path.startswith(results) and os.path.isfile(path)  # noqa: PTH113
    }


def opened_now(known: Iterable[str]) -> dict[str, str]:
    """Return the topics of opened files among some topics, with the files' present digests."""
    return {topic: _present_digest(topic) for topic in known if topic.startswith(_OPENED)}


def _present_digest(topic: str) -> str:
    try:
        return digest_text(file_digest(topic.removeprefix(_OPENED)))
    except UsageError:
        return GONE


def _version(package: str) -> str:
    """Return the version of the package imported by this name; empty if it declares none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        known = importlib.metadata.packages_distributions().get(package, ())
        return ", ".join(importlib.metadata.version(name) for name in sorted({*known}))


def digest_text(digest: str) -> str:
    """Return the text of a topic that stands for content with a digest."""
    return _DIGEST + digest


def text_digest(content: bytes) -> str:
    """Return the text of a topic that stands for some content."""
    return _DIGEST + hashlib.sha256(content).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether the text of a topic stands for the content of files."""
    return text.startswith(_DIGEST)


def _named_files(text: str) -> Iterator[str]:
    """Yield the files that a text names: all of it, or the parts between colons."""
    parts = text.split(":")[:_MAX_PARTS]
    for start in range(len(parts)):
        for stop in range(start + 1, len(parts) + 1):
            if os.path.isfile(name := ":".join(parts[start:stop])):  # noqa: PTH113 (any text)
                yield name


def difference(stored: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the topics of kept rows that differ from those of a command, in words."""
    topics = [one for one in {**stored, **now} if stored.get(one) != now.get(one)]
    values = [t for t in topics if not is_digest(stored.get(t) or now[t])]
    # Topics that only one side has follow from the others, such as the source files of a policy.
    changed = [t for t in topics if t not in values and t in stored and t in now]
    named = values + changed or topics
    texts = [_topic_text(topic, stored, now) for topic in named[:_MAX_TOPICS]]
    more = f" and {len(named) - _MAX_TOPICS} more" if len(named) > _MAX_TOPICS else ""
    return f"{', '.join(texts)}{more}"


def _topic_text(topic: str, stored: Mapping[str, str], now: Mapping[str, str]) -> str:
    if topic not in now:
        return f"{topic} is not used any more"
    if now[topic] == GONE:
        return f"{topic} is gone"
    if is_digest(now[topic]):
        return f"{topic} has changed" if topic in stored else f"{topic} is new"
    before, after = stored.get(topic, ""), now[topic]
    same = _first_difference(before, after)
    return f"{topic} {_short(before, same)}, now {_short(after, same)}"


def _first_difference(before: str, now: str) -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(before), len(now)))


def _short(text: str, start: int) -> str:
    """Return a text in quotes; a long one is cut to the characters around a place."""
    start = max(0, start - _MAX_TEXT // 3) if len(text) > _MAX_TEXT else 0
    end = start + _MAX_TEXT
    return repr("…" * (start > 0) + text[start:end] + "…" * (end < len(text)))
