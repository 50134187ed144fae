"""Where modules are found, and which of them belong to installed packages."""

from pathlib import Path

import pytest

from desim.definitions.modules import is_installed_file, place_of


def test_a_namespace_folder_in_a_package_that_is_not_imported_has_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python computes the path of such a folder from its parent; nothing is imported for it."""
    inside = tmp_path / "outer_package" / "examples"
    inside.mkdir(parents=True)
    (inside.parent / "__init__.py").touch()
    (inside / "one.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    place = place_of("outer_package.examples")
    assert place is not None
    assert place.folders == (str(inside),)
    module = place_of("outer_package.examples.one")
    assert module is not None
    assert module.file == str(inside / "one.py")


def test_packages_in_a_folder_that_pip_has_filled_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of `pip install --target` are; a script of the user's own beside them is not."""
    (tmp_path / "given-1.0.dist-info").mkdir()
    record = tmp_path / "given-1.0.dist-info" / "RECORD"
    record.write_text("given/__init__.py,sha256=x,1\nsingle.py,,\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert is_installed_file(str(tmp_path / "given" / "part" / "deep.py"))
    assert is_installed_file(str(tmp_path / "single.py"))
    assert not is_installed_file(str(tmp_path / "own.py"))
