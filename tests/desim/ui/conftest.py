"""A browser for the tests of the page; $DESIM_SCREENSHOTS names a folder for screenshots."""

import shutil
import subprocess
import tarfile
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


#: The version of axe-core, whose rules differ between versions.
AXE = "4.14.1"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checker of accessibility as a script for the browser."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("axe")
    if npm is None:
        pytest.skip("no npm, which provides axe-core")
    done = subprocess.run(
        [npm, "pack", "--silent", f"axe-core@{AXE}"], cwd=folder, capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("npm cannot fetch axe-core")
    with tarfile.open(folder / f"axe-core-{AXE}.tgz") as package:
        file = package.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()
