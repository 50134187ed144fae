"""Labels: what the labelling model reads, and how its three lines are read."""

import pytest
from support.router_items import Asked

from policies.llm.router.labels import CAPABILITIES, Label, Labeller, bucket_of, read_label

DK, CR = "Domain Knowledge", "Complex Reasoning"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (
            "Capability: Domain Knowledge\nScore: 7\nReasoning: Many labels.",
            (DK, 7, "Many labels."),
        ),
        ("**Capability:** domain knowledge\r\n- Score : 7/10", (DK, 7, "")),
        ("Capability:\nScore: 3", ("", 3, "")),
        ("Score: -2", ("", 0, "")),
        ("Score: 99.5", ("", 10, "")),
        ("Score: " + "9" * 400, ("", 10, "")),
        ("Score: hard", ("", None, "")),
        ("Capability: Guessing\nScore: 1\nScore: 2", ("", 2, "")),
        ("Reasoning: see Score: 4", ("", None, "see Score: 4")),
        ("", ("", None, "")),
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
    """Two capabilities have buckets as published; the others only on request."""
    for capability in CAPABILITIES:
        has_bucket = capability in ("Numerical Calculation", DK)
        assert bucket_of(capability, score) == (bucket if has_bucket else None)
        assert bucket_of(capability, score, every_capability=True) == bucket
    assert Label(CR, score).bucket(every_capability=True) == bucket
    assert Label(DK).bucket() is None


def test_the_model_reads_task_question_and_the_start_of_the_context() -> None:
    """At temperature 0, and it may not solve the question."""
    model = Asked(lambda _: "Capability: Complex Reasoning\nScore: 5\nReasoning: r")
    assert Labeller(model).label("TASK", "QUESTION", "c" * 5000) == Label(CR, 5, "r")
    (request,) = model.requests
    assert model.temperatures == [0.0]
    assert all(
        part in request for part in ("TASK", "QUESTION", "c" * 3500, "do not answer", "5000")
    )
    assert "c" * 3501 not in request
