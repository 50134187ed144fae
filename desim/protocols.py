"""What a model and a policy must offer. Neither inherits from anything of ours."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from desim.kernel import Role
    from desim.world import World

__all__ = ["PATIENCE", "Model", "Policy", "lead"]

#: Questions to one role at one instant, where a model does not say (`patience`).
PATIENCE = 1_000

S = TypeVar("S")


@runtime_checkable
class Model(Protocol[S]):
    """A world's parameters as a frozen class, and the four things the framework needs of it.

    Optional members: `lead`, the roles that a policy takes when no seat is named (default: those
    that are not optional); `patience`, how often one role may be asked at one instant;
    `presets`, changes of parameters by name; `sheets(state, role)`, the tables that a person at a
    seat may look up, as a mapping of names to lists of plain rows (mappings of text to text,
    number or none), of which none tells more than that seat may know.
    """

    @property
    def roles(self) -> Mapping[str, "Role"]:
        """Who decides: roles by name, in the order in which they are listed to people."""
        ...

    def begin(self, world: "World") -> S:
        """Start the processes and return the state; its `ledgers`, if any, enter the digest."""
        ...

    def score(self, state: S) -> float:
        """Return the score of an ended episode; higher is better."""
        ...

    def metrics(self, state: S) -> Mapping[str, Any]:
        """Return further figures by name, as plain JSON values."""
        ...


@runtime_checkable
class Policy(Protocol):
    """Whoever decides. One instance plays one role of one episode.

    Optional members: `after(episode)`, called when an episode has ended; `notes`, a mapping read
    after every decision and recorded with it, of which what stands under "usage" is summed in the
    result; `seated(seat, ...)`, a class method that builds the policy from what the framework knows
    of the seat and the spec's arguments; `seats = "all"` on a class that takes every seat when none
    is named.

    A policy that hears what cannot be heard again (a paid reply, a person's words) has `journal`,
    which the framework sets to a function: the plain JSON value given to it is in the record at
    once. When a record is resumed, `resume(said)` gives the policy these values back, in order,
    before it is asked anything: it answers from them as long as they last.
    """

    def decide(self, observation: Any, /) -> Any:
        """Return an action, or an awaitable of one."""
        ...


def lead(model: Model[Any]) -> Sequence[str]:
    """Return the roles a policy takes when no seat is named."""
    named = getattr(model, "lead", None)
    if named is not None:
        return tuple(named)
    return tuple(name for name, role in model.roles.items() if not role.optional)
