"""A damaged checkpoint is refused; rows that are discarded on purpose."""

import contextlib
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.small_worlds import FAILS, OUTAGE, STRIDE, WALK

from desim.engine.store import FILE_NAME, SweepWarning
from desim.errors import DesimError, UsageError
from desim.rows.rows import Rows
from desim.studies.sweep import sweep


def swept(out: Path, **more: Any) -> Rows:
    """A small sweep into a folder."""
    return sweep(WALK, [STRIDE, FAILS], range(20), out=out, **more)


def altered(folder: Path, statement: str) -> None:
    """Change the file of a sweep by SQL, and remove the files of its rows."""
    with sqlite3.connect(folder / FILE_NAME) as file:
        file.execute(statement)
    file.close()
    for name in ("rows.csv", "rows.jsonl"):
        (folder / name).unlink()


def overwrite(folder: Path) -> None:
    """Overwrite a page in the middle of the file of a sweep."""
    path = folder / FILE_NAME
    data = path.read_bytes()
    middle = len(data) // 8192 * 4096
    path.write_bytes(data[:middle] + b"\xff" * 4096 + data[middle + 4096 :])
    for name in ("rows.csv", "rows.jsonl"):
        (folder / name).unlink()


@pytest.mark.parametrize(
    "statement",
    ["", "PRAGMA user_version = 1", "DROP TABLE last", "DROP TABLE results"],
    ids=["damaged", "older", "last", "results"],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, statement: str) -> None:
    """Nothing is repaired: one sentence names the file, for playing, anew or not, and reading."""
    sweep(WALK, STRIDE, range(200), out=tmp_path)
    if statement:
        altered(tmp_path, statement)
    else:
        overwrite(tmp_path)
    before = (tmp_path / FILE_NAME).read_bytes()
    for command in (swept, partial(swept, restart=True), Rows.read):
        with pytest.raises(UsageError, match=rf"{FILE_NAME} .*; remove it to start anew"):
            command(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before
    (tmp_path / FILE_NAME).unlink()
    assert swept(tmp_path) == Rows.read(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE results SET result = '{' WHERE seed = '7'",
        "UPDATE results SET result = 3 WHERE seed = '7'",
        "UPDATE cells SET topics = '3'",
        "UPDATE last SET plan = '[[0,1000000000000000000000],[[1,[{},{}]]]]'",
        "UPDATE last SET plan = '[[-1]]'",
        "DELETE FROM cells",
    ],
)
def test_what_a_stranger_wrote_is_one_sentence(tmp_path: Path, statement: str) -> None:
    """Neither reading nor playing ends with a traceback."""
    swept(tmp_path)
    altered(tmp_path, statement)
    for command in (swept, Rows.read):
        with contextlib.suppress(DesimError):  # each needs only a part of the file
            assert len(command(tmp_path)) in {0, 5, 40}


def test_a_view_of_a_stranger_is_not_read(tmp_path: Path) -> None:
    """Its query need not end."""
    swept(tmp_path)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    altered(tmp_path, "DROP TABLE results")
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        file.execute(
            f"CREATE VIEW results AS {endless} SELECT i AS cell, '' AS seed, '' AS result FROM n"  # noqa: S608
        )
    file.close()
    for command in (swept, Rows.read):
        with pytest.raises(UsageError, match="has other tables"):
            command(tmp_path)


# -- rows that are discarded on purpose ------------------------------------------------------------


def test_restart_discards_the_rows_of_the_command(tmp_path: Path) -> None:
    """It says how many they were; other rows stay, and their files not."""
    sweep(WALK, STRIDE, range(5), out=tmp_path)
    with pytest.warns(SweepWarning, match=rf"{FILE_NAME}: 3 rows were discarded$"):
        rows = sweep(WALK, STRIDE, range(3), out=tmp_path, restart=True)
    assert rows == sweep(WALK, STRIDE, range(3)) == Rows.read(tmp_path)
    reports: list[tuple[int, int]] = []
    sweep(WALK, STRIDE, range(6), out=tmp_path, progress=lambda *now: reports.append(now))
    assert reports[0] == (5, 6)


def test_restart_in_a_new_folder_is_a_start(tmp_path: Path) -> None:
    """There is nothing to discard, and no warning."""
    assert swept(tmp_path, restart=True) == swept(tmp_path)


def test_failed_episodes_can_be_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage only these are played; without the word they stay as they are."""
    monkeypatch.setenv("OUTAGE", "2")
    failed = sweep(WALK, [OUTAGE, STRIDE], range(6), out=tmp_path)
    assert failed.failed.column("seed") == [2, 3, 4, 5]
    monkeypatch.delenv("OUTAGE")
    assert sweep(WALK, [OUTAGE, STRIDE], range(6), out=tmp_path) == failed
    reports: list[tuple[int, int]] = []
    again = sweep(
        WALK,
        [OUTAGE, STRIDE],
        range(6),
        out=tmp_path,
        retry_failed=True,
        progress=lambda *now: reports.append(now),
    )
    assert reports[0] == (8, 12)
    assert again == sweep(WALK, [OUTAGE, STRIDE], range(6))
    assert len(again.failed) == 0


@pytest.mark.parametrize("word", ["restart", "retry_failed"])
def test_discarding_rows_needs_a_folder(word: str) -> None:
    """There is nothing to discard in memory."""
    with pytest.raises(
        UsageError, match=f"{word} needs the folder of an earlier command; give out"
    ):
        sweep(WALK, STRIDE, range(3), **{word: True})  # type: ignore[arg-type]
