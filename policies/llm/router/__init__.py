"""Chooses one of several agent methods for each question or decision.

Source: reference SPEC of FirmBench, section 6 (the paper's Agent-of-Agents).
"""
