"""The checks that models bring for their statements, for tests and attacks."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec

from desim import catalog


@contextmanager
def models_checked() -> Iterator[None]:
    """Switch on `checked()` of every `models/<name>/articulation.py` there is."""
    with ExitStack() as stack:
        for name in catalog.models():
            module = f"models.{name}.articulation"
            if find_spec(module):
                stack.enter_context(import_module(module).checked())
        yield
