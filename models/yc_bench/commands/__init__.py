"""The founder's commands and what they change at once (SPEC section 11); resuming is a process.

Every check comes before any change, so a refused command leaves no trace.
"""
