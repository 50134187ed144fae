"""The examples in docstrings print what they show."""

import doctest
from importlib import import_module

import pytest
from support.paths import ROOT

MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for folder in ("desim", "models", "ledgers", "policies")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if b">>> " in file.read_bytes()
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_show(name: str) -> None:
    """Every example of its docstrings is run."""
    failed, attempted = doctest.testmod(import_module(name))
    assert attempted
    assert not failed
