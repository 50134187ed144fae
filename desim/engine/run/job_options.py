"""The arguments on workers, folders and limits that all studies share.

The text of each field is also the help of its option on the command line.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from desim.core.limits import Limits
from desim.show.progress import ProgressOption

if TYPE_CHECKING:  # `desim --help` imports no more than it prints
    from desim.engine.run.executors import Executor


@frozen(kw_only=True, slots=False)
class JobOptions:
    """Workers, folder and limits of the jobs of a study.

    Attributes:
        jobs: Worker processes; default of commands: one a core. In Python 1 plays in this
            process, where a debugger works and nothing needs to be importable, but a policy that
            calls `os._exit` ends the study, and a limit of time does not stop one that catches
            every exception. With more, every worker imports the calling script, so the script must
            call this under `if __name__ == "__main__":`.
        out: A folder that keeps what is played. The same call goes on from it, does not repeat
            failed episodes, and is refused if code, a file or a version that the results depend on
            has changed.
        limits: The limits of each episode; one that reaches a limit fails.
        progress: True shows a bar, False none; default: where standard error is a terminal or in a
            notebook, after two seconds, with the first failure of each cause. In Python also a
            function, called at the start and whenever a part is finished with the numbers of
            finished and of all episodes; anew for every batch.
    """

    jobs: int = 1
    out: str | Path | None = None
    limits: Limits | None = None
    progress: ProgressOption = None


@frozen(kw_only=True, slots=False)
class GridOptions(JobOptions):
    """Workers, folder and limits of the jobs of a grid, with an executor and a fresh start.

    Attributes:
        executor: processes=N, concurrent=N (episodes that wait for a host at once), both joined by
            a comma, or dask=ADDRESS of a scheduler. In Python also workers that stay for further
            sweeps (`with desim.workers(N) as pool`), or any object with the methods of `Executor`.
            *jobs* is not used with processes and with these.
        restart: Discard what *out* keeps of episodes of other code, or else of this command.
    """

    executor: "Executor | str | None" = None
    restart: bool = False
