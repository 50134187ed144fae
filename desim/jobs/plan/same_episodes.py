"""Jobs whose episodes are known to be the same for all seeds: one is played, the others copied."""

from collections.abc import Iterable
from typing import Any

import msgspec

from desim.catalog.policy_spec import Spec
from desim.core.model_protocols import Model, is_deterministic, offers
from desim.core.policy_protocols import Draws, is_drawing
from desim.episodes.lineup import assigned, maker_of
from desim.jobs.plan.grid import Grid
from desim.jobs.plan.job import Cell

#: Values stay as they are written, so that a copy has the same digits.
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def is_fixed(cell: Cell) -> bool:
    """Return whether a model and policies are known to play the same episode on every seed.

    The model declares it. Policies of the catalog declare whether they draw; those of a user, given
    as a class, a function, an instance or `module:Name`, must declare that they do not.
    """
    model = cell.variant.model
    return is_deterministic(model) and not any(
        _may_draw(policy, of) for policy, of in assigned(model, cell.entry.policies)
    )


def _may_draw(policy: Any, model: Model[Any]) -> bool:
    listed = isinstance(policy, str) and ":" not in Spec.read(policy).name
    maker = maker_of(policy, model)
    return is_drawing(maker) or not (listed or offers(maker, Draws))


def copies_of(plan: Grid, jobs: Iterable[int]) -> dict[int, list[int]]:
    """Return, by the first job of each fixed cell, the further jobs of that cell.

    There are none if episodes are recorded: each has a record of its own.

    Args:
        plan: All jobs.
        jobs: Indices of those to play, ascending.
    """
    by_cell: dict[int, list[int]] = {}
    for job in jobs if plan.out is None else ():
        by_cell.setdefault(job // len(plan.seeds), []).append(job)
    return {
        first: others
        for cell, (first, *others) in by_cell.items()
        if others and is_fixed(plan.cells[cell])
    }


def copy_of(row: bytes, seed: int) -> bytes:
    """Return a row as JSON with another seed."""
    return msgspec.json.encode(_decode(row) | {"seed": msgspec.Raw(b"%d" % seed)})
