"""A Dask cluster as an executor of sweeps; needs the extra `dask`."""

from typing import Any

from desim.errors import UsageError
from desim.sweeps.executors import Pooled

__all__ = ["cluster"]


def cluster(address: str, seconds: float = 10) -> Pooled:
    """Connect to a cluster whose workers can import desim, the model and the policies.

    Args:
        address: The scheduler's, such as tcp://host:8786.
        seconds: How long to wait for an answer.

    Raises:
        UsageError: `distributed` is not installed, nobody answers, or there are no workers.
    """
    client = _client(address, seconds)
    workers = sum(client.nthreads().values())
    if not workers:
        client.close()
        raise UsageError(f"the Dask scheduler {address} has no workers; start one with dask worker")
    from distributed import CancelledError, KilledWorker

    pool = client.get_executor(pure=False)
    return Pooled(pool, workers, lambda _busy: client.close(), (KilledWorker, CancelledError))


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
