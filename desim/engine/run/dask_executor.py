"""An executor of sweeps on a Dask cluster; needs the extra `dask`."""

import logging
from typing import Any

from desim.engine.run.executors import DIED, SchedulerLost, WorkerDied
from desim.engine.run.pool_executor import PoolExecutor
from desim.errors import UsageError


class DaskExecutor(PoolExecutor):
    """Plays chunks on a cluster whose workers can import desim, the model and the policies.

    Args:
        address: The address of the scheduler, such as tcp://host:8786.
        seconds: How long to wait for the scheduler.

    Raises:
        UsageError: `distributed` is not installed, the scheduler does not answer, or it has no
            workers.
    """

    def __init__(self, address: str, seconds: float = 10) -> None:
        self._client = _client(address, seconds)
        workers = sum(self._client.nthreads().values())
        if not workers:
            self._client.close()
            raise UsageError(
                f"the Dask scheduler {address} has no workers; start one with dask worker"
            )
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        lost = SchedulerLost(f"the Dask scheduler {address} ended or cannot be reached any more")
        losses = {KilledWorker: WorkerDied(DIED), CancelledError: lost, CommClosedError: lost}
        super().__init__(self._client.get_executor(pure=False), workers, losses)
        # It would print a traceback when the scheduler ends; the error above says enough.
        self._log = logging.getLogger("distributed.client")
        self._level = self._log.level
        self._log.setLevel(logging.CRITICAL)

    def close(self) -> None:
        """Disconnect from the cluster, which cancels what was submitted."""
        self._client.close()
        self._log.setLevel(self._level)


def _client(address: str, seconds: float) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("executor dask needs distributed: pip install desim[dask]") from None
    connect: Any = Client  # it has no types, whether it is installed or not
    try:
        client: Any = connect(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError, TypeError) as fault:
        raise UsageError(
            f"no Dask scheduler answers at {address!r} ({fault}); start one with dask scheduler"
        ) from None
    return client
