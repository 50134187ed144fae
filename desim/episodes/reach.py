"""What the header of a record would reach outside desim: modules, files, hosts, the environment.

A record is data from a stranger. What its header names is used without more ado only where that
imports nothing and opens nothing; the rest is shown and refused, unless it is given again or the
record is trusted. What a model or a policy opens is declared by their classes, see `OpensFiles`
and `ReachesOutside`.
"""

import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from desim import catalog
from desim.core.protocols import OpensFiles, ReachesOutside
from desim.episodes.short import cut, shown
from desim.episodes.spec import Spec
from desim.errors import UsageError

__all__ = ["Reach", "model_reaches", "policy_reaches", "refuse"]

#: How many things an error shows, and the longest text of each.
_SHOWN, _CHARACTERS = 5, 200


@frozen
class Reach:
    """One thing that a header would do.

    Attributes:
        what: "import module ..." or "open ...".
        option: What allows it on the command line.
    """

    what: str
    option: str


def model_reaches(name: str, params: Mapping[str, Any]) -> list[Reach]:
    """Return what building and playing a model would reach.

    Args:
        name: A name in the catalog, or `module:Class`. A module that is imported already, such as
            the script that runs, is not imported again.
        params: Plain values by parameter, unchecked.
    """
    module = name.partition(":")[0]
    if _needs_import(name):
        return [Reach(f"import module {_text(module)}", _option("model", name))]
    cls = _model_class(name)
    if not isinstance(cls, OpensFiles):
        return []
    return [
        Reach(f"open {_text(file)}", _option("set", f"{key}={value}"))
        for key, value in params.items()
        for file in cls.files({key: value})
    ]


def policy_reaches(role: str, label: str, model: str) -> list[Reach]:
    """Return what building a policy from its label would reach.

    Args:
        role: The role that it plays.
        label: The label on record.
        model: The name of the model.
    """
    try:
        spec = Spec.read(label)
    except UsageError:  # no spec, so nothing is built from it
        return []
    module, colon, _ = spec.name.partition(":")
    option = _option("policy", f"{role}={label}")
    if colon:
        return [Reach(f"import module {_text(module)} for {_text(role)}", option)]
    # A class that is not imported yet cannot say which policies it has.
    of = None if _needs_import(model) else _model_class(model)
    cls = {**catalog.policies(), **(catalog.policies(of) if of else {})}.get(spec.name)
    if not isinstance(cls, ReachesOutside):
        return []
    given = [f"{key}={spec.arguments[key]}" for key in cls.reaches if key in spec.arguments]
    what = f"build {_text(spec.name)} for {_text(role)}, which opens files or contacts a host"
    return [Reach(f"{what} ({_text(', '.join(given) or 'as by default')})", option)]


def refuse(reaches: Iterable[Reach], path: object = "") -> None:
    """Raise an error if a header reaches outside.

    Raises:
        UsageError: It does; the text shows what it would do and how to allow it.
    """
    found = list(reaches)
    if not found:
        return
    whats = "; ".join(each.what for each in found[:_SHOWN])
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    options = " ".join(each.option for each in found[:_SHOWN])
    start = f"{path}: the" if path else "the"
    raise UsageError(
        f"{start} record would {whats}{more}. Nothing was done; allow it with --trust "
        f"(trust=True in Python), or give it again: {options}"
    )


def _needs_import(model: str) -> bool:
    module, colon, _ = model.partition(":")
    return bool(colon and module) and module not in sys.modules


def _model_class(name: str) -> type | None:
    """Return the class of a model; None where there is none of that name."""
    if ":" not in name and not catalog.has_model(name):
        return None
    try:
        return catalog.model_class(name)
    except UsageError:
        return None


def _text(value: str) -> str:
    return shown(value, _CHARACTERS)


def _option(name: str, value: str) -> str:
    # Quoted, so that a text from a record that is copied into a shell stays one argument.
    return f"--{name} {shlex.quote(cut(value, _CHARACTERS))}"
