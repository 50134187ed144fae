"""Only regular files within a limit are read."""

from pathlib import Path

import pytest

from desim.show.files import read_regular


def test_a_device_and_a_large_file_are_refused(tmp_path: Path) -> None:
    """The error says which it is."""
    with pytest.raises(OSError, match="pipe or device"):
        read_regular("/dev/zero", 10)
    (tmp_path / "large").write_bytes(bytes(11))
    with pytest.raises(OSError, match="larger than 10 bytes, the limit"):
        read_regular(tmp_path / "large", 10)
    assert read_regular(tmp_path / "large", 11) == bytes(11)
