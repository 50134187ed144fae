"""Answers of a person: typed texts, known values, questions about unusual numbers, refusals."""
