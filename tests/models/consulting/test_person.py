"""A person takes a case interview: in the terminal, and in the game behind the page."""

from pathlib import Path

from click.testing import CliRunner
from support.interviews import BAKERY

from desim import Episode, play, replay
from desim.cli.main import main
from desim.ui.game import Game
from models.consulting import Consulting, Reply

ANSWERS = (
    "I would look at demand, cost and capacity. What is the price of an oven?",
    "Do you have data on the night shift?",
    "I recommend to buy it. First, because demand is high. Second, because 9,000 is little.",
)


def test_a_person_answers_in_the_terminal(tmp_path: Path) -> None:
    """In their own words, or by an option's number; the interview ends, is scored, and replays."""
    file = tmp_path / "mine.jsonl"
    answers = ["What is the market size?", "What are the price and the unit cost?"]
    lines = [f'reply "{text}"' for text in answers] + ["look dialogue", *["1"] * 4, "ranking"]
    command = ["play", "consulting", "--terminal", "--hints", "--record", str(file)]
    done = CliRunner().invoke(main, command, input="\n".join([*lines, ""]))
    assert done.exit_code == 0, done.output
    assert "Decision 1, candidate" in done.output
    assert "40,000 small vans" in done.output
    assert "The game has ended" in done.output
    assert "framework" in done.output
    hidden = Consulting(case="market_entry").loaded_cases[0].internal
    assert hidden[:40] not in " ".join(done.output.split())
    episode = replay(file)
    assert [step.action["text"] for step in Episode.read(file).steps][:2] == answers
    assert episode.metrics["facts_released"] >= 2


def test_a_person_plays_on_the_page(tmp_path: Path) -> None:
    """The game that the page shows: candidate beside a scripted interviewer and judge."""
    file = tmp_path / "mine.jsonl"
    model = Consulting.preset("timed", cases=(BAKERY,))
    others = {"interviewer": "scripted", "judge": "rubric"}
    with Game(model, 0, file, others=others) as game:
        while game.view.episode is None:
            assert game.view.role == "candidate"
            assert set(game.view.tables) == {"dialogue"}
            text = ANSWERS[min(len(game.view.steps), len(ANSWERS) - 1)]
            game.answer(game.view.turn, {"do": "reply", "text": text})
        mine = game.view.episode
    assert mine.metrics["leaks"] == 0
    assert mine.metrics["minutes"] > 0

    class Same:
        """Says what the person has said."""

        def __init__(self) -> None:
            self.said = 0

        def decide(self, _: object) -> Reply:
            self.said += 1
            return Reply(ANSWERS[min(self.said, len(ANSWERS)) - 1])

    assert play(model, {"candidate": Same(), **others}, 0).ledger_digest == mine.ledger_digest
    assert replay(file).header.policies == {"candidate": "person", **others}
