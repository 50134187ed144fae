"""Replies of `company status`, `employee list`, `client list` and `client history`."""

from typing import Any

from models.yc_bench.actions import ClientHistory, ClientList, CompanyStatus, EmployeeList
from models.yc_bench.company.entities import Client, StaffMember
from models.yc_bench.observation import ReadOnlyRow
from models.yc_bench.state import CompanyState


def company_status(company: CompanyState, _: CompanyStatus) -> dict[str, Any]:
    """Show funds, prestige, payroll, runway and counts of tasks."""
    clock, now = company.clock, company.world.now
    funds, payroll = company.funds_cents, company.payroll_cents
    return {
        "company_id": "<company>",
        "company_name": company.params.company_name,
        "funds_cents": funds,
        "prestige": {
            domain: float(company.prestige[domain]) for domain in sorted(company.prestige)
        },
        "sim_time": clock.text(now),
        "horizon_end": clock.text(company.horizon),
        "tasks": _counts(company),
        "employees": len(company.employees),
        "next_payroll": clock.text(clock.next_payroll(now)),
        "monthly_payroll_cents": payroll,
        # Without payroll the runway has no number.
        "risk": {
            "months_runway": round(funds / payroll, 2) if payroll else None,
            "bankrupt": company.bankrupt,
        },
    }


def _counts(company: CompanyState) -> dict[str, int]:
    active, planned = len(company.active), len(company.planned)
    completed = sum(client.succeeded + client.failed for client in company.clients)
    cancelled = len(company.owned) - active - planned - completed
    return {"active": active, "planned": planned, "completed": completed, "cancelled": cancelled}


def employee_list(company: CompanyState, _: EmployeeList) -> dict[str, Any]:
    """List the staff with salaries, rates by domain and active tasks."""
    return {
        "count": len(company.employees),
        "employees": [_employee(who) for who in company.employees],
    }


def _employee(who: StaffMember) -> dict[str, Any]:
    return {
        "name": who.name,
        "tier": who.spec.tier,
        "salary_cents": who.salary_cents,
        "skill_rates": who.shown_rates or _shown_rates(who),
        "active_tasks": sorted([task.title for task in who.tasks if task.status == "active"]),
    }


def _shown_rates(who: StaffMember) -> ReadOnlyRow:
    """Build the row of rates anew: once for each task from which the person has learned."""
    who.shown_rates = ReadOnlyRow(
        {domain: round(float(who.rates[domain]), 2) for domain in sorted(who.rates)}
    )
    return who.shown_rates


def client_list(company: CompanyState, _: ClientList) -> dict[str, Any]:
    """List clients by name with trust, tier and specialties; a lost client is left out."""
    present = [client for client in _by_name(company) if client.lost is None]
    return {
        "count": len(present),
        "clients": [
            {
                "client_id": f"<client:{client.name}>",
                "name": client.name,
                "trust_level": float(client.trust),
                "tier": client.spec.tier,
                "specialties": list(client.spec.specialties),
            }
            for client in present
        ],
    }


def client_history(company: CompanyState, _: ClientHistory) -> dict[str, Any]:
    """List clients by name with tasks done and failed for each, lost clients included."""
    return {
        "count": len(company.clients),
        "client_history": [
            {
                "client_name": client.name,
                "trust_level": float(client.trust),
                "tasks_succeeded": client.succeeded,
                "tasks_failed": client.failed,
                "failure_rate_pct": _failure_rate(client),
            }
            for client in _by_name(company)
        ],
    }


def _failure_rate(client: Client) -> float:
    total = client.succeeded + client.failed
    return round(100 * client.failed / total, 1) if total else 0.0


def _by_name(company: CompanyState) -> list[Client]:
    return sorted(company.clients, key=lambda client: client.name)
