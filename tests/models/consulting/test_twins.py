"""The candidate never sees the case: twins that differ only in hidden parts look the same."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.cases import first_difference
from support.interviews import BAKERY

from desim import Run, catalog
from models.consulting import CandidateView, Case, Consulting, Fact, Reply
from models.consulting.case import Figure, Rubric

#: The same case with other facts, another analysis and a rubric.
TWIN = evolve(
    BAKERY,
    title="Something else",
    gated=(
        Fact("oven price", "Leasing would be 70 crowns weekly, insurance on top."),
        Fact("night shift", "Neighbours complained, so noise after midnight is forbidden."),
    ),
    internal="Do not expand: nothing in this suggests that anybody wants additional loaves.",
    rubric=Rubric(numbers=(Figure("cost", 3640),), recommendation=("should lease",)),
)

ANSWERS = (
    "",
    "I do not know.",
    "What is the price of the oven?",
    "Do you have data on the night shift and the oven price? And the costs? And the risks?",
    "How many customers are there?",
    "I would look at demand, at cost and at risk.",
    "I recommend to buy it. First, because demand is high. Second, since 9,000 is little.",
)


def observations(case: Case, answers: list[str], preset: str) -> list[tuple[CandidateView, int]]:
    """What the candidate observed, each with the number of facts told before."""
    run = Run(Consulting.preset(preset, cases=(case,)), 0, seats=["candidate"])
    seen: list[tuple[CandidateView, int]] = []
    while decisions := run.advance():
        seen.append((decisions[0].observation, len(run.state.tellings)))
        run.answer(decisions[0], Reply(answers[len(seen) % len(answers)]))
    return seen


@given(
    answers=st.lists(st.sampled_from(ANSWERS) | st.text(max_size=60), min_size=1, max_size=8),
    preset=st.sampled_from(("published", "paper", "timed")),
)
def test_twins_look_the_same_until_a_fact_is_told(answers: list[str], preset: str) -> None:
    """Whatever the candidate says."""
    mine, twins = (observations(case, answers, preset) for case in (BAKERY, TWIN))
    # Of several facts the first makes the difference; before it both have the same observations.
    for (seen, told), (other, also_told) in zip(mine, twins, strict=False):
        if told or also_told:
            assert told == also_told
            return
        assert seen == other
    assert len(mine) == len(twins)


def test_twins_differ_once_a_fact_is_told() -> None:
    """Otherwise the test above would show nothing."""
    answers = ["", "What is the price of the oven?"]
    mine, twins = (observations(case, answers, "published") for case in (BAKERY, TWIN))
    assert mine[0] == twins[0]
    assert mine[1][0] != twins[1][0]


@pytest.mark.parametrize("spec", catalog.baselines(Consulting()))
def test_baselines_read_nothing_of_the_case(spec: str) -> None:
    """Seated at a twin they give the same answers to the same observations."""
    for preset in (name for name, of in Consulting.presets.items() if "drawn" not in of):
        mine, twins = (Consulting.preset(preset, cases=(case,)) for case in (BAKERY, TWIN))
        assert first_difference(mine, spec, twins, other=0) == ""
