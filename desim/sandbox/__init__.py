"""Runs untrusted programs, such as those that a language model wrote.

Each program gets an interpreter of its own with an empty environment, no input, and of the file
system the standard library, to read, and an empty folder. It is killed with all that it started
when its time is over. What it hands back is text, read by a strict parser; nothing of it is
evaluated or unpickled. `protections()` says which means of the system hold; what differs where
some are missing:

* Without namespaces of processes and network (most containers; Ubuntu for who is not root) the
  filter of calls refuses to start processes and to open sockets.
* Without a namespace of mounts, Landlock allows the same files to be read and none to be written,
  as nothing limits the number of files; names and sizes of other files can still be looked up.
  Without Landlock too, no file can be opened at all, and a program finds only the usual modules of
  the standard library.
* Without the filter (machines other than x86_64 and aarch64) and without namespaces, and on
  macOS, limits and the audit hook are all there is: they hold a careless program, not one that
  is written to break out, which could read and change what the user can. `confined` is False, and
  no program is run (`NotConfined`) unless `unconfined=True` or the environment variable
  `DESIM_UNCONFINED_PROGRAMS=1` allows it.
* Nowhere is it prevented that a program reads the system's libraries, learns the kernel's name or
  the time, or uses its full share of a processor for its time. Two programs that run at once
  could signal to each other by the load they make.

Programs see the standard library alone, texts are hashed by a fixed seed and `random` starts from
one, so that a program has the same value each time. A program of a `Dialogue` may also import the
packages that it is given, ctypes included; the hook still refuses foreign calls, and no environment
variable lets it run unconfined.
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
