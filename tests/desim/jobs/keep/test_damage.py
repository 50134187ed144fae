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
from desim.jobs.keep.cell_store import FILE_NAME
from desim.jobs.keep.row_file import insert, write_entries
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


def at(seed: int) -> str:
    """The condition in SQL for the row of a seed of the first policy."""
    return f"job = (SELECT min(job) FROM rows) / 4294967296 * 4294967296 + {seed}"  # noqa: S608 (ours)


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
        "UPDATE rows SET row = replace(row, '\"score\":', '\"score\":1') WHERE {seven}",
        "UPDATE rows SET row = (SELECT row FROM rows WHERE {eight}) WHERE {seven}",
        "UPDATE rows SET row = 3 WHERE {seven}",
        "UPDATE rows SET checksum = NULL WHERE {seven}",
    ],
)
def test_a_damaged_row_is_named_and_played_again(tmp_path: Path, statement: str) -> None:
    """The others are kept; the file is sound again afterwards."""
    rows = swept(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        file.execute("PRAGMA writable_schema = 1")
        file.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
    file.close()
    altered(tmp_path, statement.format(seven=at(7), eight=at(8)))
    reports: list[tuple[int, int]] = []
    text = rf"was damaged; played again: {WALK}/short, {STRIDE}, seed 7$"
    with pytest.warns(SweepWarning, match=text):
        assert swept(tmp_path, progress=lambda *now: reports.append(now)) == rows
    assert reports[0] == (39, 40)
    assert swept(tmp_path) == rows


def test_a_row_of_another_job_is_played_again(tmp_path: Path) -> None:
    """Its checksum fits, but not its model, policy or seed."""
    rows = swept(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        query = f"SELECT job, row FROM rows WHERE {at(3)} OR {at(4)} ORDER BY job"  # noqa: S608 (ours)
        (three, row), (four, other) = file.execute(query)
        file.execute(f"DELETE FROM rows WHERE {at(3)} OR {at(4)}")  # noqa: S608 (ours)
        insert(file, [(three, other), (four, row)])
    file.close()
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
    altered(tmp_path, "UPDATE identity SET topics = replace(topics, 'policies', 'Policies')")
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
    altered(tmp_path, f"UPDATE rows SET checksum = 1 WHERE {at(5)}")  # noqa: S608 (ours)
    with pytest.raises(BadRecord, match="the row of seed 5 is damaged; the command of the"):
        Rows.read(tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        b"7 {}",
        b'7 {"score":NaN}',
        b"7 " + b"[" * 100_000,
        b"9" * 5_000 + b" {}",
        b"-7 {}",
        b"",
        b"\xff",
    ],
    ids=range(7),
)
def test_a_row_of_a_stranger_with_a_sound_checksum_is_played_again(
    tmp_path: Path, row: bytes
) -> None:
    """Not a result, NaN, too deep, too large a seed; reading it ends with one sentence."""
    rows = swept(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        ((seven,),) = file.execute(f"SELECT job FROM rows WHERE {at(7)}")  # noqa: S608 (ours)
        file.execute("DELETE FROM rows WHERE job = ?", (seven,))
        insert(file, [(seven, row)])
    file.close()
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(BadRecord, match=FILE_NAME):
        Rows.read(tmp_path)
    with pytest.warns(SweepWarning, match=r"seed 7$"):
        assert swept(tmp_path) == rows


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (9, b"{}"),
        (9, b'{"type":"group","plays":{},"code":99,"files":{}}'),
        (9, b'{"type":"group","plays":{},"code":2,"files":' + b"[" * 100_000),
        (2**40, b'{"type":"code","topics":{}}'),
        (9, b'{"type":"plan","ranges":[[0,99999999999999999]],"cells":[]}'),
        (9, b'{"type":"plan","ranges":[[5,1]],"cells":[]}'),
        (9, b'{"type":"plan","ranges":[[0,2]],"cells":[[77,{"before":{},"after":{}}]]}'),
    ],
    ids=range(7),
)
def test_an_entry_of_a_stranger_is_an_error(tmp_path: Path, number: int, text: bytes) -> None:
    """Reading and playing end with one sentence; `--restart` starts anew."""
    rows = swept(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        write_entries(file, {number: text})
    file.close()
    (tmp_path / "rows.jsonl").unlink()
    for command in (swept, Rows.read):
        with pytest.raises(
            UsageError, match="is damaged: its sweep cannot be read; choose another"
        ):
            command(tmp_path)
    with pytest.warns(SweepWarning, match="40 rows were discarded"):
        assert swept(tmp_path, restart=True) == rows


def test_a_view_of_a_stranger_is_not_read(tmp_path: Path) -> None:
    """Its query need not end."""
    swept(tmp_path)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    altered(tmp_path, "DROP TABLE rows")
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        file.execute(
            f"CREATE VIEW rows AS {endless} SELECT i AS job, '' AS row, 0 AS checksum FROM n"  # noqa: S608
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
    with pytest.raises(
        UsageError, match=f"{word} needs the folder of an earlier command; give out"
    ):
        sweep(WALK, STRIDE, range(3), **{word: True})  # type: ignore[arg-type]
