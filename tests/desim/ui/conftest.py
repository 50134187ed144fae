"""A browser for the tests of the page; $DESIM_SCREENSHOTS names a folder for screenshots."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import pages


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests."""
    with pages.Browser.started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go."""
    folder = Path(pages.SCREENSHOTS or tmp_path / "pictures")
    folder.mkdir(exist_ok=True, parents=True)
    return folder
