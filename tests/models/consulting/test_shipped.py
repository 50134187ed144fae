"""The shipped cases under the scripted roles: an end, no leak, and facts that are kept apart."""

from itertools import pairwise

import pytest

from desim import catalog, play
from desim.catalog.policy_spec import read_policies
from models.consulting import Case, Consulting
from models.consulting.case_file import shipped
from models.consulting.drawn import case, templates
from models.consulting.rules.interviewer import topics

#: Further cases, of each template one.
DRAWN = tuple(case(each, 0) for each in templates())

CASES = pytest.mark.parametrize("case", shipped(), ids=lambda case: case.id)
EVERY = pytest.mark.parametrize("case", [*shipped(), *DRAWN], ids=lambda case: case.id)
CANDIDATES = catalog.baselines(Consulting())


@CASES
@pytest.mark.parametrize("spec", CANDIDATES)
@pytest.mark.parametrize(
    "preset", [name for name, of in Consulting.presets.items() if "drawn" not in of]
)
def test_scripted_roles_play_every_case_to_an_end(case: Case, spec: str, preset: str) -> None:
    """Without a leak, and without a fact that nobody asked for."""
    model = Consulting.preset(preset, case=case.id)
    for seed in range(3):
        result = play(model, read_policies([spec]), seed).result
        assert result is not None
        assert result.ended in ("closed", "messages", "time")
        assert result.metrics["case"] == case.id
        assert result.metrics["leaks"] == result.metrics["facts_unasked"] == 0
        assert result.metrics["messages_over_limit"] == 0
        assert 0 <= result.score <= 10


@EVERY
def test_a_question_about_a_topic_matches_it_first(case: Case) -> None:
    """So every fact can be had."""
    for fact in case.gated:
        assert topics(case, f"What do you know about {fact.topic}?")[0] == fact


def test_better_candidates_score_better() -> None:
    """On average over the cases: silent, then hungry for data, then with a framework."""
    means = []
    for spec in ("silent", "data_hungry", "framework"):
        scores = [play(Consulting(), {"candidate": spec}, seed).score for seed in range(6)]
        means.append(sum(scores) / len(scores))
    assert all(low + 1 < high for low, high in pairwise(means)), means
