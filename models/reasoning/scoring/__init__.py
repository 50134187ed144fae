"""Scoring: pure functions from an item and a text to whether the answer is right.

What a model wrote is never evaluated here: numbers are parsed, and programs run in
`desim.sandbox` alone.
"""
