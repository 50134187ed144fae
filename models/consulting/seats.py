"""The seats of an interview: what each observes and says, and the candidate's options."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from attrs import field, frozen
from attrs.validators import optional

from desim import Option
from desim.schema.validators import bounded_number, long_text
from desim.show.column import Column
from models.consulting.case import Case
from models.consulting.rules.words import found

#: The end token: anywhere in an interviewer's message it ends the interview.
END = "<|CASE_INTERVIEW_END|>"

#: The scores of a verdict, in the order in which the paper lists them.
FIELDS = ("structure", "quant", "business_sense", "communication", "overall")


def _score() -> Any:
    return field(default=None, validator=optional(bounded_number))


@frozen
class Say:
    """Say something to the candidate; `<|CASE_INTERVIEW_END|>` in it ends the interview.

    Attributes:
        text: The message, shown to the candidate without the end token. An empty one becomes a
            polite stop, which ends the interview.
    """

    text: str = field(validator=long_text)


@frozen
class Reply:
    """Answer the interviewer.

    Attributes:
        text: The message; may be empty. An end token in it is removed and ends nothing.
    """

    text: str = field(validator=long_text)


@frozen
class Verdict:
    """Judge the candidate; scores are from 0 to 10 and are not clipped.

    Attributes:
        structure: Understanding, clear early structure and adaptation; null: no number was given,
            and the field is left out of the means.
        quant: Asking for, reading and using numbers; null as above.
        business_sense: Drivers, trade-offs, sensible conclusions and risks; null as above.
        communication: Clarity, brevity and interaction; null as above.
        overall: A holistic judgement, which is not the mean of the others; null as above.
        feedback: A few sentences for people.
    """

    #: The rubric's scale (the paper's Table of scores): 0 to 10.
    columns: ClassVar[Mapping[str, Column]] = dict.fromkeys(FIELDS, Column(usual=(0, 10)))

    structure: float | None = _score()
    quant: float | None = _score()
    business_sense: float | None = _score()
    communication: float | None = _score()
    overall: float | None = _score()
    feedback: str = field(default="", validator=long_text)


# -- observations ----------------------------------------------------------------------------------

Speaker = Literal["interviewer", "candidate"]

_MINUTES = {"minutes_left": Column("minutes")}


@frozen
class Message:
    """One message of the dialogue.

    Attributes:
        role: Who said it: interviewer or candidate.
        text: Without the end token.
    """

    role: Speaker
    text: str


@frozen
class CandidateView:
    """The interview as the candidate knows it: what was said, and nothing of the case.

    Attributes:
        case_id: The name of the case; `unknown_case` where it has none.
        last: The interviewer's last message, to be answered now.
        dialogue: All messages so far, the first one first; the last one is `last`.
        minutes_left: Minutes until no more questions are put; null where there is no limit.
    """

    columns: ClassVar[Mapping[str, Column]] = _MINUTES

    case_id: str
    last: str
    dialogue: tuple[Message, ...]
    minutes_left: float | None


@frozen
class InterviewerView:
    """The interview as the interviewer knows it, with the whole case.

    Attributes:
        case: The case; `gated` facts are given on request only, `internal` never.
        dialogue: All messages so far, the first one first; empty on the first turn.
        messages_left: Messages of both sides that may still be sent, this one included.
        answers: Messages of the candidate so far.
        first: Whether this is the first turn, on which the interviewer introduces the case.
        released: Topics of the gated facts that the interviewer has told so far.
        word_limit: Words that a message should have at most.
        minutes_left: Minutes until no more questions are put; null where there is no limit.
    """

    columns: ClassVar[Mapping[str, Column]] = _MINUTES

    case: Case
    dialogue: tuple[Message, ...]
    messages_left: int
    answers: int
    first: bool
    released: tuple[str, ...]
    word_limit: int
    minutes_left: float | None


@frozen
class JudgeView:
    """The ended interview as a judge knows it.

    Attributes:
        case: The case, with its internal part and rubric.
        dialogue: All messages, the first one first, without the end token.
        ended_by_interviewer: Whether the interviewer closed it; otherwise messages or time ran out.
        released: Topics of the gated facts that the interviewer has told.
        word_limit: Words that a message should have at most.
    """

    case: Case
    dialogue: tuple[Message, ...]
    ended_by_interviewer: bool
    released: tuple[str, ...]
    word_limit: int


# -- the candidate's options -----------------------------------------------------------------------

#: In the order in which they are worth asking.
_QUESTIONS = (
    "How large is the market, and how fast does it grow?",
    "What are the price and the unit cost?",
    "Who are the competitors, and what share do they have?",
    "What do customers value most?",
    "What investment is needed, and what are the fixed costs?",
    "What is the capacity, and how well is it used?",
    "Which risks and regulation matter?",
)

_STRUCTURE = (
    "I would look at four things: the market and its customers, competition, revenue and cost, and "
    "the risks."
)

_RECOMMENDATION = (
    "I recommend that the client goes ahead. First, because the market supports it. Second, "
    "because the margin covers the cost. The main risk is competition, which a small start limits."
)


def replies(seen: CandidateView) -> list[Option]:
    """Return what to say, ranked by how well it fits the interviewer's last message."""
    own = {each.text for each in seen.dialogue if each.role == "candidate"}
    is_asked_for = bool(found(["recommendation"], seen.last))
    left = [each for each in _QUESTIONS if each not in own]
    return [
        Option(Reply(_RECOMMENDATION), 10.0 if is_asked_for else 1.0, note="recommend"),
        Option(Reply(_STRUCTURE), 0.0 if _STRUCTURE in own else 9.0, note="give a structure"),
        *(Option(Reply(each), 5.0 - at / 10, note="ask for data") for at, each in enumerate(left)),
        Option(Reply(""), -1.0, note="say nothing"),
    ]
