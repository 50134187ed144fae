"""Imports and files that a stranger's suite names, found in its text before anything is built."""

import re
from collections.abc import Iterator

from desim import catalog
from desim.catalog.policy_finder import has_stand_in
from desim.catalog.policy_spec import Spec
from desim.errors import UsageError
from desim.records.reach import model_reaches
from desim.short_repr import shown
from desim.suites.suite_file import Suite, WorldTable, argument_text
from desim.verification.played_again import NotDecidable

#: A class or function that is named by its module.
_IMPORTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

#: Options of a language model that name a file.
_FILES = ("memory",)


def check_suite_reach(suite: Suite) -> None:
    """Check that a suite names shipped worlds and policies alone, and rules with a stand-in.

    Raises:
        NotDecidable: It names a module or a file; the text says which.
    """
    if found := next(_reaches(suite), ""):
        raise NotDecidable(f"the suite names {found}; a stranger's entry gets none (--trust)")


def _reaches(suite: Suite) -> Iterator[str]:
    for world in suite.worlds.values():
        yield from _of_world(world)
        yield from filter(None, map(_spec_reach, world.policy.values()))
        yield from _of_options(world.options)
    for entry in suite.entries.values():
        specs = entry.policy.values() if isinstance(entry.policy, dict) else (entry.policy,)
        yield from filter(None, map(_spec_reach, specs))
        yield from _of_options({**entry.options, "method": entry.method})


def _of_world(world: WorldTable) -> Iterator[str]:
    name = world.model.partition("/")[0]
    if ":" in world.model or not catalog.has_model(name):
        yield f"the world {shown(world.model)}"
        return
    for reach in model_reaches(name, world.set):
        yield reach.what


def _of_options(options: dict[str, object]) -> Iterator[str]:
    for name, value in options.items():
        text = argument_text(value)
        if _IMPORTED.fullmatch(text) or (name in _FILES and text):
            yield f"{name}={shown(text)}"


def _spec_reach(spec: str) -> str:
    """Return the class that a spec names by its module, or that one of its arguments names."""
    try:
        read = Spec.read(spec) if spec else None
    except UsageError:
        return ""  # the plan names the fault
    named = [] if read is None or has_stand_in(read.name) else [read.name]
    texts = [*named, *(read.arguments.values() if read else ())]
    imported = (found for text in texts if (found := _IMPORTED.search(text)))
    return next((f"the module of {shown(each[0])}" for each in imported), "")
