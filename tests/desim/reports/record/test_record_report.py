"""The report about recorded episodes: side by side, as text, from strangers."""

import hashlib
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from attrs import frozen
from support.cases import thinned
from support.failing_world import Mill
from support.pages import read
from support.recorded import GAME, SEATS
from support.shop import Shop
from support.small_worlds import Diary, Stride

from desim import Episode, Policy, catalog, play
from desim.core.reported import Figures, Periods
from desim.errors import BadRecord, ModelFailed, UsageError
from desim.reports.record.record_page import MOST_RECORDS
from desim.reports.record.record_read import MOST_DECISIONS
from desim.reports.record.replayed import played_again
from desim.reports.report import write_report
from desim.show.column import Column
from ledgers.export import holdings_table
from ledgers.stock import Stock


@pytest.fixture
def walks(tmp_path: Path) -> dict[str, Path]:
    """Records of short walks: two policies, one of them again, and one of another seed."""
    played = {"a": (1, 3), "b": (2, 3), "again": (1, 3), "seed": (1, 4)}
    for name, (size, seed) in played.items():
        play(Diary(), Stride(size), seed, record=tmp_path / f"{name}.jsonl")
    return {name: tmp_path / f"{name}.jsonl" for name in played}


class Clerk(Policy):
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
    """Score, policies, decisions, and a plot for each series of each role."""
    page = read(write_report([record]).read_bytes())
    assert record.with_name("one.html").exists()
    assert "played by typical (retailer, wholesaler): score " in page.text
    assert "after 12 decisions (horizon)." in page.text
    sections = ["Result", "Series", "Statements and tables", "Decisions", "What was played"]
    assert page.heads == sections
    assert "seed 3, played" in page.text
    assert "Inventory (units)" in [picture.caption for picture in page.pictures]
    shown = [table for table in page.tables if table[0][:3] == ["number", "time", "role"]]
    assert [line[:4] for line in shown[0][1:3]] == [
        ["1", "week 1", "retailer", "order: quantity 0"],
        ["2", "week 1", "wholesaler", "order: quantity 0"],
    ]


def test_records_of_one_world_and_seed_are_compared(walks: dict[str, Path], tmp_path: Path) -> None:
    """A line each in every plot, differences of score and metrics, the first other decision."""
    page = read(write_report([walks["a"], walks["b"]], tmp_path / "c.html").read_bytes())
    assert "First difference" in page.heads
    scores = next(table for table in page.tables if table[0][0] == "metric")
    assert scores[0] == ["metric", "A a.jsonl", "B b.jsonl", "B - A"]
    assert scores[1][0] == "Score"
    assert scores[1][3] == "+3"
    other = next(table for table in page.tables if table[0][1].startswith("first decision"))
    assert other[1][1:3] == ["number 1, t=0", "walker"]
    captions = [picture.caption for picture in page.pictures]
    assert captions == ["Place", "Gust"]
    assert [line[0] for line in page.pictures[0].tables[0]] == ["record", "A a.jsonl", "B b.jsonl"]
    assert "2 lines" in page.pictures[0].alt
    assert "It says nothing about other seeds" in page.text
    page = read(write_report([walks["a"], walks["again"]], tmp_path / "d.html").read_bytes())
    other = next(table for table in page.tables if table[0][1].startswith("first decision"))
    assert other[1][1] == "none: all decisions are the same"


def test_figures_have_labels_and_units_and_parameters_are_those_that_were_set(
    tmp_path: Path,
) -> None:
    """Money that a world counts in cents is shown in dollars, as its columns declare."""
    world = catalog.model("yc_bench", "default", {"company_name": "Mine"})
    episode = play(world, "greedy", 1, record=tmp_path / "year.jsonl")
    page = read(write_report([tmp_path / "year.jsonl"]).read_bytes())
    figures = dict(line for table in page.tables if table[0][0] == "metric" for line in table)
    assert figures["Final funds"] == f"${episode.score:,.2f}"
    assert not [name for name in figures if "cents" in name]
    assert page.tables[-1] == [["parameter", "value"], ["company_name", "Mine"]]
    assert "other parameters are as in the preset default" in page.text


@pytest.mark.parametrize(
    ("model", "seed", "topic"),
    [(Diary(), 4, "seed"), (Diary(steps=5), 3, "params"), (Shop(), 3, "model")],
)
def test_records_that_are_no_pair_are_refused(
    model: Any, seed: int, topic: str, walks: dict[str, Path], tmp_path: Path
) -> None:
    """A difference between them need not be one of their policies."""
    policy = Clerk() if isinstance(model, Shop) else Stride()
    play(model, policy, seed, record=tmp_path / "other.jsonl")
    with pytest.raises(UsageError, match=f"A a.jsonl and B other.jsonl differ in their {topic}"):
        write_report([walks["a"], tmp_path / "other.jsonl"], tmp_path / "all.html")
    assert not (tmp_path / "all.html").exists()


def test_usage_of_models_is_shown(tmp_path: Path) -> None:
    """Sums by role, as they stand in the result."""
    file = tmp_path / "used.jsonl"
    play(Shop(), Clerk(), record=file)
    altered(file, "result", usage={"clerk": {"calls": 6, "cost": 0.25}})
    page = read(write_report([file]).read_bytes())
    assert ["used.jsonl", "clerk", "6", "0.25"] in [line for table in page.tables for line in table]


@frozen
class Planned(Diary):
    """A walk that reports plans for all steps, whether these are over or not."""

    figures: ClassVar[Figures] = Figures(series={"plan": Column("cents", period="step")})

    def series(self, path: object) -> dict[str, Periods]:
        """Return one number for each step of the whole walk."""
        return {"plan": Periods([700.0] * self.steps, range(1, self.steps + 1))}


def altered(file: Path, kind: str, **changes: object) -> None:
    """Change lines of a record of some kind, and write it as a stranger would: with a digest."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[-1].pop("record_digest")
    changed = [{**line, **changes} if line["line"] == kind else line for line in lines]
    written_anew(file, changed)


def written_anew(file: Path, lines: list[dict[str, object]]) -> None:
    """Write lines with the digest that belongs to them."""
    body = b"\n".join(msgspec.json.encode(line) for line in lines)[:-1]
    found = hashlib.sha256(body).hexdigest().encode()
    file.write_bytes(body + b',"record_digest":"%b"}\n' % found)


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
    assert f"({hostile})" in page.text
    assert "os:system" in page.text
    assert "The record could not be played again" in page.text


def test_a_long_record_is_cut_to_its_first_and_last_decisions(tmp_path: Path) -> None:
    """The page says how many are left out, and what writes them all."""
    file = tmp_path / "long.jsonl"
    play(GAME, SEATS, record=file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[-1].pop("record_digest")
    steps = [{**lines[1], "action": {"do": f"a{n}" * 50}} for n in range(400)]
    written_anew(file, [lines[0], *steps, {**lines[-1], "decisions": 400}])
    page = read(write_report([file]).read_bytes())
    assert "the first 250 and the last 50 of 400 decisions; 100 between them are left" in page.text
    (table,) = [table for table in page.tables if table[0][0] == "number"]
    assert len(table) == MOST_DECISIONS + 1
    assert [line[0] for line in table[250:252]] == ["250", "351"]


def test_a_long_text_is_folded(tmp_path: Path) -> None:
    """Its start is always shown; of a very long one the page says how much is left out."""
    file = tmp_path / "long.jsonl"
    play(Shop(days=1), Clerk(), record=file)
    altered(file, "decision", notes={"said": "first line\n" + "x" * 5_000})
    page = read(write_report([file]).read_bytes())
    assert "the first 3,000 of 5,0" in page.text
    assert page.tags.count("summary") > 1


def test_a_cut_record_is_reported_as_far_as_it_goes(walks: dict[str, Path], tmp_path: Path) -> None:
    """There is no score, and the page says why; the other one is whole."""
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(walks["b"].read_text().splitlines(keepends=True)[:3]))
    page = read(write_report([cut, walks["a"]]).read_bytes())
    assert page.tables[0][1][2:] == ["2", "the record was cut"]
    assert page.tables[0][2][2:] == ["3", "walked"]
    assert page.tables[1][1][:2] == ["Score", "—"]
    assert "A cut.jsonl is not whole: the record was cut, after 2 decisions." in page.text
    assert "tables are as of its last decision, number 2" in page.text


def test_of_a_cut_record_only_periods_that_had_ended_are_drawn(tmp_path: Path) -> None:
    """A model that is asked too early may answer for periods that have not begun."""
    file = tmp_path / "cut.jsonl"
    play(Planned(), Stride(), record=file)
    assert played_again(Episode.read(file)).series.lines[0].values == [7.0, 7.0, 7.0]
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    again = played_again(Episode.read(file, whole=False))
    assert [list(line.values) for line in again.series.lines] == [[7.0]]


@pytest.mark.parametrize("name", thinned(catalog.models(), 2))
def test_series_of_a_cut_record_are_the_beginning_of_the_whole_ones(
    name: str, tmp_path: Path
) -> None:
    """In every world: nothing is drawn that the rest of the episode would change."""
    model, file = catalog.model(name), tmp_path / "played.jsonl"
    play(model, catalog.baselines(model)[0], 1, record=file)
    whole = {line.name: line for line in played_again(Episode.read(file)).series.lines}
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[: len(lines) * 2 // 3]))
    again = played_again(Episode.read(file, whole=False))
    assert "The record was cut" in again.notes[0]
    for line in again.series.lines:
        # What was recorded last may still be replaced in its tick.
        known = line.values[:-1] if line.is_held else line.values
        assert list(known) == list(whole[line.name].values[: len(known)]), line.name
        assert list(line.places) == list(whole[line.name].places[: len(line.places)]), line.name


def test_a_failed_run_is_reported_up_to_its_failure(tmp_path: Path) -> None:
    """With the error, and without a state."""
    file = tmp_path / "broken.jsonl"
    with pytest.raises(ModelFailed):
        play(Mill(), lambda _: {"do": "grind", "sacks": 13}, record=file)
    page = read(write_report([file]).read_bytes())
    assert "score — after 1 decision (failed: " in page.text
    assert "The model failed at t=0, so there is no state to report on: of the series" in page.text
    assert "reports no series" not in page.text


def test_a_module_that_a_record_names_is_not_imported(tmp_path: Path) -> None:
    """The page has what is on record, and says what would have been imported."""
    file = tmp_path / "stranger.jsonl"
    play(Shop(), Clerk(), record=file)
    altered(file, "header", model="antigravity:World")
    page = read(write_report([file]).read_bytes())
    assert "antigravity" not in sys.modules
    assert "it would import module 'antigravity'; --trust allows it" in page.text
    assert "Series" in page.heads
    assert page.pictures == []


def test_a_record_that_does_not_replay_is_shown_as_text(tmp_path: Path) -> None:
    """With the first difference; a result that is not that of the replay is named, too."""
    file = tmp_path / "altered.jsonl"
    play(Shop(), Clerk(), record=file)
    altered(file, "result", score=1e6)
    page = read(write_report([file]).read_bytes())
    says = "does not replay to the result that it states: the result differs: $.score was 1000000.0"
    assert says in page.text
    altered(file, "decision", action={"do": "sell", "teas": 1})
    page = read(write_report([file]).read_bytes())
    assert "The record could not be played again" in page.text
    assert "decision 2 (t=1, 'clerk') differs: $.observation.teas was 8, now 9" in page.text


def test_statements_and_ledgers_are_folded_tables(tmp_path: Path) -> None:
    """Trial balance, holdings, and the model's own statement."""
    play(Shop(), Clerk(), record=tmp_path / "shop.jsonl")
    page = read(write_report([tmp_path / "shop.jsonl"]).read_bytes())
    for title in ("Statement: Income statement", "Trial balance of shop (4 lines)"):
        assert title in page.text
    assert ["total", "—", "15.01", "15.01"] in [line[1:] for t in page.tables for line in t]
    assert ["sales", "15", "—"] in [line for table in page.tables for line in table]


def test_units_of_many_decimals_are_rounded_in_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export holds the exact number: one of 50 decimals, or a fraction."""
    units = {"shelf": Fraction(1, 2**50), "edge": 1234 + Fraction(1, 3), "cups": Fraction(5, 2)}
    monkeypatch.setattr(
        Stock, "export", lambda *_: {"holdings.csv": holdings_table(units, inside=units)}
    )
    play(Shop(), Clerk(), record=tmp_path / "shop.jsonl")
    page = read(write_report([tmp_path / "shop.jsonl"]).read_bytes())
    lines = [line[-1] for table in page.tables for line in table if line[0] in units]
    assert lines[:3] == ["8.88178e-16", "1,234.33", "2.5"]


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
