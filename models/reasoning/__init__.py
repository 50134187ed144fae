"""Reasoning tasks: questions with one right answer each, scored as the published benchmark does."""

from models.reasoning.actions import Answer, Command, Reply
from models.reasoning.item import Item
from models.reasoning.model import ReasoningTasks
from models.reasoning.observation import Feedback, Question
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring.grade import Graded

__all__ = [
    "Answer",
    "Command",
    "Feedback",
    "Graded",
    "Item",
    "Question",
    "ReasoningParams",
    "ReasoningTasks",
    "Reply",
]
