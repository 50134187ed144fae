"""The description of a figure: a series, or a field of an observation, action or metric."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import attrs
from attrs import field, frozen
from attrs.validators import and_, deep_iterable, in_, instance_of, max_len, optional

from desim.schema.wire_types import field_types
from desim.show.labels import is_number, label_text, number_text, value_text

#: The kinds of figures; a page shows the values of each kind in its own way.
ColumnKind = Literal["number", "money", "share", "tick", "identifier", "text"]

_KINDS: tuple[ColumnKind, ...] = ("number", "money", "share", "tick", "identifier", "text")

#: Which values of a figure are better.
Direction = Literal["", "higher", "lower"]

_DIRECTIONS: tuple[Direction, ...] = ("", "higher", "lower")

#: Characters of a text of a column; reports and tables show them whole.
_TEXT = 80

_DOLLARS = "dollars"
#: The plural "s" of a unit's first word.
_PLURAL, _SINGULAR = re.compile(r"^(\w{2,}[^\Ws])s\b"), r"\1"
_PERCENT = 100


_texts = deep_iterable(and_(instance_of(str), max_len(_TEXT)), instance_of(tuple))


def _range(_: Any, __: Any, usual: tuple[float, float]) -> None:
    low, high = usual
    if not low <= high:
        raise ValueError(f"a usual range goes from low to high, not from {low!r} to {high!r}")


@frozen
class Column:
    """The description of one figure: unit, label, kind, and what belongs to it.

    Attributes:
        unit: The unit of the value times *scale*, such as "units" or "dollars"; empty for none.
        label: For people; empty means the name as words.
        role: The role that a series belongs to; empty if it does not belong to a single role.
        period: The name of a series' periods, such as "week" or "month".
        kind: A plain number; money; a share of 1, shown in percent; a tick of the clock; an
            identifier of a list; or a text.
        scale: The factor from the value to the unit: 0.01 for cents whose unit is dollars.
        of: Where observations list the identifiers: paths such as "planned" (a list of them) or
            "projects.index" (records with the field "index"). `rows:key` in a path takes only
            records that have the key. For a tick the field with the number of the last one.
        choices: The identifiers, where they are the same throughout an episode.
        usual: The lowest and the highest value that a person is not asked to confirm, in the
            unit; None for no such range. Gymnasium spaces of actions have it as bounds.
        priority: Figures of a higher priority are shown first.
        shown: Whether a person who plays sees the figure.
        better: Whether "higher" or "lower" values of a metric are better; empty for neither.
    """

    unit: str = field(default="", validator=max_len(_TEXT))
    label: str = field(default="", validator=max_len(_TEXT))
    role: str = field(default="", validator=max_len(_TEXT))
    period: str = field(default="period", validator=max_len(_TEXT))
    kind: ColumnKind = field(default="number", validator=in_(_KINDS))
    scale: float = field(default=1.0, validator=instance_of((int, float)))
    of: tuple[str, ...] = field(default=(), validator=_texts)
    choices: tuple[str, ...] = field(default=(), validator=_texts)
    usual: tuple[float, float] | None = field(default=None, validator=optional(_range))
    priority: int = 0
    shown: bool = True
    better: Direction = field(default="", validator=in_(_DIRECTIONS))

    def name(self, name: str) -> str:
        """Return the label, or the name of a field or series as words.

        The name of a unit that values are not shown in is left out.

        >>> Column().name("lead_time"), Column("dollars", scale=0.01).name("funds_cents")
        ('Lead time', 'Funds')
        """
        return self.label or label_text(self.key(name).replace(".", " "))

    def key(self, name: str) -> str:
        """Return a name without the unit that its values are not shown in."""
        return name.removesuffix("_cents") if self.scale != 1 else name

    def title(self, name: str) -> str:
        """Return the label of an axis: the series' label, and the unit in brackets.

        >>> Column("units").title("orders_retailer")
        'Orders retailer (units)'
        """
        label = self.name(name)
        return f"{label} ({self.unit})" if self.unit else label

    def note(self, text: str) -> str:
        """Return the unit of the plain value in brackets; empty if *text* names it already.

        >>> Column("hours").note("How long."), Column("hours").note("Hours that it takes.")
        (' (hours)', '')
        >>> CENTS.note("Funds."), SHARE.note("Rate.")
        (' (in steps of 0.01 dollars)', ' (a share of 1)')
        """
        unit = "a share of 1" if self.kind == "share" else self.unit
        if not unit or unit in text.lower():
            return ""
        return f" ({unit})" if self.scale == 1 else f" (in steps of {self.scale:g} {unit})"

    def text(self, value: Any, *, unit: bool = True) -> str:
        """Return a value for people.

        Args:
            value: A plain JSON value.
            unit: Whether a number is followed by its unit; the sign of money always stands.

        >>> Column("dollars", kind="money", scale=0.01).text(20_000_000)
        '$200,000'
        >>> Column(kind="share").text(0.0265), Column("weeks").text(3), Column("weeks").text(None)
        ('2.65 %', '3 weeks', '—')
        >>> Column("units").text(1), Column("units a week").text(1), Column("ms").text(1)
        ('1 unit', '1 unit a week', '1 ms')
        """
        if isinstance(value, dict):
            return value_text({key: self.text(each) for key, each in value.items()})
        if not is_number(value):
            return value_text(value)
        match self.kind:
            case "money" if self.unit == _DOLLARS:
                return money_text(value * self.scale)
            case "share":
                return f"{number_text(round(_PERCENT * value * self.scale, 6))} %"
        text = value_text(value if self.scale == 1 else value * self.scale)
        if not (unit and self.unit):
            return text
        return f"{text} {self.unit if text != '1' else _PLURAL.sub(_SINGULAR, self.unit)}"


#: Money in dollars, money in cents that is shown in dollars, and a share of 1 in percent.
DOLLARS = Column(_DOLLARS, kind="money")
CENTS = Column(_DOLLARS, kind="money", scale=0.01)
SHARE = Column(kind="share")


def directed(
    columns: Mapping[str, Column], *, higher: Iterable[str] = (), lower: Iterable[str] = ()
) -> dict[str, Column]:
    """Return columns that say of some metrics whether higher or lower values are better."""
    found = dict(columns)
    for name in higher:
        found[name] = attrs.evolve(columns.get(name, Column()), better="higher")
    for name in lower:
        found[name] = attrs.evolve(columns.get(name, Column()), better="lower")
    return found


def money_text(dollars: float) -> str:
    """Return a sum of money: whole dollars, or dollars and cents.

    >>> money_text(200_000), money_text(-1234.5), money_text(2e15)
    ('$200,000', '-$1,234.50', '$2e+15')
    """
    sign, size = ("-" if round(dollars, 2) < 0 else ""), abs(dollars)
    if size >= 1e15:  # noqa: PLR2004 (where `number_text` begins with exponents)
        return f"{sign}${number_text(size)}"
    whole = round(size, 2) == round(size)
    return f"{sign}${size:,.0f}" if whole else f"{sign}${size:,.2f}"


def columns_within(cls: Any) -> dict[str, Mapping[str, Column]]:
    """Return the columns of a frozen class and of the classes of its fields, by class name.

    Args:
        cls: The class, or a union of classes.
    """
    found: dict[str, Mapping[str, Column]] = {}
    left = [cls]
    while left:
        one = left.pop()
        if isinstance(one, type) and attrs.has(one):
            if one.__name__ in found:
                continue
            found[one.__name__] = columns_of(one)
            left += field_types(one).values()
        else:
            left += get_args(one)
    return found


def columns_of(cls: Any) -> Mapping[str, Column]:
    """Return the columns that a class declares as `columns`, by field name; empty without any.

    Names of other keys describe the keys of the class's untyped values.
    """
    declared = getattr(cls, "columns", None)
    return declared if isinstance(declared, Mapping) else {}
