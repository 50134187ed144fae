"""What tests of records share."""

from pathlib import Path

import pytest


@pytest.fixture(params=["run.jsonl", "run.jsonl.gz"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a record goes, plain or gzipped."""
    return tmp_path / str(request.param)
