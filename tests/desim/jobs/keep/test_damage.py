"""A damaged checkpoint: what is sound is kept, the rest is named and played again."""

import os
import random
import shutil
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import pytest
from support.small_worlds import FAILS, OUTAGE, STRIDE, WALK

from desim.errors import BadRecord, DesimError, UsageError
from desim.jobs.keep.checkpoint import FILE_NAME, Checkpoint
from desim.jobs.keep.store import SweepWarning
from desim.jobs.rows.rows import Rows
from desim.studies.sweep import sweep

#: Flipped bits that the test tries, each followed by a whole sweep; `DESIM_FLIPS` raises it.
FLIPS = int(os.environ.get("DESIM_FLIPS", "40"))


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


def flipped(data: bytes, bit: int) -> bytes:
    """The data with one bit changed."""
    place, bit = divmod(bit, 8)
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def test_a_flipped_bit_changes_no_row(tmp_path: Path) -> None:
    """Anywhere in the file: the rows are the same, or one sentence refuses the file."""
    rows, whole = swept(tmp_path / "whole"), tmp_path / "whole" / FILE_NAME
    data, chance = whole.read_bytes(), random.Random(11)  # noqa: S311
    for _ in range(FLIPS):
        folder = tmp_path / "flipped"
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(flipped(data, chance.randrange(8 * len(data))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SweepWarning)
            try:
                assert swept(folder) == rows
            except DesimError as refused:
                assert str(refused).startswith(str(folder / FILE_NAME))  # noqa: PT017
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rows SET row = replace(row, '\"score\":', '\"score\":1') WHERE job = 7",
        "UPDATE rows SET row = (SELECT row FROM rows WHERE job = 8) WHERE job = 7",
        "UPDATE rows SET row = 3 WHERE job = 7",
        "UPDATE rows SET checksum = NULL WHERE job = 7",
    ],
)
def test_a_damaged_row_is_named_and_played_again(tmp_path: Path, statement: str) -> None:
    """The others are kept; the file is sound again afterwards."""
    rows = swept(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        file.execute("PRAGMA writable_schema = 1")
        file.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
    file.close()
    altered(tmp_path, statement)
    reports: list[tuple[int, int]] = []
    text = rf"was damaged; played again: {WALK}/short, {STRIDE}, seed 7$"
    with pytest.warns(SweepWarning, match=text):
        assert swept(tmp_path, progress=lambda *now: reports.append(now)) == rows
    assert reports[0] == (39, 40)
    assert swept(tmp_path) == rows


def test_a_row_of_another_job_is_played_again(tmp_path: Path) -> None:
    """Its checksum fits, but not its model, policy or seed."""
    rows = swept(tmp_path)
    with Checkpoint(tmp_path) as file:
        stored = [*file.rows()]
    altered(tmp_path, "DELETE FROM rows WHERE job IN (3, 4)")
    with Checkpoint(tmp_path) as file:
        file.add([3, 4], [stored[4], stored[3]])
    with pytest.warns(SweepWarning, match=r"seed 3; .*seed 4$"):
        assert swept(tmp_path) == rows


def test_pages_that_were_overwritten_are_played_again(tmp_path: Path) -> None:
    """Where SQLite cannot read on, the rows before and after are kept."""
    rows = sweep(WALK, STRIDE, range(200), out=tmp_path)
    path = tmp_path / FILE_NAME
    data = path.read_bytes()
    middle = len(data) // 8192 * 4096  # a page of rows: the identity fills the first ones
    path.write_bytes(data[:middle] + b"\xff" * 4096 + data[middle + 4096 :])
    reports: list[tuple[int, int]] = []
    with pytest.warns(SweepWarning, match="the rows that could be read are kept, the others"):
        again = sweep(WALK, STRIDE, range(200), out=tmp_path, progress=lambda *n: reports.append(n))
    assert again == rows
    assert 100 < reports[0][0] < 200


def test_a_damaged_identity_is_an_error(tmp_path: Path) -> None:
    """It is not known then which sweep the rows belong to; nothing changes."""
    swept(tmp_path)
    altered(tmp_path, "UPDATE identity SET topics = replace(topics, '0:20', '0:21')")
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(UsageError) as refused:
        swept(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path / FILE_NAME} is damaged: its sweep cannot be read; "
        "choose another folder (--out), or discard its rows (--restart)"
    )
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_reading_an_unfinished_sweep_notices_damage(tmp_path: Path) -> None:
    """`Rows.read` changes nothing, so it names the row."""
    swept(tmp_path)
    altered(tmp_path, "UPDATE rows SET checksum = 1 WHERE job = 5")
    with pytest.raises(BadRecord, match="the row of episode 5 is damaged; the command of the"):
        Rows.read(tmp_path)


# -- rows that are discarded on purpose ------------------------------------------------------------


def test_restart_discards_the_rows_of_another_sweep(tmp_path: Path) -> None:
    """It says how many they were; files of the old rows do not stay beside the new sweep."""
    sweep(WALK, STRIDE, range(5), out=tmp_path)
    with pytest.warns(SweepWarning, match=rf"{FILE_NAME}: 5 rows were discarded$"):
        rows = sweep(WALK, STRIDE, range(3), out=tmp_path, restart=True)
    assert rows == sweep(WALK, STRIDE, range(3)) == Rows.read(tmp_path)
    assert sweep(WALK, STRIDE, range(3), out=tmp_path) == rows


@pytest.mark.parametrize(
    "statement",
    ["PRAGMA user_version = 1", "DELETE FROM identity", "DROP TABLE rows"],
    ids=["older", "identity", "rows"],
)
def test_restart_mends_a_file_that_cannot_be_used(tmp_path: Path, statement: str) -> None:
    """Without it, one sentence says so."""
    rows = swept(tmp_path)
    altered(tmp_path, statement)
    with pytest.raises(UsageError, match=FILE_NAME):
        swept(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SweepWarning)
        assert swept(tmp_path, restart=True) == rows


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
    with pytest.raises(UsageError, match=f"{word} needs the folder of an earlier sweep; give out"):
        sweep(WALK, STRIDE, range(3), **{word: True})  # type: ignore[arg-type]
