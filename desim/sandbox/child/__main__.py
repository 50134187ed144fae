"""Started as a file in an interpreter of its own, for one program.

`desim` itself is not imported, because that would take ten times as long as a program: the
packages above this one are put in place as empty ones with a folder.
"""

import sys

_FOLDER = __file__.rpartition("/")[0]


def _bare_package(name: str, folder: str) -> None:
    package = type(sys)(name)
    package.__path__ = [folder]
    sys.modules[name] = package


_bare_package("desim", f"{_FOLDER}/../..")
_bare_package("desim.sandbox", f"{_FOLDER}/..")

from desim.sandbox.child.supervisor import supervise  # noqa: E402 - the packages come first

supervise()
