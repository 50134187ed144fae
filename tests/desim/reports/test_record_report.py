"""The report about recorded episodes: side by side, as text, from strangers."""

import json
from pathlib import Path

import msgspec
import pytest
from support.html_page import read
from support.recorded import GAME, SEATS
from support.shop import Shop

from desim import play
from desim.episodes.seal import Seal
from desim.errors import BadRecord, UsageError
from desim.reports.record_page import MOST_DECISIONS, MOST_RECORDS
from desim.reports.report import write_report


class Clerk:
    """Sells teas and notes what it used."""

    def decide(self, day: object) -> dict[str, object]:
        """Return the same action every day."""
        return {"do": "sell", "teas": 2}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of two seats."""
    play(GAME, SEATS, 3, record=tmp_path / "one.jsonl.gz")
    return tmp_path / "one.jsonl.gz"


def test_a_record_is_reported_beside_it(record: Path) -> None:
    """Score, policies, decisions, and the mix of actions of each role."""
    page = read(write_report([record]).read_bytes())
    facts = {line[0]: line[1] for line in page.tables[0]}
    assert record.with_name("one.html").exists()
    assert (facts["seed"], facts["decisions"], facts["ended"]) == ("3", "12", "horizon")
    assert facts["policies"] == "retailer=typical, wholesaler=typical"
    assert page.heads == ["Episodes", "Metrics", "Parameters", "Actions", "Decisions"]
    (mix,) = page.pictures
    assert [line[:2] for line in mix.tables[0][1:]] == [["retailer", "6"], ["wholesaler", "6"]]
    assert [line[2] for line in page.tables[-1][1:3]] == ["retailer", "wholesaler"]


def test_records_of_one_model_stand_side_by_side(record: Path, tmp_path: Path) -> None:
    """Only parameters that differ are shown; another model has sections of its own."""
    play(type(GAME)(horizon=5), SEATS, record=tmp_path / "two.jsonl")
    play(Shop(), Clerk(), record=tmp_path / "shop.jsonl")
    paths = [record, tmp_path / "two.jsonl", tmp_path / "shop.jsonl"]
    page = read(write_report(paths, tmp_path / "all.html").read_bytes())
    assert page.heads[0] == "Episodes, beer_game"
    assert page.tables[0][0] == ["", "one.jsonl.gz", "two.jsonl"]
    assert ["horizon", "6", "5"] in page.tables[2]
    assert len(page.tables[2]) == 2
    assert "Episodes, support.shop:Shop" in page.heads


def test_usage_of_models_is_shown(tmp_path: Path) -> None:
    """Sums by role, as they stand in the result."""
    file = tmp_path / "used.jsonl"
    play(GAME, SEATS, record=file)
    altered(file, "result", usage={"retailer": {"calls": 6, "cost": 0.25}})
    page = read(write_report([file]).read_bytes())
    assert ["used.jsonl", "retailer", "6", "0.25"] in page.tables[-2]


def altered(file: Path, kind: str, **changes: object) -> None:
    """Change lines of a record of some kind, and write it as a stranger would: with a digest."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[-1].pop("record_digest")
    changed = [{**line, **changes} if line["line"] == kind else line for line in lines]
    sealed(file, changed)


def sealed(file: Path, lines: list[dict[str, object]]) -> None:
    """Write lines with the digest that belongs to them."""
    seal = Seal()
    *before, last = [msgspec.json.encode(line) for line in lines]
    for line in before:
        seal.add(line + b"\n")
    file.write_bytes(b"".join(line + b"\n" for line in before) + seal.sealed(last) + b"\n")


def test_no_text_of_a_record_is_markup_or_imported(tmp_path: Path) -> None:
    """Model, policies, roles, observations, actions, metrics, the end: all from a stranger."""
    hostile = "</td><script>alert(1)</script>"
    file = tmp_path / "hostile.jsonl"
    play(GAME, SEATS, record=file)
    altered(file, "header", model="os:system", preset=hostile, policies={hostile: hostile})
    step = {"observation": {hostile: [hostile] * 9}, "action": {"do": hostile}, "role": hostile}
    altered(file, "decision", **step)
    altered(file, "result", metrics={hostile: hostile}, ended=hostile, ledger_digest=hostile)
    page = read(write_report([file]).read_bytes())
    assert ["ended", hostile] in page.tables[0]
    assert "os:system" in page.text


def test_a_long_record_is_cut_to_its_first_decisions(tmp_path: Path) -> None:
    """All of them are counted, and however many actions there are, few have a column."""
    file = tmp_path / "long.jsonl"
    play(GAME, SEATS, record=file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[-1].pop("record_digest")
    steps = [{**lines[1], "action": {"do": f"a{n}" * 50}} for n in range(300)]
    sealed(file, [lines[0], *steps, {**lines[-1], "decisions": 300}])
    page = read(write_report([file]).read_bytes())
    assert f"the first {MOST_DECISIONS} of 300 decisions" in page.text
    assert len(page.tables[-1]) == MOST_DECISIONS + 1
    (mix,) = page.pictures
    assert len(mix.tables[0][0]) < 12
    assert sum(map(int, mix.tables[0][1][2:])) == 300


def test_a_cut_record_is_reported_as_far_as_it_goes(record: Path, tmp_path: Path) -> None:
    """There is no score, and the page says why."""
    cut = tmp_path / "cut.jsonl"
    play(GAME, SEATS, record=cut)
    cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:4]))
    page = read(write_report([cut, record]).read_bytes())
    assert ["score", "—"] in [line[:2] for line in page.tables[0]]
    assert ["ended", "the record was cut", "horizon"] in page.tables[0]
    assert ["decisions", "3", "12"] in page.tables[0]


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    """Nothing is written."""
    (tmp_path / "notes.txt").write_text("hello\n")
    with pytest.raises(BadRecord, match=r"notes\.txt"):
        write_report([tmp_path / "notes.txt"])
    assert not (tmp_path / "notes.txt.html").exists()


def test_records_are_limited_in_number(record: Path) -> None:
    """A page with a hundred columns serves nobody."""
    with pytest.raises(UsageError, match=r"^13 records were given; a report holds at most 12$"):
        write_report([record] * (MOST_RECORDS + 1))


def test_a_comparison_belongs_to_sweeps(record: Path) -> None:
    """The option would have no effect."""
    with pytest.raises(UsageError, match=r"^--against belongs to the report about a sweep$"):
        write_report([record], against="typical")
