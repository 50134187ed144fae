"""The rules of the reasoning tasks in words, for the analyst."""

__all__ = ["RULES"]

RULES = (
    "You are an analyst. You get one question at a time, and before it the document that it is "
    "about, if there is one; no question depends on another."
)
