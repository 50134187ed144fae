"""The data that `desim list` shows: models with presets, roles and policies."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from desim import catalog
from desim.core.model import Model, Revision, revision_of
from desim.core.policy import (
    Policy,
    is_drawing,
    knows,
)
from desim.core.roles import Knowledge
from desim.lanes import DecidesAll, HasLanes
from desim.schema import members
from desim.schema.arguments import parameters
from desim.schema.wire_types import attribute_texts


@frozen
class ArgumentSummary:
    """An argument of a policy.

    Attributes:
        name: The name in `,name=value` of a spec.
        required: Whether it has no default.
        default: The default as a JSON value; None also if it is not a JSON value.
        text: Its text in the docstring of an attrs class, or empty.
    """

    name: str
    required: bool
    default: float | str | None
    text: str

    def __str__(self) -> str:
        return self.name if self.required else f"{self.name}={self.default}"


@frozen
class PolicySummary:
    """A policy.

    Attributes:
        text: The first line of its docstring.
        arguments: What a spec of it may set.
        knows: What it knows: a level of `KNOWLEDGE`.
        draws: Whether its actions depend on chance or on the episode's seed.
        lanes: Whether it can answer many episodes of the model at once.
    """

    text: str
    arguments: tuple[ArgumentSummary, ...]
    knows: Knowledge
    draws: bool
    lanes: bool


@frozen
class RoleSummary:
    """A role of a model.

    Attributes:
        default: Whether a policy takes it when no role is named.
        observation: The name of the class; of several with " | " between them.
        actions: What each action does, by the name of its class.
    """

    default: bool
    observation: str
    actions: Mapping[str, str]


@frozen
class PartSummary:
    """A part of a model.

    Attributes:
        name: The model's name in the catalog, or `module:Class`.
        policies: The policies of that model alone; a spec for the part or a role of it names them.
    """

    name: str
    policies: Mapping[str, PolicySummary]


@frozen
class ModelSummary:
    """A model.

    Attributes:
        text: The first line of its docstring, or of that of the function that returns it.
        revision: Its revision, or the revisions by part; see `revision_of`.
        presets: Their names, the default first.
        roles: The roles of the preset that was summarised.
        policies: The policies of this model alone.
        further_arguments: What policies of every model take in this one beside their own arguments.
        baselines: The specs that `desim baselines` plays.
        parts: The parts by name, also those inside a part, as `west.plant`.
        warnings: Sentences on the scores of presets, by the preset's name.
        lanes: Whether many of its episodes can be played at once, by policies that have lanes.
    """

    text: str
    revision: Revision
    presets: tuple[str, ...]
    roles: Mapping[str, RoleSummary]
    policies: Mapping[str, PolicySummary]
    further_arguments: Mapping[str, tuple[ArgumentSummary, ...]]
    baselines: tuple[str, ...]
    parts: Mapping[str, PartSummary]
    warnings: Mapping[str, str]
    lanes: bool


@frozen
class CatalogSummary:
    """The models and the policies of the catalog.

    Attributes:
        models: By name.
        policies: The policies that play every model, by name.
        not_imported: By name the file of each model in a folder `models` of the user's that was
            not named, and whose code was therefore not run.
    """

    models: Mapping[str, ModelSummary]
    policies: Mapping[str, PolicySummary]
    not_imported: Mapping[str, str]


def summarise_catalog(names: Iterable[str] = ()) -> CatalogSummary:
    """Return the summary of the models named, or of all that are shipped with desim.

    Args:
        names: Names in the catalog or `module:Class`, either with or without `/preset`, or
            `module:function`.

    Raises:
        UsageError: A model or a preset does not exist.
    """
    named = tuple(names)
    foreign = {} if named else catalog.foreign_models()
    chosen = named or [name for name in catalog.model_names() if name not in foreign]
    models = {name: _model_summary(name) for name in chosen}
    return CatalogSummary(models, _policy_summaries(catalog.policies()), foreign)


def _model_summary(name: str) -> ModelSummary:
    model, function = catalog.model(name), catalog.builder(name.partition("/")[0])
    cls, default = type(model), tuple(model.default_roles)
    return ModelSummary(
        (function and _first_line(function)) or _first_line(cls),
        revision_of(model),
        catalog.presets(cls),
        {
            name: RoleSummary(
                name in default,
                " | ".join(cls.__name__ for cls in members(role.observation)),
                {action.__name__: _first_line(action) for action in members(role.action)},
            )
            for name, role in model.roles.items()
        },
        _policy_summaries(catalog.policies(cls), model),
        _further_arguments(cls),
        catalog.baselines(model),
        dict(_parts(model)),
        dict(cls.preset_warnings),
        _has_lanes(model),
    )


def _has_lanes(model: Model[Any]) -> bool:
    return not model.models and isinstance(model, HasLanes)


def _parts(model: Model[Any], prefix: str = "") -> Iterator[tuple[str, PartSummary]]:
    for name, part in model.models.items():
        cls = type(part)
        policies = _policy_summaries(catalog.policies(cls), part)
        yield f"{prefix}{name}", PartSummary(catalog.model_name(cls), policies)
        yield from _parts(part, f"{prefix}{name}.")


def _further_arguments(model: type) -> dict[str, tuple[ArgumentSummary, ...]]:
    """Return by policy of every model the arguments that only this model adds."""
    found = {}
    for name, policy in catalog.policies().items():
        own = {argument.name for argument in _arguments(policy)}
        more = tuple(each for each in _arguments(policy, model) if each.name not in own)
        if more:
            found[name] = more
    return found


def _policy_summaries(
    policies: Mapping[str, type[Policy]], model: Model[Any] | None = None
) -> dict[str, PolicySummary]:
    return {
        name: PolicySummary(
            _first_line(cls),
            _required_first(_arguments(cls)),
            knows(cls, model),
            is_drawing(cls),
            model is not None and _has_lanes(model) and isinstance(cls, DecidesAll),
        )
        for name, cls in policies.items()
    }


def _required_first(arguments: Iterable[ArgumentSummary]) -> tuple[ArgumentSummary, ...]:
    return tuple(sorted(arguments, key=lambda each: not each.required))


def _arguments(policy: type[Policy], model: type | None = None) -> Iterator[ArgumentSummary]:
    for call in policy.arguments(model, {}):
        texts = attribute_texts(call) if isinstance(call, type) else {}
        for name, parameter in parameters(call).items():
            required = parameter.default is inspect.Parameter.empty
            plain = isinstance(parameter.default, int | float | str)
            default = parameter.default if plain else None
            yield ArgumentSummary(name, required, default, texts.get(name, ""))


def _first_line(documented: object) -> str:
    return inspect.cleandoc(documented.__doc__ or "").split("\n", 1)[0]
