"""Clients, people, tasks and worlds."""
