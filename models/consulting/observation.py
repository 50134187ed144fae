"""Observations of the roles: the dialogue, and for interviewer and judge the case as well."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from attrs import frozen

from desim.show.column import Column
from models.consulting.case import Case

Speaker = Literal["interviewer", "candidate"]


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

    columns: ClassVar[Mapping[str, Column]] = {"minutes_left": Column("minutes")}

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

    columns: ClassVar[Mapping[str, Column]] = {"minutes_left": Column("minutes")}

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
