"""Whether a review approves."""

import pytest

from policies.llm.methods.memoryless import approves, feedback_of, praises


@pytest.mark.parametrize(
    ("review", "published", "ours"),
    [
        ('{"is_correct": true, "feedback": ""}', True, True),
        ('{"is_correct": false, "feedback": "looks good"}', False, False),
        ('{"is_valid": true, "feedback": "correct nothing"}', True, True),
        ('{"is_correct": "True"} wrong', True, True),
        ('{"is_correct": "no"} looks good', False, False),
        ('{"is_correct": "perhaps"} looks good', True, True),
        ('noise {"is_correct": true} noise', True, True),
        ("All of it is correct.", True, True),
        ("LOOKS GOOD!", True, True),
        ("No issues found.", True, True),
        ("incorrect", False, False),
        ("incorrect; the correct order is 5", True, False),
        ("This is not correct.", True, False),
        ("The correct order is 5.", True, False),
        ("It looks good, but the sum is off.", True, False),
        ("Too low.", False, False),
        ("", False, False),
    ],
)
def test_a_flag_counts_and_else_a_word(review: str, published: bool, ours: bool) -> None:  # noqa: FBT001
    """As published the word counts even within a complaint."""
    assert approves(review, as_published=True) == published
    assert approves(review) == ours


def test_a_critique_in_free_text_has_no_flag() -> None:
    """Its words count alone, and `is_correct` is none."""
    assert not praises('{"is_correct": true}', as_published=True)
    assert praises("correct", as_published=True)


@pytest.mark.parametrize(
    ("review", "feedback"),
    [('x {"feedback": "too low"}', "too low"), ('{"feedback": 5}', ""), ("too low", "")],
)
def test_feedback_is_that_of_the_verdict(review: str, feedback: str) -> None:
    """Text beside it is none."""
    assert feedback_of(review) == feedback
