"""The rules of the enterprise in words, for its controller."""

from models.enterprise.params import EnterpriseParams

__all__ = ["rules"]

_RULES = """You control the cash of a company for {months} months: a treasury, which raises equity \
and debt, and the departments that it finances. Your aim is the highest net worth of the whole \
company at the end, in dollars.

You are asked at the end of every month and give one command at a time. `set_limits` says between \
which amounts the cash pool keeps a department's cash from then on, `transfer` pays cash now from \
the treasury to a department or back, and `continue` ends the month: the pool takes from a \
department what is above its ceiling, then covers what is missing to its floor, as far as the \
treasury has more than {reserve:,.0f} dollars.

A department that has unpaid costs at {grace} month ends in a row is closed. The group ends if the \
treasury opens a month with cash below zero. A command that cannot be carried out changes nothing; \
the next observation says why."""


def rules(params: EnterpriseParams) -> str:
    """Return the rules for the controller."""
    return _RULES.format(months=params.months, reserve=params.reserve, grace=params.grace)
