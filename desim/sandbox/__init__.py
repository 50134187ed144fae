"""Runs untrusted programs, such as those that a language model wrote.

Each program gets an interpreter of its own with an empty environment, no input, and of the file
system the standard library, to read. It is killed with all that it started when its time is over.
What it hands back is text, read by a strict parser; nothing of it is evaluated or unpickled. Where
the kernel does not confine it, it is not run (`NotConfined`). Texts are hashed by a fixed seed and
`random` starts from one, so that a program has the same value each time.
"""

from desim.sandbox.process import NotConfined, ProgramLimits, SandboxFailed
from desim.sandbox.programs import (
    Arguments,
    ProgramOutcome,
    Returned,
    run_block,
    run_calls,
    run_program,
)

__all__ = [
    "Arguments",
    "NotConfined",
    "ProgramLimits",
    "ProgramOutcome",
    "Returned",
    "SandboxFailed",
    "run_block",
    "run_calls",
    "run_program",
]
