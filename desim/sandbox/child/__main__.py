"""Started as a file in an interpreter of its own, for one program.

`desim` itself is not imported, because that would take ten times as long as a program: the
packages above this one are put in place as empty ones with a folder.
"""

import sys


def _bare_package(name: str, folder: str) -> None:
    package = type(sys)(name)
    package.__path__ = [folder]
    sys.modules[name] = package


# It reads code from standard input, so that nothing but its start as a file may run it.
if __name__ == "__main__":
    folder = __file__.rpartition("/")[0]
    _bare_package("desim", f"{folder}/../..")
    _bare_package("desim.sandbox", f"{folder}/..")

    from desim.sandbox.child.worker import work

    work()
