"""The rules of interviewer and judge, and the words with which they work."""

import pytest
from attrs import evolve
from support.interviews import BAKERY, held

from models.consulting.case import Case, Fact, Figure, Rubric
from models.consulting.rules import interviewer, judge
from models.consulting.rules.interviewer import told, topics
from models.consulting.rules.judge import Claims
from models.consulting.rules.words import numbers, recommends, words
from models.consulting.seats import END, InterviewerView, JudgeView, Message

GOOD = (
    "I recommend to buy the oven. First, it costs 9,000 crowns, which is paid back in 3 years. "
    "Second, demand is there."
)

# -- words -----------------------------------------------------------------------------------------


def test_numbers_are_read_as_written_and_as_meant() -> None:
    """Thousands, percent and millions."""
    assert numbers("12,000 bikes, 30% of 1.5 million; 7k") == [12000, 30, 0.3, 1.5, 1.5e6, 7, 7000]
    assert numbers("no number, 5 months") == [5]
    assert words("12,000 Bikes!") == ["12000", "bikes"]


# -- facts -----------------------------------------------------------------------------------------


def test_a_question_matches_topics_by_half_of_their_words() -> None:
    """The best match first, then the order of the case."""
    case = Case(
        opening="o",
        gated=(Fact("market size", "1"), Fact("market growth", "2"), Fact("unit cost", "3")),
    )
    asked = "How fast is the growth of the markets?"
    assert [each.topic for each in topics(case, asked)] == ["market growth", "market size"]
    assert topics(case, "What is the weather like?") == ()


def test_a_fact_is_told_in_other_words_too() -> None:
    """By the words and numbers that are its own; what anybody could say tells nothing."""
    assert [f.topic for f in told(BAKERY, "They charge 9000 crowns, delivery included.")] == [
        "oven price"
    ]
    assert told(BAKERY, "Have you thought about the oven price or a night shift?") == []
    assert told(BAKERY, BAKERY.opening) == []


# -- interviewer -----------------------------------------------------------------------------------


def said(*answers: str, left: int = 8, case: Case = BAKERY, **changes: object) -> str:
    """What the interviewer says after these answers, each of which followed a "Go on"."""
    dialogue = [
        Message(role, text)
        for answer in answers
        for role, text in (("interviewer", "Go on"), ("candidate", answer))
    ]
    view = InterviewerView(
        case=case,
        dialogue=tuple(dialogue),
        messages_left=left,
        answers=len(answers),
        first=not answers,
        released=(),
        word_limit=500,
        minutes_left=None,
    )
    return interviewer.message(evolve(view, **changes)).text


def test_the_first_message_sets_the_scene_and_asks_for_a_structure() -> None:
    """In three sentences of the opening at most; it never ends the interview."""
    case = evolve(BAKERY, opening="One. Two. Three. Four.")
    assert said(case=case) == f"One. Two. Three. {interviewer.BEGIN}"


def test_one_fact_is_told_for_a_question() -> None:
    """Even if two were asked for; what the answer merely mentions asks for nothing."""
    told = said("What is the price of the oven and what of the night shift?")
    assert (BAKERY.gated[0].fact in told) + (BAKERY.gated[1].fact in told) == 1
    assert BAKERY.gated[0].fact not in said("The oven price is what matters most to me here.")
    assert BAKERY.gated[0].fact in said("Please tell me the price of the oven.")


def test_a_candidate_hungry_for_data_sums_up_first() -> None:
    """Once; then one fact is told."""
    hungry = "The oven price? The night shift? The costs?"
    assert said(hungry) == interviewer.SUMMARISE
    dialogue = (
        Message("interviewer", interviewer.SUMMARISE),
        Message("candidate", hungry),
    )
    assert BAKERY.gated[0].fact in said(hungry, dialogue=dialogue)


def test_the_interview_closes_on_a_supported_recommendation_at_its_pace() -> None:
    """Three answers for a short case; with the token last and no question."""
    closing = said("a", "b", GOOD)
    assert closing.endswith(END)
    assert "?" not in closing
    assert said(GOOD) == interviewer.PROBE
    assert said("a", "b", "I recommend it.") == interviewer.RECOMMEND


def test_near_the_end_the_recommendation_is_asked_for() -> None:
    """By the budget, by the time, or by the pace; without one the interview is not closed."""
    answer = "I would rather look at demand some more."
    assert said(answer, left=4) == interviewer.RECOMMEND
    assert said(answer, minutes_left=2.0) == interviewer.RECOMMEND
    assert said("a", "b", answer) == interviewer.RECOMMEND
    assert said(*[answer] * 9, left=2) == interviewer.RECOMMEND
    assert END in said(GOOD, left=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD, True),
        ("My recommendation: buy.", True),
        ("What would you recommend?", False),
        ("Before I recommend anything I need the price.", False),
        ("We should look at the market.", False),
    ],
)
def test_a_recommendation_is_a_statement(text: str, expected: bool) -> None:  # noqa: FBT001
    """Neither a question nor an announcement."""
    assert recommends(text) is expected


# -- judge -----------------------------------------------------------------------------------------

RUBRIC = Rubric(
    numbers=(Figure("payback, paid back in years", 3, 0.1), Figure("loss", -2_500_000, 0.02)),
    drivers=(("demand",), ("price", "cost")),
    recommendation=("buy the oven",),
    against=("not buy",),
    structure=("demand", "cost"),
)


def judged(*answers: str, rubric: Rubric | None = RUBRIC, released: int = 2) -> judge.Findings:
    """Return the judge's findings in these answers, after the price of the oven was told."""
    price = Message("interviewer", BAKERY.gated[0].fact)
    dialogue = [price, *(Message("candidate", each) for each in answers)]
    told = tuple(fact.topic for fact in BAKERY.gated)[:released]
    case = evolve(BAKERY, rubric=rubric)
    return judge.findings(JudgeView(case, tuple(dialogue), False, told, 500))  # noqa: FBT003


def test_a_good_answer_has_everything() -> None:
    """Structure, facts, numbers, drivers, recommendation and brevity."""
    answer = f"Demand and cost matter. The loss is 2.5 million. {GOOD} " + "And so on. " * 10
    stated = Claims(frozenset(("payback, paid back in years", "loss")), 1, 0, 0)
    assert judged(answer) == judge.Findings(
        1, 1, 1, 1, 1, 1, speaks=True, has_ground=True, claims=stated
    )


def test_numbers_and_recommendation_are_checked() -> None:
    """Half of the numbers; a wrong recommendation is worth nothing, an unknown one half."""
    assert judged(GOOD).numbers == 0.5
    assert judged("I recommend that you do not buy the oven.").recommendation == 0
    assert judged("I recommend to wait and see.").recommendation == 0.5
    assert judged(GOOD, released=1).asked == 0.5


def test_a_number_counts_with_what_it_is_said_of() -> None:
    """The right number of a sentence that names no figure is without ground."""
    assert judged("It is 3, I recommend to buy the oven.").claims == Claims(frozenset(), 0, 0, 1)
    wrong = judged("The oven is paid back in 7 years.").claims
    assert wrong == Claims(frozenset(), 0, 1, 0)


def test_wrong_and_unfounded_numbers_take_figures_away() -> None:
    """A wrong number costs half a figure, so does each unfounded one beyond the figures' number."""
    right = "The loss is 2.5 million. It is paid back in 3 years. "
    assert judged(right).numbers == 1
    assert judged(right + "It is paid back in 7 years.").numbers == 0.75
    assert judged(right + "Say 71, 72.").numbers == 1
    assert judged(right + "Say 71, 72, 73, 74.").numbers == 0.5


def test_a_list_of_words_is_no_structure() -> None:
    """Up to twelve branches are a structure; a list of twice as many counts nothing."""
    assert judged("I would look at demand and cost, then at price and risk.").structure == 1
    many = ", ".join((*judge.STRUCTURE, *judge.OTHERS))
    assert judged(f"I would look at {many}.").structure == 0


def test_drivers_are_grounds_of_the_recommendation() -> None:
    """They count in six sentences around it, one driver a sentence."""
    assert judged("Demand. Cost. I recommend to wait.").drivers == 1
    assert judged("Demand and cost. I recommend to wait.").drivers == 0.5
    assert judged("Demand. Cost.").drivers == 0
    assert judged("Demand. " + "So. " * 6 + "I recommend to wait.").drivers == 0


def test_long_answers_and_silence_cost_points() -> None:
    """From 150 words on average, down to nothing at the limit."""
    assert [judged("word " * n).brevity for n in (150, 325, 500)] == [1, 0.5, 0]
    assert judged("word", "").brevity == 0.5
    assert judged("", "").brevity == judged().brevity == 0


def test_who_never_recommends_gets_three_at_most() -> None:
    """Reference SPEC section 4: 0 to 3 when the candidate hardly speaks or never recommends."""
    long = "Demand and cost matter. The loss is 2.5 million and it is paid back in 3 years. " * 5
    assert not judged(long).speaks
    for answers in ([long] * 5, ["I recommend it."] * 3, [""] * 6):
        result = held({"candidate": answers, "interviewer": []}).result()
        assert 0 <= result.score <= 3
        assert all(0 <= result.metrics[name] <= 10 for name in ("structure", "quant"))
