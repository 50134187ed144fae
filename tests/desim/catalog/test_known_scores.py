"""Known scores as data: what can be written is read again, and damaged files are refused."""

from pathlib import Path

import pytest
from golden.known_scores import known_scores_text
from msgspec.structs import replace
from support.known_worlds import FAIR, SHORT, Measured, known

from desim.catalog.known_scores import (
    FILE_NAME,
    KnownScores,
    parsed_known_scores,
    read_known_scores,
)
from desim.errors import UsageError

ONE = replace(known(Measured, "short", SHORT), fair=FAIR)
ALL = KnownScores("f", "1.0", (("cfo",), ("ceo", "cfo")), "idle", {"idle": 3}, {"every": SHORT[0]})
TEXT = known_scores_text("experiments/make.py", {"short": ONE, "all": ALL})


def test_a_file_is_read_as_it_was_written() -> None:
    """Sorted, with a line a seed."""
    assert parsed_known_scores(TEXT.encode(), "f") == {"all": ALL, "short": ONE}
    assert TEXT.index('"all"') < TEXT.index('"short"')
    assert '    "3": {"floor": 5.0, "best": 5.5, "by": "random"}\n' in TEXT
    assert TEXT.count("\n") == 32


def test_seeds_are_found() -> None:
    """One entry may hold for every seed; of an unknown one nothing is known."""
    assert ALL.of(10**9) == SHORT[0]
    assert (ONE.of(3), ONE.of(4)) == (SHORT[3], None)
    assert ONE.all_of([0, 3]) == [SHORT[0], SHORT[3]]
    assert ONE.all_of([0, 4]) is None
    assert (SHORT[2].ceiling, SHORT[2].ceiling_kind) == (6, "best known")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (TEXT[:-40], "holds no known scores: Input data was truncated"),
        ("", "holds no known scores"),
        ("[" * 100_000, "holds no known scores"),
        (TEXT.replace('"relaxation"', '"guess"'), "Invalid enum value 'guess'"),
        (TEXT.replace('"relaxation"', '"best known"'), "Invalid enum value 'best known'"),
        (TEXT.replace(', "kind": "proved"', ""), "a bound without its kind"),
        (TEXT.replace('"floor": 5.0', '"floor": NaN'), "holds no known scores: JSON is malformed"),
        (TEXT.replace('"floor": 5.0', '"floor": 1e999'), "Number out of range"),
        (TEXT.replace('"floor": 5.0', '"floor": 5.6'), "floor 5.6, best 5.5 and bound 5.5 were gi"),
        (TEXT.replace('"bound": 6.0', '"bound": 1.0'), "floor 2, best 6 and bound 1 were given"),
        (TEXT.replace('"floor": 5.0', '"flor": 5.0'), "unknown field `flor`"),
        (TEXT.replace('"3":', '"03":'), "Expected `str` matching regex"),
        (TEXT.replace('"3":', '"every":'), "scores of seeds, or one entry"),
        (TEXT.replace('"floor": "idle"', '"floor": "x"'), "floor 'x' is none of the policies"),
        (TEXT.replace('"estimated"', '"guess"'), "Invalid enum value 'guess'"),
        (TEXT.replace('"half": 0.5', '"half": -1'), "Expected `float` >= 0.0"),
        (TEXT.replace('"format": 1', '"format": 2'), "Invalid enum value 2 - at `$.format`"),
    ],
)
def test_a_damaged_file_is_refused(wrong: str, text: str) -> None:
    """In one sentence that names the file."""
    with pytest.raises(UsageError, match=r"^scores\.json") as refused:
        parsed_known_scores(wrong.encode(), "scores.json")
    assert text in str(refused.value)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """Before its content is decoded."""
    (tmp_path / FILE_NAME).write_text(" " * 10_000_001)
    with pytest.raises(UsageError, match=r"cannot read .*: it is larger than 9 MiB, the limit"):
        read_known_scores(str(tmp_path / "model.py"))


def test_bytes_that_are_no_text_are_refused() -> None:
    """As any other damage."""
    with pytest.raises(UsageError, match="holds no known scores"):
        parsed_known_scores(TEXT.encode().replace(b"greedy", b"\xff\xfe"), "f")


def test_the_file_is_beside_a_module(tmp_path: Path) -> None:
    """A missing one is named."""
    module = tmp_path / "model.py"
    with pytest.raises(UsageError, match=f"cannot read .*{FILE_NAME}: No such file"):
        read_known_scores(str(module))
    (tmp_path / FILE_NAME).write_text(TEXT, encoding="utf-8")
    assert read_known_scores(str(module))["short"] == ONE


def test_other_parameters_do_not_fit() -> None:
    """The fingerprint is of all parameters."""
    assert ONE.fits(Measured())
    assert not ONE.fits(Measured(pace=2))
