"""Access outside desim that a record's header asks for: modules, files, hosts, the environment.

A record is data from a stranger. Names in its header are used directly only if that imports nothing
but shipped worlds and policies, and opens nothing; others are shown and refused, unless the person
gives them again or trusts the record. The classes of models and policies declare what they open;
see `Model.files` and `Policy.reaches`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from desim import catalog
from desim.catalog.imports import is_loaded
from desim.catalog.policy_spec import Spec
from desim.composition.parts_model import PartsModel
from desim.core.model import Model
from desim.errors import UsageError
from desim.short_repr import shown

#: The number of things that an error shows, and the longest text of each.
_SHOWN, _CHARACTERS = 5, 200

#: The modules that a record may name though they are not imported yet: those of the model of parts.
#: The import of other modules of desim may run code that is not made for it.
_IMPORTED = ("desim.composition", "desim.composition.composite")


def model_reaches(name: str, params: Mapping[str, Any]) -> Iterator[str]:
    """Yield what building and playing a model would do outside: "import module ...", "open ...".

    Args:
        name: A name in the catalog, or `module:Class`. A module that is imported already, such as
            the script that runs, is not imported again.
        params: Plain values by parameter, unchecked.
    """
    for part, found, inside in _models(name, params):
        of = f" for part {_cut_repr(part)}" if part else ""
        if isinstance(found, str):
            yield f"{found}{of}"
        elif found is not None:
            yield from (f"open {_cut_repr(file)}{of}" for file in found.files(inside))
            if issubclass(found, PartsModel):
                yield from (f"call {_cut_repr(each)}{of}" for each in found.functions(inside))


def policy_reaches(
    role: str, label: str, model: str, params: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Yield what building a policy from its label would do outside.

    Args:
        role: The role that it plays.
        label: The label on record.
        model: The name of the model.
        params: The model's plain parameters, unchecked, which name the models of its parts.
    """
    try:
        spec = Spec.read(label)
    except UsageError:  # no spec, so nothing is built from it
        return
    module, colon, _ = spec.name.partition(":")
    if colon:
        yield f"import module {_cut_repr(module)} for {_cut_repr(role)}"
        return
    of = _class_of_role(role, model, params or {})
    cls = {**catalog.policies(), **(catalog.policies(of) if of else {})}.get(spec.name)
    if cls is None:
        return
    for inner in cls.inner_policies(spec.arguments):
        yield from policy_reaches(role, inner, model, params)
    if cls.reaches:
        given = [f"{key}={spec.arguments[key]}" for key in cls.reaches if key in spec.arguments]
        what = f"build {_cut_repr(spec.name)} for {_cut_repr(role)}"
        how = _cut_repr(", ".join(given) or "as by default")
        yield f"{what}, which opens files or contacts a host ({how})"


def refuse(reaches: Iterable[str], path: object = "") -> None:
    """Raise an error if a header reaches outside.

    Raises:
        UsageError: The header does; the text names the access.
    """
    found = list(reaches)
    if not found:
        return
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    start = f"{path}: the" if path else "the"
    raise UsageError(
        f"{start} record would {'; '.join(found[:_SHOWN])}{more}. Nothing was done; allow it with "
        "--trust (trust=True in Python)"
    )


def _models(
    name: str, params: Mapping[str, Any], part: str = ""
) -> Iterator[tuple[str, str | type[Model[Any]] | None, Mapping[str, Any]]]:
    """Yield a model and those of its parts: the part, the class or its import, the parameters."""
    found = _import_of(name) or catalog.known_class(name)
    yield part, found, params
    if isinstance(found, type) and issubclass(found, PartsModel):
        for inner, model, inside in found.inner_models(params):
            yield from _models(model, inside, f"{part}.{inner}" if part else inner)


def _class_of_role(role: str, model: str, params: Mapping[str, Any]) -> type | None:
    """Return the class of the model of a role; None if it is not imported yet."""
    classes = {part: found for part, found, _ in _models(model, params)}
    words = role.split(".")
    parts = (".".join(words[:end]) for end in range(len(words), -1, -1))
    found = next(classes[part] for part in parts if part in classes)
    return found if isinstance(found, type) else None


def _import_of(model: str) -> str:
    """Return the import of a module that is not shipped, by a model's name; empty for none."""
    module, colon, _ = model.partition(":")
    if not colon:
        file = catalog.foreign_model(model)
        return f"import module {_cut_repr(f'models.{model}')} of {_cut_repr(file)}" if file else ""
    # Without a module the catalog raises an error.
    known = not module or module in _IMPORTED or is_loaded(module)
    return "" if known else f"import module {_cut_repr(module)}"


def _cut_repr(value: str) -> str:
    return shown(value, _CHARACTERS)
