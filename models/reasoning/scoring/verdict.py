"""The verdict of a scorer, and the choices between the paper's rules and the code's."""

from attrs import field, frozen
from attrs.validators import in_


@frozen(kw_only=True)
class Rules:
    """Choices between the paper and the published code: reference SPEC section 8.

    Attributes:
        near_zero: "code" or "paper": the tolerance where the right number is near zero.
        letters: "strict" or "pattern": how the letter of a multiple choice is found.
        spans: "numbers" or "text": the part of a quantity that is compared.
    """

    near_zero: str = field(default="code", validator=in_(("code", "paper")))
    letters: str = field(default="strict", validator=in_(("strict", "pattern")))
    spans: str = field(default="numbers", validator=in_(("numbers", "text")))


@frozen
class Verdict:
    """The verdict on an answer, and the values compared.

    Attributes:
        correct: Whether the answer is right as a whole.
        predicted: The value read from the answer: a number, a label, or None if it has none.
        truth: The value compared with *predicted*.
        matched: Labels that match, of a tagging; else 1 or 0.
        labels: Labels that are right, of a tagging; else 1.
    """

    correct: bool
    predicted: float | str | None
    truth: float | str | None
    matched: int
    labels: int = 1

    @classmethod
    def single(
        cls, *, correct: bool, predicted: float | str | None, truth: float | str | None
    ) -> "Verdict":
        """Return the verdict on an answer that is right or wrong as a whole."""
        return cls(correct, predicted, truth, int(correct))
