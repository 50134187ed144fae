"""What `client list` and `client history` print."""

from typing import Any

from models.yc_bench.actions import ClientHistory, ClientList
from models.yc_bench.entities import Client
from models.yc_bench.state import CompanyState

__all__ = ["client_history", "client_list"]


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
