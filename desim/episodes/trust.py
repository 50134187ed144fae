"""The model and the policies of a record, built only as far as the caller allows."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from desim import catalog
from desim.core.model import Model
from desim.episodes.episode_options import UNTRUSTED, TrustOptions
from desim.episodes.lineup import Policies, assign
from desim.errors import BadRecord, UsageError
from desim.records.lines import Header
from desim.records.reach import model_reaches, policy_reaches, refuse
from desim.schema import to_plain
from desim.schema.arguments import read_arguments
from desim.short_repr import short_repr


def trusted_model(
    path: str | Path, header: Header, trusted: TrustOptions = UNTRUSTED, roles: Iterable[str] = ()
) -> Model[Any]:
    """Build the model of a record, which reaches outside only by names that the caller gives.

    The policies of *roles* will be built from their labels on record; *path* is for errors.
    """
    name, given = trusted.model, trusted.params or {}
    if not isinstance(name, str):
        raise UsageError(
            f"model={short_repr(name)} was given; it is the name of a model or module:Class, as "
            "the record has the parameters"
        )
    if name:  # the caller has named it, so that it may be imported and built
        name = catalog.model_name(catalog.named_class(name))
    recorded = {key: value for key, value in header.params.items() if key not in given}
    model = name or header.model
    if not trusted.trust:
        labels = ((role, header.policies[role]) for role in roles)
        of_policies = (policy_reaches(role, label, model, recorded) for role, label in labels)
        refuse([*model_reaches(model, recorded), *chain.from_iterable(of_policies)], path)
    with naming(path):
        again: dict[str, Any] = {}
        if given:
            cls = catalog.model_class(model)
            again = read_arguments(cls, given, what=f"{cls.__name__} has no parameter")
        params = recorded | {key: to_plain(value) for key, value in again.items()}
        return msgspec.structs.replace(header, model=model, params=params).build(trust=True)


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Begin the text of a refused record with its path."""
    try:
        yield
    except BadRecord as fault:
        raise BadRecord(f"{path}: {fault}") from None


def trusted_players(
    path: str | Path, header: Header, trusted: TrustOptions, policies: Policies
) -> tuple[Model[Any], dict[str, Any]]:
    """Return the model of a record, and by role the policies that the caller gives.

    Those of the other roles may be built from their labels on record.
    """
    built: list[str] = []
    if policies is None or isinstance(policies, Mapping):
        built = [role for role in header.policies if role not in (policies or {})]
    model = trusted_model(path, header, trusted, built)
    return model, given_policies(header, model, policies)


def given_policies(header: Header, model: Model[Any], policies: Policies) -> dict[str, Any]:
    """Return by role the policies that the caller gives; one alone is for the recorded roles."""
    if policies is None:
        return {}
    given = assign(model, policies, tuple(header.policies))
    if isinstance(policies, Mapping):
        return given
    # A role that the line-up leaves out would be built from its label on record, unchecked.
    for role in header.policies.keys() - given.keys():
        raise UsageError(f"{policies} names no policy for {role!r}; write {role}=SPEC too")
    return {role: one for role, one in given.items() if role in header.policies}
