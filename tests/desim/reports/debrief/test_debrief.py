"""A debrief: two sheets about one or several teams, ranked where that is fair."""

import json
import sys
from pathlib import Path

import pytest
from support.pages import Read, read
from support.recorded import GAME, SEATS
from support.shop import Shop
from support.small_worlds import Diary, Stride

from desim import play, write_debrief
from desim.errors import BadRecord, UsageError
from desim.reports.debrief.teams import MOST_TEAMS, Team, differences, ranks, read_teams
from models.beer_game import BeerGame


class Clerk:
    """Sells two teas a day."""

    def decide(self, day: object) -> dict[str, object]:
        """Return the same action every day."""
        return {"do": "sell", "teas": 2}


@pytest.fixture
def games(tmp_path: Path) -> list[Path]:
    """Records of three teams of two seats: two play alike, one otherwise."""
    played = {"amber": "typical", "bock": "last_demand", "celis": "typical"}
    for name, policy in played.items():
        play(GAME, dict.fromkeys(SEATS, policy), 3, record=tmp_path / f"{name}.jsonl")
    return [tmp_path / f"{name}.jsonl" for name in played]


def table_of(page: Read, head: str) -> list[list[str]]:
    """Return the table that begins with a head."""
    return next(table for table in page.tables if table[0][0] == head)


def test_the_first_sheet_explains_one_game(games: list[Path]) -> None:
    """Orders over demand, stock, amplification and costs of the first record."""
    file = write_debrief(games[:1])
    page = read(file.read_bytes())
    assert file.name == "amber-debrief.html"
    assert page.heads == ["What happened: amber", "What to learn"]
    assert file.read_text().count('class="sheet brief ') == 2
    captions = [picture.caption for picture in page.pictures]
    assert captions == [
        "Orders of each stage over the customers' demand",
        "Stock of each stage; below zero: units owed",
        "Amplification",
        "Revealed: the customers' demand",
    ]
    assert page.pictures[0].alt.endswith("customers, retailer, wholesaler, distributor, brewery.")
    costs = table_of(page, "cost (money)")
    assert costs[0][1:] == ["holding", "backlog", "sum"]
    assert [line[0] for line in costs[1:]] == [*GAME.stages, "team"]
    own = play(GAME, SEATS, 3).metrics["total_cost_supply_chain"]
    assert float(costs[-1][-1].replace(",", "")) == pytest.approx(own, abs=0.5)
    assert "Over 6 independent periods of equal variance it is between" in page.text


def test_teams_are_ranked_and_equal_scores_share_a_rank(games: list[Path]) -> None:
    """The teams of one preset, seed and line-up, the highest score first."""
    page = read(write_debrief(games).read_bytes())
    ranking = table_of(page, "rank")
    assert ranking[0][:4] == ["rank", "team", "policies", "score"]
    scores = [float(line[3].replace(",", "")) for line in ranking[1:]]
    assert [line[:2] for line in ranking[1:]] == [["1", "bock"], ["2", "amber"], ["2", "celis"]]
    assert scores == sorted(scores, reverse=True)
    assert "equal scores share a rank" in page.text


def test_games_that_differ_have_no_ranks(games: list[Path], tmp_path: Path) -> None:
    """Another seed, other parameters and other seats are named."""
    others = {
        "seed": (GAME, SEATS, 4),
        "preset or parameters": (BeerGame(horizon=7), SEATS, 3),
        "seats": (GAME, {"retailer": "typical"}, 3),
    }
    for why, (model, policies, seed) in others.items():
        file = tmp_path / "other.jsonl"
        file.unlink(missing_ok=True)
        play(model, policies, seed, record=file)
        teams = read_teams([games[0], file])
        assert differences(teams) == [why]
        assert ranks(teams) == {}
        page = read(write_debrief([games[0], file]).read_bytes())
        assert f"not ranked, because their games differ in {why}" in page.text


def test_policies_that_know_more_and_cut_records_have_no_rank(
    games: list[Path], tmp_path: Path
) -> None:
    """Both stay in the table, with the reason."""
    play(GAME, dict.fromkeys(SEATS, "constant,quantity=100"), 3, record=tmp_path / "known.jsonl")
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(games[2].read_text().splitlines(keepends=True)[:6]))
    teams = read_teams([games[0], tmp_path / "known.jsonl", cut])
    assert ranks(teams) == {"amber": 1}
    page = read(write_debrief([cut, games[0], tmp_path / "known.jsonl"]).read_bytes())
    assert ["—", "known (rules)"] in [line[:2] for line in table_of(page, "rank")]
    assert "without a result, and so without a rank: cut (the record was cut)" in page.text
    assert "are no rivals and have no rank" in page.text
    assert "This record is not whole" in page.text


def test_a_world_without_a_debriefing_has_its_series_by_unit(tmp_path: Path) -> None:
    """And no second sheet, as nothing is known of costs, questions or hidden facts."""
    play(Diary(), Stride(), 3, record=tmp_path / "walk.jsonl")
    page = read(write_debrief([tmp_path / "walk.jsonl"]).read_bytes())
    assert page.heads == ["What happened: walk"]
    assert [picture.caption for picture in page.pictures] == ["Place", "Gust"]


def test_the_rest_follows_where_it_is_wanted(games: list[Path]) -> None:
    """The sections of a report about the records."""
    page = read(write_debrief(games, full=True).read_bytes())
    assert page.heads[:2] == ["What happened: amber", "What to learn"]
    assert {"Metrics", "Series", "Decisions", "What was played"} <= set(page.heads)


def test_wrong_records_are_one_sentence(games: list[Path], tmp_path: Path) -> None:
    """Of another world, given twice, too many, none, empty, or no record."""
    play(Shop(), Clerk(), record=tmp_path / "shop.jsonl")
    with pytest.raises(UsageError, match=r"shop.jsonl is of .*:Shop and .*amber.jsonl is|of beer"):
        write_debrief([games[0], tmp_path / "shop.jsonl"])
    with pytest.raises(UsageError, match=r"amber.jsonl was given twice"):
        write_debrief([games[0], games[0].parent / "." / games[0].name])
    with pytest.raises(UsageError, match=f"^100 records were given; .* at most {MOST_TEAMS}$"):
        write_debrief([games[0]] * 100)
    with pytest.raises(UsageError, match=r"^no record was given"):
        write_debrief([])
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "words.jsonl").write_text("cash 3\n")
    for name in ("empty", "words"):
        with pytest.raises(BadRecord, match=f"{name}.jsonl: the file is"):
            write_debrief([tmp_path / f"{name}.jsonl"])


def test_a_file_of_another_kind_is_kept(games: list[Path], tmp_path: Path) -> None:
    """Unless the caller forces it."""
    kept = tmp_path / "notes.html"
    kept.write_text("my notes")
    with pytest.raises(UsageError, match="exists and is no report"):
        write_debrief(games, kept)
    assert kept.read_text() == "my notes"
    assert write_debrief(games, kept, force=True) == kept


def test_a_module_that_a_record_names_is_not_imported(games: list[Path]) -> None:
    """The page says what is missing and why, and escapes the texts of a stranger."""
    hostile = "</td><script>alert(1)</script>"
    lines = [json.loads(line) for line in games[0].read_text().splitlines()]
    head = {**lines[0], "model": "this_world:Evil", "preset": hostile, "policies": {"a": hostile}}
    # Cut, so that it needs no digest.
    games[0].write_text("".join(json.dumps(line) + "\n" for line in [head, *lines[1:4]]))
    page = read(write_debrief(games[:1]).read_bytes())
    assert "this_world" not in sys.modules
    assert "--trust allows it" in page.text
    assert "script" not in page.tags
    assert page.fetched == []


def test_two_files_of_one_name_are_told_apart(games: list[Path], tmp_path: Path) -> None:
    """By their folders."""
    other = tmp_path / "more"
    other.mkdir()
    play(GAME, SEATS, 3, record=other / "amber.jsonl")
    teams: list[Team] = read_teams([games[0], other / "amber.jsonl"])
    assert len({team.name for team in teams}) == 2
    assert teams[1].name == "more/amber.jsonl"
