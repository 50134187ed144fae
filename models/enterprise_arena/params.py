"""The parameters of EnterpriseArena and its presets; the rules are in `rules.py`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from attrs import field, frozen
from attrs.validators import ge, in_, instance_of, le

from desim.core.roles import Thinking
from desim.schema.validators import whole
from models.enterprise_arena.economy import macro
from models.enterprise_arena.economy.macro import Macro
from models.enterprise_arena.rules import Information, Lending, Noise, Opening, Raising, Scoring

_COLUMNS = ("ind_user_growth_monthly", "ind_user_growth_monthly_alt")

#: The largest request of `capped`, dollars: the opening loan book, 5,000 borrowers x 10,000 [P].
#: At the mean fill of 0.85 it brings 42.5 million, what a surge of borrowers absorbs (SPEC section
#: 1). As equity it buys 50 / (105 + 50), a third of a company whose 10.5 million shares cost 10
#: each [P]. The README compares it with the requests behind the paper's Table 2.
_LOAN_BOOK = 50_000_000.0

#: Changes of the presets that boards play: a request has a bound, as many refused requests a month
#: are free as tool calls are allowed [P], and money that was raised is owed.
_CAPPED = {"largest_request": _LOAN_BOOK, "free_refusals": 20, "score_of": "value_added"}

#: Changes of parameters for a company that lends nothing: funding and its own overhead remain, as
#: in a group's treasury. It is not a preset, because boards should not compare rules in it. The
#: amounts are ours: paid-in capital of two million, all of it in cash, which is overhead for 40
#: months.
TREASURY: Mapping[str, Any] = MappingProxyType(
    {
        "opening_cash": 2_000_000.0,
        "opening_users": 0.0,
        "opening_loans": 0.0,
        "opening_allowance": 0.0,
        "opening_payables": 0.0,
        "opening_shares": 200_000.0,
        "overhead": 50_000.0,
    }
)


@frozen(kw_only=True, slots=False)
class ArenaParams(Opening, Noise, Lending, Raising, Information, Scoring):
    """All parameters: those of the rules, and those of the episode.

    The parameters of the rules are in `rules.py`, with units, ranges and sources.

    Attributes:
        horizon: Months, 1 to 1,200; no more than the table has, unless the history is drawn. [P]
        macro: The macro table: a table, the path of a CSV file, or None for 2015 to 2025. [P]
        growth_column: The column of the table that holds borrower growth: the profile. [C]
        solvency: When cash below zero ends the episode: "opening" when a month opens, where money
            that is due then counts, "month_end" at its end, as in the paper; the last month in
            either case at its end. [P, C]
        history: "table" plays the table itself; "regimes" plays a path drawn from the seed by the
            Markov-switching model that is fitted to the table.
        max_questions_per_tick: Commands in one month; with more the episode fails with `Stuck`.
        thinking: Months that the commands of the officer take; a month without one is a pass.
    """

    horizon: int = field(default=132, validator=[whole, ge(1), le(1_200)])
    macro: Macro | str | None = field(default=None, converter=macro.given)
    growth_column: str = field(default=_COLUMNS[0], validator=in_(_COLUMNS))
    solvency: str = field(default="opening", validator=in_(("opening", "month_end")))
    history: str = field(default="table", validator=in_(("table", "regimes")))
    max_questions_per_tick: int = field(default=1_000, validator=[whole, ge(1)])
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: The first is the default. The defaults of the parameters are those of `paper` except for
    #: `solvency`, so a record written before a parameter existed is read as it was played.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "capped": _CAPPED,
        "regime": {**_CAPPED, "history": "regimes"},
        "paper": {"solvency": "month_end"},
        "snapshot": {"growth_column": _COLUMNS[1]},
        "hidden": {"solvency": "month_end", "header": "calls", "cash_tool": "snapshot"},
    }

    preset_warnings: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("paper", "snapshot"),
        "the best known score is an exploit of the published rules: it counts equity raised as "
        "earned, and a request has no limit",
    )

    def __attrs_post_init__(self) -> None:
        if self.history == "table" and self.horizon > len(self.table):
            raise ValueError(
                f"horizon={self.horizon} was given; the macro table has {len(self.table)} months"
            )

    @property
    def deterministic(self) -> bool:
        """Whether no episode depends on the seed: no noise, a given history, no outcome drawn.

        It is False in every preset.
        """
        forced = self.forced.keys() >= set(range(self.horizon))
        return forced and not any(self.sigmas) and self.history == "table"

    @property
    def table(self) -> Macro:
        """The macro table in use."""
        assert not isinstance(self.macro, str)  # the converter has read the file
        return macro.builtin() if self.macro is None else self.macro
