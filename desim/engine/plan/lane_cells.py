"""Which models and policies are played as lanes, many seeds at once; and if not, why."""

from typing import Any

from desim.catalog.policy_spec import label
from desim.core.model import ItemsModel, Model, model_of
from desim.episodes.lineup import Policies, assign, maker_of
from desim.errors import UsageError
from desim.lanes import NoLanes, answers_all, lanes_of


def is_on_lanes(model: Model[Any], policies: Policies) -> bool:
    """Return whether the episodes of a model with some policies can be played as lanes.

    Raises:
        UsageError: The model's `lanes` raised another exception than `NoLanes`.
    """
    return not why_no_lanes(model, policies)


def why_no_lanes(model: Model[Any], policies: Policies) -> str:
    """Return in a sentence why episodes are played one by one; empty if they have lanes.

    Only the model and the policies count, and no seed, so that equal cells are played alike.

    Raises:
        UsageError: See `is_on_lanes`.
    """
    if isinstance(model, ItemsModel):
        return f"{type(model).__name__} reports items, which lanes do not have"
    given = assign(model, policies)
    for role, one in given.items():
        if not answers_all(maker_of(one, model_of(model, role)[0])):
            return f"{label(one)} decides for one episode at a time"
    try:
        lanes_of(model, tuple(given), (0,))
    except NoLanes as fault:
        return str(fault)
    except Exception as fault:
        raise UsageError(
            f"lanes of {type(model).__name__} failed ({type(fault).__name__}: {fault})"
        ) from fault
    return ""
