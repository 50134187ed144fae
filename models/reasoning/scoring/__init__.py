"""Scoring: pure functions from an item and a text to a grade; programs run in the sandbox alone."""

from attrs import field, frozen


@frozen
class Graded:
    """The grade of an answer.

    Attributes:
        extracted: The answer that was scored.
        correct: Whether it is right as a whole; None if the scorer raised an exception on it.
        predicted: The value read from it: a number, a label, or None if it has none.
        truth: The value compared with *predicted*.
        matched: Labels that match, of a tagging; else 1 or 0.
        labels: Labels that are right, of a tagging; else 1.
        error: The kind of the exception, such as ValueError; else empty.
    """

    extracted: str
    correct: bool | None
    predicted: float | str | None = None
    truth: float | str | None = None
    matched: int = field()
    labels: int = 1
    error: str = ""

    @matched.default
    def _whole(self) -> int:
        return int(bool(self.correct))
