"""What a series measures: its unit and label, whose it is, and how long its periods are."""

from attrs import field, frozen
from attrs.validators import max_len

from desim.show.labels import label_text

__all__ = ["Column"]

#: Characters of a text of a column; reports and tables show them whole.
_TEXT = 80


@frozen
class Column:
    """What one series of a model measures.

    Attributes:
        unit: Such as "units", "dollars" or "consultants"; empty for a number without one.
        label: For people; empty stands for the series' name as words.
        role: The role whose series it is; empty where it belongs to no single role.
        period: What its periods are called, such as "week" or "month".
    """

    unit: str = field(default="", validator=max_len(_TEXT))
    label: str = field(default="", validator=max_len(_TEXT))
    role: str = field(default="", validator=max_len(_TEXT))
    period: str = field(default="period", validator=max_len(_TEXT))

    def title(self, name: str) -> str:
        """Return the label of an axis: what is measured, and in brackets the unit.

        >>> Column("units").title("orders_retailer")
        'Orders retailer (units)'
        """
        label = self.label or label_text(name.replace(".", " "))
        return f"{label} ({self.unit})" if self.unit else label
