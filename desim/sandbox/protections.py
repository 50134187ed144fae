"""Which protections hold on this system, as a process finds that sets them up like any other."""

from functools import cache

from attrs import frozen

from desim.sandbox.process import SandboxFailed, run_order
from desim.sandbox.program_limits import ProgramLimits
from desim.sandbox.reply import UnreadableError, read_reply

#: The accesses that each protection prevents.
PROTECTIONS = {
    "limits": "memory, processor time, size of files and number of processes beyond the limits",
    "no_new_rights": "rights through programs that change the user",
    "landlock": "every file but libraries, to read; nothing is written",
    "filter": "all calls to the kernel but the few that computing needs",
    "hook": "the same by name inside the interpreter; a second line, which alone can be evaded",
}


@frozen
class Protections:
    """The protections that hold.

    Attributes:
        active: Names from `PROTECTIONS`.
    """

    active: frozenset[str]

    @property
    def missing(self) -> frozenset[str]:
        """Names that do not hold."""
        return frozenset(PROTECTIONS) - self.active

    def rows(self) -> list[dict[str, str]]:
        """Return a table: each protection, whether it holds, and what it prevents."""
        return [
            {
                "protection": name,
                "active": "yes" if name in self.active else "no",
                "prevents": prevented,
            }
            for name, prevented in PROTECTIONS.items()
        ]


@cache
def protections() -> Protections:
    """Return the protections that hold on this system; determined once in a process.

    Raises:
        SandboxFailed: The sandbox could not start.
        UsageError: The system is not one on which programs can be confined at all.
    """
    finished = run_order({"way": "probe"}, ProgramLimits(seconds=10.0), unconfined=True)
    try:
        names = read_reply(finished.answer).value
    except UnreadableError as error:
        raise SandboxFailed(f"The sandbox gave no account of itself: {error}") from error
    return Protections(frozenset(names or ()) & PROTECTIONS.keys())
