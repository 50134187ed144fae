"""Labels: what the labelling model reads, and how its three lines are read."""

import pytest
from support.router_items import Asked

from policies.llm.router.labels import (
    CAPABILITIES,
    Label,
    bucket_of,
    candidate_labels,
    labelled,
    read_label,
)

DK, CR = "Domain Knowledge", "Complex Reasoning"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (
            "Capability: Domain Knowledge\nScore: 7\nReasoning: Many labels.",
            (DK, 7, "Many labels."),
        ),
        ("**Capability:** domain knowledge\r\n- Score : 7/10", (DK, 7, "")),
        ("**Difficulty Score**: 4.5\n1. Difficulty_Score: 8", ("", 8, "")),
        ("Score: " + "9" * 400, ("", 10, "")),
        ("Score: hard", ("", None, "")),
        ("Capability: Guessing\nScore: 1\nScore: 2", ("", 2, "")),
        ("Reasoning: see Score: 4", ("", None, "see Score: 4")),
        ("x" * 10**6 + "\nScore: 4", ("", None, "")),
    ],
)
def test_labels_are_read_line_by_line(text: str, label: tuple[str, float | None, str]) -> None:
    """The score is clamped; what cannot be read is empty."""
    assert read_label(text) == Label(*label)


@pytest.mark.parametrize(
    ("score", "bucket"), [(0, "easy"), (3, "easy"), (3.1, "middle"), (6, "middle"), (6.5, "hard")]
)
def test_buckets_end_at_three_and_six(score: float, bucket: str) -> None:
    """Two capabilities have buckets, as published."""
    for capability in CAPABILITIES:
        has_bucket = capability in ("Numerical Calculation", DK)
        assert bucket_of(capability, score) == (bucket if has_bucket else None)
    assert Label(DK, score).bucket == bucket
    assert Label(DK).bucket is None


def test_the_model_reads_task_question_and_the_start_of_the_context() -> None:
    """At temperature 0, and it may not solve the question."""
    model = Asked(lambda _: "Capability: Complex Reasoning\nScore: 5\nReasoning: r")
    assert labelled(model, "TASK", "QUESTION", "c" * 5000) == Label(CR, 5, "r")
    (request,) = model.requests
    assert model.temperatures == [0.0]
    assert all(
        part in request for part in ("TASK", "QUESTION", "c" * 3500, "do not answer", "5000")
    )
    assert "c" * 3501 not in request


def test_the_model_reads_options_program_and_hints() -> None:
    """A program is cut; what an item does not have is left out."""
    model = Asked(lambda _: "")
    tags = "Tags: " + ", ".join(f"Tag{n}" for n in range(30))
    labelled(model, "TASK", "Which? Why?", tags, ["yes", "no"], "p" * 2000)
    labelled(model, "TASK", "Which?", "")
    full, bare = model.requests
    assert '"options": ["yes", "no"]' in full
    assert "p" * 1200 in full
    assert "p" * 1201 not in full
    for hint in ('"options": 2', '"candidate_labels": 30', '"sub_questions": 2'):
        assert hint in full
    assert '"program"' not in bare
    assert '"options": [' not in bare


@pytest.mark.parametrize(
    ("context", "count"),
    [
        ("Sales rose, costs fell.", 0),
        ("Tags: Rent, Lease Cost, Own Use Rights.", 3),
        ("We sell nuts, bolts, and many other small things of steel.", 0),
        ("a, b, c\nTags: A, B, C, D", 4),
        (",,,", 0),
    ],
)
def test_candidate_labels_are_estimated_by_the_longest_list(context: str, count: int) -> None:
    """A list is a line of short entries."""
    assert candidate_labels(context) == count
