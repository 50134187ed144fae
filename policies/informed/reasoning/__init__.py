"""The reference answers of the reasoning tasks."""

from policies.informed.reasoning.reference import Reference

__all__ = ["Reference"]
