"""A case of an interview: its open, gated and internal parts."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from attrs import Attribute, field, frozen
from attrs.validators import deep_iterable, ge, in_, instance_of, le, max_len, min_len, optional

from desim.schema.validators import bounded_number, finite, long_text, short_text
from desim.short_repr import short_repr

Length = Literal["short", "medium", "long"]

#: Candidate answers of an interview, the fewest and the most, by the length of its case.
PACES: dict[Length, tuple[int, int]] = {"short": (3, 4), "medium": (5, 7), "long": (7, 10)}

MOST_FACTS = 100  # of a case; also the most entries of each list of a rubric


def _writable(_: object, attribute: "Attribute[Any]", value: str) -> None:
    # JSON can hold half a surrogate pair; no observation and no record could be written with it.
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{attribute.name}={short_repr(value)} was given; it has no UTF-8 form"
        ) from None


def _some(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if not value.strip():
        raise ValueError(f"{attribute.name}={short_repr(value)} was given; it is not empty")


_text: list[Any] = [long_text, _writable]
_name: list[Any] = [short_text, _writable]
_phrase: list[Any] = [*_name, _some]


def _nested(given: Iterable[Any]) -> Any:
    return tuple(map(tuple, given))


def _listed(each: Any, converter: Any = tuple) -> Any:
    limits: list[Any] = [max_len(MOST_FACTS), deep_iterable(each)]
    return field(default=(), converter=converter, validator=limits)


def repeated(names: Iterable[str]) -> str | None:
    """Return the first of the names that comes twice, if one does."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


@frozen
class Fact:
    """A piece of information that the candidate receives only if a question is aimed at it.

    Attributes:
        topic: The topic of questions that release it, in a few words: "market size".
        fact: The interviewer's answer.
    """

    topic: str = field(validator=_phrase)
    fact: str = field(validator=[*_text, _some])


@frozen
class Figure:
    """A number that a good answer works out from the facts.

    Attributes:
        name: A description for people: "profit a year, in millions".
        value: The number; 12 million may be 12000000, and is then also found as "12 million".
        tolerance: The relative error that counts as right, 0 to 1.
    """

    name: str = field(validator=_phrase)
    value: float = field(validator=bounded_number)
    tolerance: float = field(default=0.05, validator=[finite, ge(0), le(1)])


@frozen
class Rubric:
    """What the scripted judge counts; words of a phrase follow each other, in any case and ending.

    Attributes:
        numbers: Figures to be worked out; none may be stated in the case's open text or facts.
        drivers: Grounds of the recommendation; of the phrases of a driver one suffices.
        recommendation: Phrases of a right recommendation, of which one suffices: "should enter".
        against: Phrases of a wrong one: "should not enter".
        structure: Words of a good structure: "demand", "competition", "cost".
    """

    numbers: tuple[Figure, ...] = _listed(instance_of(Figure))
    drivers: tuple[tuple[str, ...], ...] = _listed(
        [min_len(1), max_len(MOST_FACTS), deep_iterable(_phrase)], _nested
    )
    recommendation: tuple[str, ...] = _listed(_phrase)
    against: tuple[str, ...] = _listed(_phrase)
    structure: tuple[str, ...] = _listed(_phrase)


@frozen(kw_only=True)
class Case:
    """A case.

    Attributes:
        id: Its name among the cases; empty for a published case without one.
        title: For people; the candidate does not see it.
        length: How many answers a candidate should give: short 3 to 4, medium 5 to 7, long 7 to 10.
        opening: The problem statement with which the interviewer begins.
        open: Background that the interviewer may tell at any time.
        gated: Facts that are given one at a time, each only for a question about its topic.
        internal: Analysis, solution and notes, which the candidate never sees.
        document: The whole case as one text, if it was published so; empty: the parts together.
        rubric: Rubric of the scripted judge; without one it counts the gated facts alone.
    """

    id: str = field(default="", validator=_name)
    title: str = field(default="", validator=_name)
    length: Length = field(default="medium", validator=in_(tuple(PACES)))
    opening: str = field(default="", validator=_text)
    open: str = field(default="", validator=_text)
    gated: tuple[Fact, ...] = _listed(instance_of(Fact))
    internal: str = field(default="", validator=_text)
    document: str = field(default="", validator=_text)
    rubric: Rubric | None = field(default=None, validator=optional(instance_of(Rubric)))

    def __attrs_post_init__(self) -> None:
        if not (self.opening or self.open or self.document):
            raise ValueError(
                f"case {short_repr(self.id)} needs an opening, an open text or a document"
            )
        if twice := repeated(fact.topic for fact in self.gated):
            raise ValueError(f"case {short_repr(self.id)} has the topic {short_repr(twice)} twice")

    @property
    def text(self) -> str:
        """The whole case as one text, as the published interviewer and judge receive it."""
        facts = "\n".join(f"- {each.topic}: {each.fact}" for each in self.gated)
        parts = {
            "": self.opening,
            "Background": self.open,
            "Information provided if asked": facts,
            "Internal: analysis and solution, never shown": self.internal,
        }
        written = (f"{head}\n{body}".strip() for head, body in parts.items() if body)
        return self.document or "\n\n".join(written)

    @property
    def public(self) -> str:
        """The text that the interviewer may reveal without a question."""
        return f"{self.opening}\n{self.open}"

    @property
    def pace(self) -> tuple[int, int]:
        """The fewest and the most answers that a candidate should give."""
        return PACES[self.length]
