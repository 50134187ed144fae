"""The modules, files and hosts outside desim that a record's header asks for.

Building what it names imports nothing but shipped worlds and policies and opens nothing, unless the
person gives the name again or trusts the record (see `Model.files` and `Policy.reaches`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from desim import catalog
from desim.catalog.imports import is_loaded
from desim.catalog.policy_spec import Spec
from desim.composition.parts_model import PartsModel
from desim.core.model import Model
from desim.errors import UsageError
from desim.short_repr import short_repr

#: The modules that a record may name though they are not imported yet: those of the model of parts.
_IMPORTED = ("desim.composition", "desim.composition.composite")


def model_reaches(name: str, params: Mapping[str, Any]) -> Iterator[str]:
    """Yield what playing a model would do outside, such as "open ..."; *params* are unchecked."""
    for part, model, inside in _models(name, params):
        of = f" for part {short_repr(part)}" if part else ""
        if isinstance(model, str):
            yield f"{model}{of}"
        elif model:
            yield from (f"open {short_repr(file)}{of}" for file in model.files(inside))
            if issubclass(model, PartsModel):
                yield from (f"call {short_repr(each)}{of}" for each in model.functions(inside))


def policy_reaches(
    role: str, label: str, model: str, params: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Yield what building a role's policy from its label on record would do outside."""
    try:
        spec = Spec.read(label)
    except UsageError:  # no spec, so nothing is built from it
        return
    module, colon, _ = spec.name.partition(":")
    if colon:
        yield f"import module {short_repr(module)} for {short_repr(role)}"
        return
    # The rules of every model in the record, as the name does not say whose it is.
    models = (each for _, each, _ in _models(model, params or {}) if isinstance(each, type))
    known = [catalog.policies(), *map(catalog.policies, models)]
    for cls in dict.fromkeys(some[spec.name] for some in known if spec.name in some):
        for inner in cls.inner_policies(spec.arguments):
            yield from policy_reaches(role, inner, model, params)
        if cls.reaches:
            given = [f"{key}={spec.arguments[key]}" for key in cls.reaches if key in spec.arguments]
            what = f"build {short_repr(spec.name)} for {short_repr(role)}"
            how = short_repr(", ".join(given) or "as by default")
            yield f"{what}, which opens files or contacts a host ({how})"


def refuse(reaches: Iterable[str], path: object = "") -> None:
    """Raise a `UsageError` that names what a header would do outside, if it does anything."""
    if found := list(reaches):
        start = f"{path}: the" if path else "the"
        raise UsageError(
            f"{start} record would {'; '.join(found)}. Nothing was done; allow it "
            "with --trust (trust=True in Python)"
        )


def _models(
    name: str, params: Mapping[str, Any], part: str = ""
) -> Iterator[tuple[str, type[Model[Any]] | str | None, Mapping[str, Any]]]:
    """Yield a model and those of its parts: the part, the class or its import, the parameters."""
    model = _import_of(name) or catalog.known_class(name)
    yield part, model, params
    if isinstance(model, type) and issubclass(model, PartsModel):
        for inner, named, inside in model.inner_models(params):
            yield from _models(named, inside, f"{part}.{inner}" if part else inner)


def _import_of(model: str) -> str:
    """Return the import of a module that is not shipped, by a model's name; empty for none."""
    module, colon, _ = model.partition(":")
    if not colon:
        file = catalog.foreign_model(model)
        named = f"{short_repr(f'models.{model}')} of {short_repr(file)}"
        return f"import module {named}" if file else ""
    # Without a module the catalog raises an error; a loaded one is not imported again.
    known = not module or module in _IMPORTED or is_loaded(module)
    return "" if known else f"import module {short_repr(module)}"
