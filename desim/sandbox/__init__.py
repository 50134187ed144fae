"""Runs untrusted programs, such as those that a language model wrote.

Each program gets an interpreter of its own with an empty environment, no input, and of the file
system the standard library, to read. It is killed with all that it started when its time is over.
What it hands back is text, read by a strict parser; nothing of it is evaluated or unpickled.
Landlock lets it read libraries and write nothing, the filter of calls lets it start no process and
open no socket. Where one of the two is missing (macOS, an old kernel, machines other than x86_64
and aarch64) limits and the audit hook hold a careless program, not one that is written to break
out: no program is run (`NotConfined`) unless `unconfined=True` or the environment variable
`DESIM_UNCONFINED_PROGRAMS=1` allows it.

It is not prevented that a program reads the system's libraries, learns names and sizes of other
files, the kernel's name or the time, or uses its full share of a processor for its time. Programs
see the standard library alone, texts are hashed by a fixed seed and `random` starts from one, so
that a program has the same value each time.
"""

from desim.sandbox.process import UNCONFINED, NotConfined, SandboxFailed
from desim.sandbox.program_limits import Arguments, ProgramLimits, ProgramOutcome, Returned
from desim.sandbox.programs import run_block, run_calls, run_program
from desim.sandbox.protections import Protections, protections

__all__ = [
    "UNCONFINED",
    "Arguments",
    "NotConfined",
    "ProgramLimits",
    "ProgramOutcome",
    "Protections",
    "Returned",
    "SandboxFailed",
    "protections",
    "run_block",
    "run_calls",
    "run_program",
]
