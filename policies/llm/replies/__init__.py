"""The parts of a model's reply: its answer without reasoning, calls in text, JSON objects."""

__all__ = ["BadReply"]


class BadReply(Exception):
    """A reply without a valid action; the one argument is a sentence for the model."""
