"""Files that were opened to play rows, as topics of the fingerprint of a checkpoint."""

import os
from collections.abc import Mapping
from pathlib import Path

from desim.errors import UsageError
from desim.jobs.keep.definitions.data_files import digest
from desim.jobs.keep.fingerprint import digest_text

#: Begins these topics.
_OPENED = "opened file "

#: Begins the topics of files that parameters and arguments name.
_NAMED = "file "

#: The text of a topic whose file cannot be read any more.
GONE = digest_text("")


def noted_topics(
    files: Mapping[str, str], identity: Mapping[str, str], folder: Path
) -> dict[str, str]:
    """Return the topics of opened files, without files named already and results.

    Args:
        files: Their digests by absolute path.
        identity: All topics so far; the files that they name are left out.
        folder: The folder of the results, which are left out as well.
    """
    named = {
        os.path.abspath(topic.removeprefix(_NAMED))  # noqa: PTH100 (compared as texts)
        for topic in identity
        if topic.startswith(_NAMED)
    }
    results = os.path.join(os.path.abspath(folder), "")  # noqa: PTH100, PTH118 (compared as texts)
    return {
        _OPENED + path: digest_text(text)
        for path, text in files.items()
        # A worker on another machine may have files that are not here.
        if path not in named and not path.startswith(results) and os.path.isfile(path)  # noqa: PTH113
    }


def noted_now(identity: Mapping[str, str]) -> dict[str, str]:
    """Return the topics of opened files among some topics, with the files' present digests."""
    return {topic: _now(topic) for topic in identity if topic.startswith(_OPENED)}


def _now(topic: str) -> str:
    try:
        return digest_text(digest(topic.removeprefix(_OPENED)))
    except UsageError:
        return GONE
