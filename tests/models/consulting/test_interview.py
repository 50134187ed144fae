"""The loop of an interview: budget, end token, empty messages, verdicts, books and tables."""

import pytest
from support.interviews import BAKERY, held
from support.series import series_of

from desim import Run
from models.consulting import Consulting, Reply, Verdict
from models.consulting.params import Weights
from models.consulting.processes import STOP
from models.consulting.seats import END

FULL = Verdict(6, 5.5, 7, 8, 6.5)


def texts(run: Run) -> list[str]:
    """The stored dialogue."""
    return [message.text for message in run.state.dialogue]


def test_twelve_messages_are_six_answers_and_end_on_the_candidate() -> None:
    """The budget counts both sides."""
    run = held({"interviewer": []})
    assert run.result().ended == "messages"
    assert run.result().metrics["answers"] == 6
    assert [line.message.role for line in run.state.lines] == ["interviewer", "candidate"] * 6


def test_the_paper_has_twelve_rounds() -> None:
    """Twelve answers, and the mean of the four fields counts."""
    paper = Consulting.preset("paper", cases=(BAKERY,))
    run = held({"interviewer": []}, [FULL], messages=paper.messages, score_of=paper.score_of)
    assert run.result().metrics["answers"] == 12
    assert run.result().score == (6 + 5.5 + 7 + 8) / 4
    assert run.result().metrics["overall"] == 6.5


@pytest.mark.parametrize("given", [f"Bye {END}", f"{END} Bye", f"B{END}ye"])
def test_the_end_token_closes_anywhere_and_is_not_stored(given: str) -> None:
    """What is left of the message is."""
    run = held({"interviewer": ["Hello", given], "candidate": ["Yes"]})
    assert run.result().ended == "closed"
    assert texts(run) == ["Hello", "Yes", "Bye"]


def test_a_candidates_end_token_is_removed_and_ends_nothing() -> None:
    """The interviewer is asked again."""
    run = held({"interviewer": ["a", "b", END], "candidate": [f"stop {END}", "y"]})
    assert texts(run) == ["a", "stop", "b", "y", ""]


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_message_of_the_interviewer_is_a_polite_stop(empty: str) -> None:
    """Even the first one."""
    run = held({"interviewer": [empty]})
    assert texts(run) == [STOP]
    assert run.result().ended == "closed"


def test_the_score_may_be_a_weighted_average() -> None:
    """Of the fields that have a number; beside it there are the two other scores."""
    given = [Verdict(4, 8, 6, 2, 9), Verdict(4, None, 6, 2)]
    weights = Weights(structure=1, quant=2, business_sense=0, communication=1)
    run = held({}, given, judges=2, score_of="weighted", weights=weights).result()
    assert run.score == run.metrics["weighted"] == ((4 + 16 + 2) / 4 + (4 + 2) / 2) / 2
    assert (run.metrics["overall"], run.metrics["mean_of_four"]) == (9, (5 + 4) / 2)
    assert "weighted" not in held({}, given[:1]).result().metrics


def test_a_missing_number_is_left_out_of_its_field_alone() -> None:
    """Of the means over judges too; without any number the score is 0 and the metric empty."""
    some = held({}, [Verdict(4, None, 6, 8), Verdict(2, 5, None, 8)], judges=2).result()
    assert [some.metrics[n] for n in ("structure", "quant", "overall")] == [3, 5, None]
    assert (some.score, some.metrics["unscored"]) == (0, 4)
    assert some.metrics["mean_of_four"] == (6 + 5) / 2
    none = held({}, [Verdict()]).result()
    assert (none.score, none.metrics["mean_of_four"], none.metrics["unscored"]) == (0, None, 5)


def test_judges_are_asked_together_and_score_alone() -> None:
    """At one tick, without each other's verdicts, whoever answers first."""
    digests = set()
    for turn in (1, -1):
        run = Run(Consulting(cases=(BAKERY,), judges=3), 0, seats=["judge", "judge_3", "candidate"])
        while (asked := run.advance())[0].role == "candidate":
            run.answer(asked[0], Reply("Yes"))
        assert [each.role for each in asked] == ["judge", "judge_3"]
        assert asked[0].observation == asked[1].observation
        for each in asked[::turn]:
            run.answer(each, FULL)
        assert run.advance() == []
        assert list(run.state.verdicts) == ["judge", "judge_2", "judge_3"]
        assert run.result().metrics["overall_judge_3"] == 6.5
        digests.add(run.result().ledger_digest)
    assert len(digests) == 1


def test_the_seed_chooses_the_case_unless_one_is_named() -> None:
    """By number, in the order of the ids."""
    model = Consulting()
    ids = [case.id for case in model.loaded_cases]
    assert ids == sorted(ids)
    seeds = range(2 * len(ids))
    chosen = [Run(model, seed, seats=["candidate"]).state.case.id for seed in seeds]
    assert chosen == ids * 2
    assert not model.deterministic
    fixed = Consulting(case=ids[-1])
    assert fixed.deterministic
    assert Run(fixed, 0, seats=["candidate"]).state.case.id == ids[-1]


def test_messages_and_facts_are_balances() -> None:
    """What is left and what was used add up to what was agreed."""
    run = held({"candidate": ["What is the price of an oven?"]}, messages=5)
    state = run.state
    assert state.messages.balances() == {
        "agreed": -5,
        "budget": 0,
        "interviewer": 3,
        "candidate": 2,
    }
    assert state.facts.balances() == {"agreed": -2, "withheld": 1, "released": 1}
    assert state.released == ("oven price",)
    assert state.appointments.balances() == {"agreed": -1, "due": 0, "given": 1}


def test_series_have_one_number_a_round() -> None:
    """A last message of the interviewer is a round too."""
    run = held({"interviewer": ["a b", f"c {END}"], "candidate": ["d e f"]})
    assert series_of(run.model, run.state) == {
        "words_interviewer": [2, 1],
        "words_candidate": [3, 0],
        "facts_released": [0, 0],
        "minute": [0, 0],
    }
