"""A seat of every world, and the form of a decision of one number in its prompt."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import field, frozen

from desim import Run, catalog
from policies.llm.options import MODES
from policies.llm.worlds.consulting import SCORES


@frozen
class Case:
    """A world, and the form of a decision of one number in its prompt.

    Attributes:
        world: The model's name, with its preset where it is not the first.
        role: The role that decides.
        tool: The tool of the decision.
        argument: Its argument.
        written: Returns the decision as the object that the prompt requests.
        changes: Parameters that make an episode short.
        others: Policies of further roles, for an episode.
        calls: Whether calls are decisions; the published readers of free text do not support them.
        several: Whether a reply may call several tools, which are executed in order.
        modes: The modes that the world has.
    """

    world: str
    role: str
    tool: str
    argument: str
    written: Callable[[int], dict[str, Any]]
    changes: Mapping[str, str] = field(factory=dict)
    others: Mapping[str, str] = field(factory=dict)
    calls: bool = True
    several: bool = False
    modes: Sequence[str] = MODES

    @property
    def seat(self) -> str:
        """The world with the role."""
        return f"{self.world} {self.role}"

    @cached_property
    def model(self) -> Any:
        """The model with its parameters."""
        return catalog.model(self.world, changes=self.changes)

    @cached_property
    def observation(self) -> Any:
        """The first observation of the role; other roles take their default actions."""
        run = Run(self.model, 0, [*self.model.roles])
        while decisions := run.advance():
            for decision in decisions:
                if decision.role == self.role:
                    return decision.observation
                default = self.model.roles[decision.role].default_for(decision.observation)
                run.answer(decision, default)
        raise AssertionError(f"{self.role} is never asked")

    def reads(self, shape: Mapping[str, Any]) -> bool:
        """Return whether a shape says something about this world."""
        if self.several and shape["why"] == "two different calls":
            return False
        return self.calls or not shape["family"].startswith(("call", "text"))


def _tagged(name: str, argument: str) -> Callable[[int], dict[str, Any]]:
    return lambda number: {"do": name, argument: number}


def _in_free_text(role: str, written: Callable[[int], dict[str, Any]]) -> Case:
    """Return the case of a role in an interview, whose replies a published reader reads."""
    others = {} if role == "candidate" else {"candidate": "silent"}
    return Case("consulting", role, "", "", written, {"messages": "4"}, others, calls=False)


_PROJECTION = "conduct_cashflow_projection"

CASES = (
    Case(
        "beer_game", "retailer", "order", "order_qty", lambda n: {"order_qty": n}, {"horizon": "3"}
    ),
    _in_free_text("candidate", lambda n: {"reply": f"{n}"}),
    _in_free_text("interviewer", lambda n: {"reply": f"{n}"}),
    _in_free_text("judge", lambda n: dict.fromkeys(SCORES, n)),
    Case("edt", "manager", "decide", "C", lambda n: {"C": n}),
    Case("edt/interactive", "manager", "hire", "consultants", _tagged("hire", "consultants")),
    Case(
        "enterprise",
        "treasury.cfo",
        _PROJECTION,
        "months",
        _tagged(_PROJECTION, "months"),
        others={"startup.founder": "greedy"},
    ),
    Case(
        "enterprise_arena",
        "cfo",
        _PROJECTION,
        "months",
        lambda n: {"type": "tool", "name": _PROJECTION, "params": {"months": n}},
        {"horizon": "3"},
    ),
    Case(
        "reasoning",
        "analyst",
        "",
        "",
        lambda n: {"reasoning": "r", "final_answer": f"{n}"},
        {"limit": "3"},
        calls=False,
        modes=("json", "schema"),
    ),
    Case(
        "yc_bench",
        "founder",
        "market_browse",
        "limit",
        _tagged("market_browse", "limit"),
        {"max_turns": "4"},
        several=True,
    ),
)
