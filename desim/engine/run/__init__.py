"""Executors: serial, processes, Dask, and one event loop."""
