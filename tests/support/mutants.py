"""Modules with one text of their source changed, for tests that must notice the change."""

import importlib.util
from types import ModuleType
from typing import Any


def mutant(module: ModuleType, rule: str, changed: str) -> Any:
    """Return a module in which one text of its source is another."""
    spec = importlib.util.find_spec(module.__name__)
    assert spec
    assert spec.loader
    source = spec.loader.get_source(module.__name__)  # type: ignore[attr-defined]
    assert source.count(rule) == 1, source.count(rule)
    copy = ModuleType(module.__name__)
    exec(compile(source.replace(rule, changed), "mutant", "exec"), vars(copy))  # noqa: S102
    return copy
