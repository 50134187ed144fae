"""The founder's commands and their immediate effects (SPEC section 11); resuming is a process.

Every check comes before any change, so a refused command leaves no trace.
"""
