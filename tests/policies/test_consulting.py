"""Scripted roles of case interviews: how candidates rank, what they read, who may sit where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim import play
from desim.errors import UsageError
from models.consulting import CandidateView, Case, Consulting, Fact
from models.consulting.seats import Message
from policies.heuristics.consulting import Framework
from policies.heuristics.consulting.problems import GENERAL, PROBLEMS, problem_in
from policies.heuristics.consulting.quantities import quantities

CASES = range(len(Consulting().loaded_cases))


@pytest.mark.parametrize("preset", [n for n, of in Consulting.presets.items() if "drawn" not in of])
@pytest.mark.parametrize("seed", CASES)
def test_candidates_rank_as_they_should(preset: str, seed: int) -> None:
    """A framework beats asking for everything, which beats silence; nothing internal is said."""
    played = [
        play(Consulting.preset(preset), candidate, seed)
        for candidate in ("framework", "data_hungry", "silent")
    ]
    scores = [episode.score for episode in played]
    assert scores == sorted(set(scores), reverse=True)
    assert len(scores) == 3
    assert [episode.metrics["leaks"] for episode in played] == [0, 0, 0]


def test_scripts_and_the_models_rules_are_one() -> None:
    """An empty seat and a scripted one give the same interview and the same books."""
    for seed in CASES:
        scripted, empty = (play("consulting", who, seed) for who in ("scripted_seats", "framework"))
        assert scripted.ledger_digest == empty.ledger_digest


def test_a_framework_works_out_the_numbers() -> None:
    """All but those of one fact that there is no time to ask for."""
    missed = {}
    for seed in CASES:
        model = Consulting()
        case = model.loaded_cases[model.chosen(seed)]
        episode = play(model, "framework", seed)
        said = " ".join(step.action.text for step in episode.steps)
        assert case.rubric is not None
        figures = [f"{figure.value:,.10g}" for figure in case.rubric.numbers]
        missed[case.id] = [each for each in figures if f" {each}" not in said]
    assert missed == {name: [] for name in missed} | {"profitability": ["1,200,000"]}


@pytest.mark.parametrize(
    ("text", "kind", "numbers"),
    [
        ("Each of six doors takes 500 parcels.", "counts", (6.0, 500.0)),
        (
            "1.2 million crowns once and then 350,000 crowns a year.",
            "money",
            (1.2e6, 3.5e5),
        ),
        ("We pay €5 or $ 7.", "money", (5.0, 7.0)),
        ("30% of them, 4 % of those, 2 percent of all.", "percents", (0.3, 0.04, 0.02)),
        ("Four years; 52 weeks a year.", "years", (4.0,)),
        ("One sale in five, a quarter of it, half of that.", "parts", (0.2, 0.25, 0.5)),
        ("For half a year, from its third year on, a year and a half.", "parts", ()),
        ("Twice a week.", "counts", (2.0,)),
        ("One in zero of them, one in 0 of these.", "parts", ()),
        ("Nothing is known.", "counts", ()),
    ],
)
def test_numbers_of_a_message(text: str, kind: str, numbers: tuple[float, ...]) -> None:
    """Sorted by what stands beside them."""
    assert getattr(quantities(text), kind) == pytest.approx(numbers)


@given(st.lists(st.text(alphabet=st.sampled_from("0123456789 ,.%€ainoneyershlfm"))))
def test_a_framework_answers_whatever_is_said(texts: list[str]) -> None:
    """Also where numbers are missing, zero or absurd: results that need them are left out."""
    for problem in PROBLEMS:
        answers = {
            key: quantities(text) for key, text in zip(problem.questions, texts, strict=False)
        }
        assert all(isinstance(each, str) for each in problem.results(answers))


def test_a_problem_that_is_none_of_the_kinds() -> None:
    """It gets a general structure, questions and a cautious recommendation."""
    assert problem_in("Hello there.") is GENERAL
    dialogue: list[Message] = [Message("interviewer", "Hello there.")]
    said = []
    for _ in range(8):
        view = CandidateView("x", dialogue[-1].text, tuple(dialogue), None)
        said.append(Framework().decide(view).text)
        dialogue += [Message("candidate", said[-1]), Message("interviewer", "I see.")]
    assert said[0].startswith("I would look at")
    assert [text.endswith("?") for text in said[:6]] == [True] * 5 + [False]
    assert said[5].startswith("I recommend")


def test_a_stricter_judge_scores_lower() -> None:
    """The share that was found counts for less."""
    scores = [
        play("consulting", {"candidate": "framework", "judge": f"rubric,strictness={n}"}, 0).score
        for n in (0.5, 1, 2)
    ]
    assert scores == sorted(set(scores), reverse=True)


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ("scripted", "'scripted' plays 'interviewer'; 'candidate' was given"),
        ({"candidate": "silent", "interviewer": "rubric"}, "'rubric' plays 'judge'"),
        ({"candidate": "silent", "judge": "rubric,strictness=0"}, "strictness"),
    ],
)
def test_a_policy_at_the_wrong_seat(policies: object, why: str) -> None:
    """One sentence, before anything is played."""
    with pytest.raises(UsageError, match=why):
        play("consulting", policies)  # type: ignore[arg-type]


def test_a_case_of_ones_own_without_a_rubric() -> None:
    """The candidates play it too, and the interviewer tells what it holds."""
    facts = (Fact("market size", "It is 7,000 units."), Fact("price", "It is 3 euros."))
    case = Case(id="own", opening="May we enter?", gated=facts, internal="No, it is too small.")
    episode = play(Consulting(cases=(case,)), "framework", 0)
    assert episode.metrics["facts_released"] == 2
    assert episode.score > play(Consulting(cases=(case,)), "silent", 0).score
