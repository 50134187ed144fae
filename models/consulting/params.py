"""The parameters of a case interview and its presets."""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import Attribute, astuple, field, frozen
from attrs.validators import ge, in_, instance_of, le

from desim.core.roles import Thinking
from desim.errors import possible
from desim.schema.validators import finite, whole
from desim.short_repr import short_repr
from models.consulting import case_file
from models.consulting import drawn as drawn_cases
from models.consulting.case import Case


def _speed(_: object, attribute: "Attribute[Any]", value: float) -> None:
    # A slowest speed of 1 keeps every date of an interview inside the calendar.
    if value and not 1 <= value <= 10_000:  # noqa: PLR2004 (the sentence states it)
        raise ValueError(
            f"{attribute.name}={value} was given; it is 0 for no duration, or 1 to 10,000 "
            "words a minute"
        )


@frozen(kw_only=True)
class Weights:
    """Weights of a verdict's fields, at least 0; those of our judge, as the paper states none."""

    structure: float = field(default=0.25, validator=[finite, ge(0)])
    quant: float = field(default=0.3, validator=[finite, ge(0)])
    business_sense: float = field(default=0.3, validator=[finite, ge(0)])
    communication: float = field(default=0.15, validator=[finite, ge(0)])

    def __attrs_post_init__(self) -> None:
        if not any(astuple(self)):
            raise ValueError("weights of 0 alone were given; at least one is above 0")


@frozen(kw_only=True)
class ConsultingParams:
    """A case interview: an interviewer leads a candidate through a case, and judges score it.

    Attributes:
        cases: A folder of case files, read when the model is built, or the cases themselves; empty:
            those that ship.
        case: The id of the case to play; empty: the one whose number, in the order of the ids (of
            cases that are given themselves, in theirs), is the remainder of the seed by the number
            of cases.
        drawn: Instead of `cases` 200 that are generated from templates: "tuning" or "report", which
            share none; empty: none.
        messages: Messages over both sides, 1 to 200; with an even number the candidate may have the
            last one.
        minutes: Minutes after which no further message is requested, 0 to 1,440; 0: no limit.
        speaking_speed: Words a minute at which a message is given; 0: at once.
        reading_speed: Words a minute at which the other side takes it in before it thinks of an
            answer; 0: at once.
        judges: Judges who score the dialogue, each without knowing of the others, 1 to 9.
        word_limit: Words that a message should have at most; longer ones are counted, not cut.
        score_of: What a judge's score of the candidate is: its "overall" as in the code, the
            "mean_of_four" other fields as in the paper's main text, or their "weighted" average as
            in its appendix A.1.
        weights: Those of the weighted average.
        thinking: Seconds that the messages of players take, before they are spoken.

    Source: reference SPEC section 4 (`published`) and 8 (`paper`); durations, `timed`, `drawn` and
    `held_out` are ours.
    """

    cases: tuple[Case, ...] | str = field(default="", converter=case_file.read)
    case: str = field(default="", validator=instance_of(str))
    drawn: str = field(default="", validator=in_(("", *drawn_cases.HALVES)))
    messages: int = field(default=12, validator=[whole, ge(1), le(200)])
    minutes: int = field(default=0, validator=[whole, ge(0), le(1_440)])
    speaking_speed: float = field(default=0.0, validator=[finite, _speed])
    reading_speed: float = field(default=0.0, validator=[finite, _speed])
    judges: int = field(default=1, validator=[whole, ge(1), le(9)])
    word_limit: int = field(default=500, validator=[whole, ge(1), le(100_000)])
    score_of: str = field(default="overall", validator=in_(("overall", "mean_of_four", "weighted")))
    weights: Weights = field(factory=Weights, validator=instance_of(Weights))
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: Changes of parameters by preset; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {},
        "paper": {"messages": 24, "score_of": "mean_of_four"},
        "timed": {"messages": 60, "minutes": 30, "speaking_speed": 150.0, "reading_speed": 240.0},
        "drawn": {"drawn": "tuning"},
        "held_out": {"drawn": "report"},
    }

    def __attrs_post_init__(self) -> None:
        if self.drawn and self.cases:
            raise ValueError("cases and drawn were given; give one of the two")
        if self.case and self.case not in (ids := [each.id for each in self.loaded_cases]):
            near = possible(self.case, filter(None, ids))
            raise ValueError(f"case={short_repr(self.case)} was given; {near}")

    @property
    def loaded_cases(self) -> tuple[Case, ...]:
        """The cases from which the seed chooses."""
        if self.drawn:
            return drawn_cases.cases(self.drawn)
        # The declared type of `cases` includes text, so that the command line accepts a folder.
        return case_file.shipped() if isinstance(self.cases, str) else self.cases

    def chosen(self, seed: int) -> int:
        """Return the number, from 0, of the case that is played with a seed."""
        if self.case:
            return [each.id for each in self.loaded_cases].index(self.case)
        return seed % (drawn_cases.CASES if self.drawn else len(self.loaded_cases))

    def cluster(self, seed: int) -> str:
        """Return the number of the case that is played with a seed, as text."""
        return str(self.chosen(seed))

    @property
    def judge_roles(self) -> tuple[str, ...]:
        """The roles of the judges: judge, judge_2, judge_3, ..."""
        return ("judge", *(f"judge_{number}" for number in range(2, self.judges + 1)))

    @property
    def deterministic(self) -> bool:
        """Whether there is one case to choose; the seed does nothing else."""
        return bool(self.case) or (not self.drawn and len(self.loaded_cases) == 1)
