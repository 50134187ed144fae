"""The case interview: an interviewer, a candidate who never sees the case, and judges."""

from models.consulting.case import Case, Fact
from models.consulting.model import Consulting
from models.consulting.seats import CandidateView, Reply, Say, Verdict

__all__ = ["CandidateView", "Case", "Consulting", "Fact", "Reply", "Say", "Verdict"]
