"""The cash pool: at the end of a month it moves cash between the treasury and the departments."""

from typing import assert_never

from models.enterprise.controller import Command, Continue, SetLimits, Transfer
from models.enterprise.params import TREASURY
from models.enterprise.state import OPEN, Company, dollars


def execute(company: Company, command: Command) -> bool:
    """Carry out a command of the controller; return whether the month is over for it."""
    company.reply = ""
    match command:
        case Continue():
            return True
        case SetLimits():
            company.reply = _not_open(company, command) or _set_limits(company, command)
        case Transfer():
            company.reply = _not_open(company, command) or _transfer(company, command)
        case _:
            assert_never(command)
    return False


def balance(company: Company) -> None:
    """Move cash above the ceilings to the treasury, then cover the floors from it.

    Departments are covered in their order, each as far as the treasury's cash above its reserve
    suffices.
    """
    for name in company.open_departments:
        ceiling = company.limits[name].ceiling
        if ceiling is not None:
            _pay(company, name, TREASURY, company.group.cash(name) - ceiling)
    for name in company.open_departments:
        missing = company.limits[name].floor - company.group.cash(name)
        _pay(company, TREASURY, name, min(missing, company.spendable))
    for name, limits in company.limits.items():
        limits.cash_before = company.group.cash(name)


def close_unpaid(company: Company) -> None:
    """Close each department that has had unpaid costs for the grace time; its cash is swept."""
    for name in company.open_departments:
        limits = company.limits[name]
        limits.months_unpaid = limits.months_unpaid + 1 if company.unpaid(name) > 0 else 0
        if limits.months_unpaid >= company.params.grace:
            company.group.part(name).end(f"closed: costs unpaid for {limits.months_unpaid} months")
            log = company.group.world.log
            log.info("department closed", department=name, months_unpaid=limits.months_unpaid)
            _pay(company, name, TREASURY, company.group.cash(name))


def _set_limits(company: Company, command: SetLimits) -> str:
    if command.ceiling is not None and command.ceiling < command.floor:
        return f"ceiling {command.ceiling:,.2f} is below floor {command.floor:,.2f}"
    limits = company.limits[command.department]
    limits.floor = round(command.floor * 100)
    limits.ceiling = None if command.ceiling is None else round(command.ceiling * 100)
    return ""


def _transfer(company: Company, command: Transfer) -> str:
    cents = round(command.amount * 100)
    sender = TREASURY if cents > 0 else command.department
    held = company.group.cash(sender)
    if abs(cents) > held:
        return f"{abs(command.amount):,.2f} is more than the {dollars(held):,.2f} of {sender}"
    receiver = command.department if cents > 0 else TREASURY
    _pay(company, sender, receiver, abs(cents))
    return ""


def _not_open(company: Company, command: SetLimits | Transfer) -> str:
    name = command.department
    if name not in company.limits:
        return f"there is no {name} in this group"
    status = company.status(name)
    return "" if status == OPEN else f"{name} has ended: {status}"


def _pay(company: Company, sender: str, receiver: str, cents: int) -> None:
    if cents > 0:
        company.group.transfer(sender, receiver, cents)
        log = company.group.world.log
        log.info("cash moved", sender=sender, receiver=receiver, amount=dollars(cents))
