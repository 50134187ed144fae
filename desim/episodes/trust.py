"""The model and the policies of a record, built only as far as the caller allows."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from desim.core.model import Model
from desim.episodes.lineup import Policies, assign
from desim.errors import BadRecord, UsageError
from desim.records.lines import Header
from desim.records.reach import model_reaches, policy_reaches, refuse


def trusted_model(
    path: str | Path, header: Header, *, trust: bool = False, roles: Iterable[str] = ()
) -> Model[Any]:
    """Build the model of a record, which reaches nothing outside without *trust*.

    The policies of *roles* will be built from their labels on record; *path* is for errors.
    """
    if not trust:
        model, params = header.model, header.params
        labels = ((role, header.policies[role]) for role in roles)
        of_policies = (policy_reaches(role, label, model, params) for role, label in labels)
        refuse([*model_reaches(model, params), *chain.from_iterable(of_policies)], path)
    with naming(path):
        return header.build(trust=True)


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Begin the text of a refused record with its path."""
    try:
        yield
    except BadRecord as fault:
        raise BadRecord(f"{path}: {fault}") from None


def trusted_players(
    path: str | Path, header: Header, policies: Policies, *, trust: bool
) -> tuple[Model[Any], dict[str, Any]]:
    """Return the model of a record, and by role the policies that the caller gives.

    Those of the other roles may be built from their labels on record.
    """
    built: list[str] = []
    if policies is None or isinstance(policies, Mapping):
        built = [role for role in header.policies if role not in (policies or {})]
    model = trusted_model(path, header, trust=trust, roles=built)
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
