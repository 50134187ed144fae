"""Reasoning tasks: questions with one right answer each, scored as the published benchmark does."""

from models.reasoning.item import Item
from models.reasoning.model import ReasoningTasks
from models.reasoning.seat import Answer, Question, Reply

__all__ = ["Answer", "Item", "Question", "ReasoningTasks", "Reply"]
