"""Plans for the Enterprise Digital Twin that know its rules, with searches and bounds."""

from policies.informed.edt.optimal import LocalSearch, Optimal

__all__ = ["LocalSearch", "Optimal"]
