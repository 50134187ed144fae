"""The case interview: an interviewer, a candidate who never sees the case, and judges."""

from models.consulting.case import Case, Fact, Figure, Rubric
from models.consulting.model import Consulting
from models.consulting.seats import (
    CandidateView,
    InterviewerView,
    JudgeView,
    Message,
    Reply,
    Say,
    Verdict,
)

__all__ = [
    "CandidateView",
    "Case",
    "Consulting",
    "Fact",
    "Figure",
    "InterviewerView",
    "JudgeView",
    "Message",
    "Reply",
    "Rubric",
    "Say",
    "Verdict",
]
