"""Scoring: pure functions from an item and a text to whether the answer is right.

Answers are never evaluated in this process: numbers are parsed, and programs run in
`desim.sandbox` alone.
"""
