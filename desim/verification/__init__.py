"""Checks that results are what they claim to be: entries of suites, their signatures, their board.

Replay proves the game: these actions on this seed give this score. `verify` proves more: every
action is derived again, from the rule or from the recorded replies of a language model, and the
record that comes out is compared with the one that was handed in.
"""
