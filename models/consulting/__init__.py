"""The case interview: an interviewer, a candidate who never sees the case, and judges."""

from models.consulting.actions import Reply, Say, Verdict
from models.consulting.case import Case, Fact, Figure, Rubric
from models.consulting.model import Consulting
from models.consulting.observation import CandidateView, InterviewerView, JudgeView, Message
from models.consulting.params import ConsultingParams

__all__ = [
    "CandidateView",
    "Case",
    "Consulting",
    "ConsultingParams",
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
