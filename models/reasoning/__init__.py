"""Reasoning tasks: questions with one right answer each, scored as the published benchmark does."""

from models.reasoning.item import Item
from models.reasoning.model import ReasoningTasks
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded
from models.reasoning.seat import Answer, Command, Feedback, Question, Reply

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
