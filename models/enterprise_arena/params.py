"""The parameters of EnterpriseArena and its presets."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from attrs import field, frozen
from attrs.validators import ge, in_, instance_of, le

from desim import Role, World, from_preset
from models.enterprise_arena import macro, options, processes, regimes, score, sheets
from models.enterprise_arena.actions import Command
from models.enterprise_arena.company import CFO, Company
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.observation import Month
from models.enterprise_arena.rules import Information, Lending, Noise, Opening, Raising, Scoring

__all__ = ["EnterpriseArena"]

_COLUMNS = ("ind_user_growth_monthly", "ind_user_growth_monthly_alt")


@frozen(kw_only=True, slots=False)
class EnterpriseArena(Opening, Noise, Lending, Raising, Information, Scoring):
    """A consumer lender's eleven years, month by month, under one chief financial officer.

    The parameters stand with their units, ranges and sources in `rules.py`, by the section of
    the SPEC to which they belong.

    Attributes:
        horizon: Months, 1 to 1,200, and no more than the table has. [P]
        macro: The outside world: a table, or the path of one; none is 2015 to 2025. [P]
        growth_column: Of the table, that holds borrower growth: the profile. [C]
        history: "table" plays the table itself, "regimes" a path drawn from the seed by the
            Markov-switching model that is fitted to it.
        patience: Commands in one month, after which an officer who never acts is given up.
    """

    horizon: int = field(default=132, validator=[instance_of(int), ge(1), le(1_200)])
    macro: Macro | str | None = field(default=None, converter=macro.given)
    growth_column: str = field(default=_COLUMNS[0], validator=in_(_COLUMNS))
    history: str = field(default="table", validator=in_(("table", "regimes")))
    patience: int = field(default=1_000, validator=[instance_of(int), ge(1)])

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {},
        "snapshot": {"growth_column": _COLUMNS[1]},
        "regime": {"history": "regimes"},
    }

    def __attrs_post_init__(self) -> None:
        if self.history == "table" and self.horizon > len(self.table):
            raise ValueError(
                f"horizon={self.horizon} was given; the macro table has {len(self.table)} months"
            )
        if self.history == "regimes":
            regimes.fit(self.table, self.growth_column)

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset with some parameters changed."""
        return from_preset(cls, name, changes)

    @property
    def table(self) -> Macro:
        """The table in use, which a path has become."""
        assert not isinstance(self.macro, str)
        return macro.builtin() if self.macro is None else self.macro

    @property
    def roles(self) -> dict[str, Role]:
        """The chief financial officer, who gives one command at a time."""
        return {CFO: Role(Month, Command, options.options, neutral=options.rest)}

    def begin(self, world: World) -> Company:
        """Open the books and start the processes."""
        return processes.begin(world, self)

    def score(self, state: Company) -> float:
        """Return worth at the end less the charge for tools, dollars; 0 if bankrupt."""
        return score.score(state)

    def metrics(self, state: Company) -> dict[str, Any]:
        """Return the columns of the paper's Table 2."""
        return score.metrics(state)

    def sheets(self, state: Company, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the tables that a person at the seat can look up, by name; money in dollars."""
        assert role == CFO
        return sheets.sheets(state)
